"""List, read and atomically write files by path or URL, on this machine or in an object store.

The operating system reads a path or a `file://` URL; fsspec reads any other URL. fsspec has a package for each kind of
store. Each package takes credentials as the store's own tools do (environment, configuration files, machine roles).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from encheck.errors import DataError, UsageError
from encheck.system import files
from encheck.system.files import expand_home

SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
}
CREDENTIALS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS, or run `gcloud auth application-default login`",
    "abfs": "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
SAME = {"s3a": "s3", "gcs": "gs", "abfss": "abfs", "az": "abfs"}
IN_PROCESS = "memory"  # fsspec's store inside one process


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file: its path or URL, its name relative to the listed place, and its size in bytes.

    `version` changes when the file does.
    """

    url: str
    name: str
    size: int
    version: str


def is_url(place: str) -> bool:
    """Return whether this is a URL of a store, and not a path of this machine.

    >>> is_url("s3://logs/2026"), is_url("data/pairs.parquet"), is_url("C:/pairs.parquet")
    (True, False, False)
    """
    return SCHEME.match(place) is not None


def local_path(place: str) -> Path | None:
    """Return the path of a file or folder on this machine, or None if it is in a store.

    >>> local_path("file:///data/my%20pairs").as_posix(), local_path("s3://logs")
    ('/data/my pairs', None)
    """
    if not is_url(place):
        return expand_home(place).resolve()
    parts = urlsplit(place)
    return Path(unquote(parts.path)) if parts.scheme.lower() == "file" else None


def join(place: str, name: str) -> str:
    """Return the place of `name` in a folder.

    >>> join("s3://logs/2026/", "a.parquet"), join("/data", "a.parquet")
    ('s3://logs/2026/a.parquet', '/data/a.parquet')
    """
    path = local_path(place)
    return str(path / name) if path else f"{place.rstrip('/')}/{name}"


def absolute(place: str) -> str:
    """Return the absolute form of a path, for processes with a different working directory."""
    path = local_path(place)
    return str(path) if path else place


def list_files(place: str, *, ending: str) -> list[StoredFile]:
    """Return the file at this place, or the files under it with this ending, by name. Hidden ones (`.x`, `_x`) are left
    out.

    Raises:
        DataError: the place does not exist, or may not be read. The message has the remedy.
    """
    with storage_errors(place):
        path = local_path(place)
        found = _list_folder(path, ending) if path else _list_store(place, ending)
    return sorted(found, key=lambda file: file.name)


def _list_folder(path: Path, ending: str) -> list[StoredFile]:
    if not path.exists():
        raise FileNotFoundError(path)
    under = path if path.is_dir() else path.parent
    paths = [p for p in files.files_under(path) if p.name.endswith(ending)] if path.is_dir() else [path]
    named = [(p, p.relative_to(under).as_posix(), p.stat()) for p in paths]
    return [StoredFile(str(p), name, s.st_size, str(s.st_mtime_ns)) for p, name, s in named if not _is_hidden(name)]


def _list_store(place: str, ending: str) -> list[StoredFile]:
    system, path = _file_system(place)
    system.invalidate_cache()
    root = path.rstrip("/")
    if system.isfile(path):
        entries, root = {path: system.info(path)}, root.rpartition("/")[0]
    else:
        entries = system.find(path, detail=True)
    if not entries and not system.exists(path):
        raise FileNotFoundError(place)
    named = [(at, at.removeprefix(root).lstrip("/"), info) for at, info in entries.items()]
    chosen = [(at, name, info) for at, name, info in named if at == path or name.endswith(ending)]
    marks = ("ETag", "etag", "md5Hash", "content_md5", "LastModified", "mtime", "updated", "created")
    return [
        StoredFile(
            system.unstrip_protocol(at),
            name,
            int(info["size"] or 0),
            next((str(info[mark]) for mark in marks if info.get(mark)), ""),
        )
        for at, name, info in chosen
        if not _is_hidden(name)
    ]


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/"))


@contextmanager
def open_reading(url: str) -> Iterator[Path | IO[bytes]]:
    """Open the file at this place: yield its path, or an open file that fetches only the ranges that are read."""
    path = local_path(url)
    if path:
        path.stat()
        yield path
        return
    system, at = _file_system(url)
    with system.open(at, "rb", cache_type="none") as file:
        yield file


def exists(url: str) -> bool:
    """Return whether a file exists. Raise DataError if the store does not answer."""
    with storage_errors(url):
        path = local_path(url)
        if path:
            return path.exists()
        system, at = _file_system(url)
        system.invalidate_cache()  # other machines write there
        return bool(system.exists(at))


def write_whole(url: str, content: bytes) -> None:
    """Write a file that others see completely or not at all: by renaming on a disk, by one request in a store.

    Raises:
        DataError: the place cannot be written. The message has the remedy.
    """
    with storage_errors(url):
        path = local_path(url)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = files.partial_path(path)  # two workers may write the same shard: neither removes the other's file
            try:
                with files.open_flushed(beside, to=path) as file:
                    file.write(content)
                files.move_into_place(beside, path)
            finally:
                beside.unlink(missing_ok=True)
        else:
            system, at = _file_system(url)
            system.pipe_file(at, content)


def read_whole(url: str) -> bytes:
    """Return the bytes of a file. Raise DataError, with the reason, if it cannot be read."""
    with storage_errors(url), open_reading(url) as file:
        return file.read_bytes() if isinstance(file, Path) else file.read()


def remove(url: str) -> None:
    """Remove a file, if it exists."""
    with storage_errors(url):
        path = local_path(url)
        if path:
            path.unlink(missing_ok=True)
            return
        system, at = _file_system(url)
        system.rm_file(at)


def _file_system(url: str) -> tuple[Any, str]:
    """Return the file system of fsspec for this URL, and the path in it."""
    import fsspec

    system, path = fsspec.core.url_to_fs(url)
    return system, str(path)


@contextmanager
def storage_errors(place: str) -> Iterator[None]:
    """Turn any error of a store into a DataError that names the place and the remedy."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:  # each package has its own exceptions
        raise DataError(f"{place}: {storage_problem(place, error)}") from error


def storage_problem(place: str, error: Exception) -> str:
    """Return what is wrong with this place, and the remedy.

    >>> storage_problem("s3://logs/2026", FileNotFoundError())
    'does not exist: check the name of the bucket and of the folder'
    >>> storage_problem("s3://logs/2026", PermissionError("Forbidden"))
    'access is denied (Forbidden): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE'
    """
    scheme = place.partition("://")[0].lower() if is_url(place) else ""
    remedy = CREDENTIALS.get(SAME.get(scheme, scheme), "check this user's permissions")
    said = (str(error).splitlines() or [""])[0] or type(error).__name__
    if isinstance(error, FileNotFoundError):
        return "does not exist" + ": check the name of the bucket and of the folder" * bool(scheme)
    if isinstance(error, PermissionError):
        said = error.strerror or said
        return f"access is denied ({said}): {remedy}"
    if "Credentials" in type(error).__name__ or "credentials" in said.lower():
        return f"no credentials were found ({said}): {remedy}"
    if isinstance(error, ImportError):
        package = PACKAGES.get(SAME.get(scheme, scheme), "the one that fsspec names")
        return f"needs a package for {scheme}:// URLs: pip install {package}"
    if scheme and isinstance(error, ValueError) and "rotocol" in said:
        return f"{scheme}:// is not a kind of URL that fsspec knows: use a path, s3://, gs:// or abfs://"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be read or written ({error.strerror})"
    return f"cannot be read or written ({said})" + ": check the address and the network" * bool(scheme)
