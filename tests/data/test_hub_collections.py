"""Collections of the hub at a commit: the library's real download, from a hub on this machine, and its real cache."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import huggingface_hub
import pytest

from encheck.datasets.load import load
from encheck.errors import DataError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SPEC = f"retrieval:hub:owner/name@{COMMIT}"
FILES = {
    "corpus.jsonl": b'{"_id": "a", "text": "Tea boils."}\n{"_id": "b", "text": "Rain falls."}\n',
    "queries.jsonl": b'{"_id": "1", "text": "When does tea boil?"}\n',
    "qrels/test.tsv": b"query-id\tcorpus-id\tscore\n1\ta\t1\n",
    "README.md": b"A data card.",
    "loader.py": b"raise SystemExit('code of a repository was run')",
}


class FakeHub(BaseHTTPRequestHandler):
    """As much of the hub's API as a download asks for: the list of files at a commit, and each file."""

    asked: ClassVar[list[str]] = []

    def do_HEAD(self):
        self._answer(with_body=False)

    def do_GET(self):
        self._answer(with_body=True)

    def _answer(self, *, with_body):
        path = self.path.partition("?")[0]
        self.asked.append(path)
        if path == f"/api/datasets/owner/name/tree/{COMMIT}":
            rows = [{"type": "file", "path": name, "size": len(data), "oid": f"{len(name):040x}"}
                    for name, data in FILES.items()]  # fmt: skip
            return self._send(200, json.dumps(rows).encode(), with_body=with_body)
        name = path.removeprefix(f"/datasets/owner/name/resolve/{COMMIT}/")
        if name in FILES:
            return self._send(200, FILES[name], with_body=with_body, etag=f'"{len(name):040x}"')
        return self._send(404, b"{}", with_body=with_body)

    def _send(self, status, body, *, with_body, etag='""'):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), "ETag": etag, "X-Repo-Commit": COMMIT,
                            "Content-Type": "application/json"}.items():  # fmt: skip
            self.send_header(name, str(value))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the hub that is empty, and no hub behind it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    huggingface_hub.close_session()
    yield tmp_path / "cache"
    huggingface_hub.close_session()


@pytest.fixture
def hub(monkeypatch):
    """A hub on this machine; gives what it was asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeHub)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    place = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", place)
    template = f"{place}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
    FakeHub.asked.clear()
    yield FakeHub.asked
    server.shutdown()
    server.server_close()


def put_in_cache(cache, files):
    for name, data in files.items():
        path = cache / "datasets--owner--name" / "snapshots" / COMMIT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_a_collection_is_fetched_once_at_its_commit_without_code_and_then_read_from_the_cache(hub, caplog):
    found = load(SPEC)
    assert found.collection.documents == {"a": "Tea boils.", "b": "Rain falls."}
    assert (found.name, found.version, found.licence) == ("retrieval", f"owner/name@{COMMIT}", "its data card has it")
    assert f"owner/name at {COMMIT[:12]} was fetched from the hub" in caplog.text
    assert not [path for path in hub if "loader.py" in path or "README" in path]
    hub.clear()
    assert load(SPEC).fingerprint == found.fingerprint
    assert hub == []


def test_what_lies_in_the_cache_needs_no_hub(cache):
    put_in_cache(cache, FILES)
    assert len(load(SPEC).collection.queries) == 1


@pytest.mark.parametrize("folder", ["default", "data"])
def test_judgements_lie_in_folders_of_other_names_too(cache, folder):
    files = {name.replace("qrels", folder): data for name, data in FILES.items()}
    put_in_cache(cache, files)
    assert len(load(SPEC).collection.queries) == 1


@pytest.mark.parametrize("there", [(), ("corpus.jsonl", "queries.jsonl")])
def test_what_is_not_there_and_cannot_be_fetched_is_said_with_the_remedy(cache, there):
    put_in_cache(cache, {name: FILES[name] for name in there})
    with pytest.raises(DataError) as caught:
        load(SPEC)
    said = str(caught.value)
    assert f"owner/name at {COMMIT[:12]} " in said
    assert f"hf download owner/name --repo-type dataset --revision {COMMIT} --local-dir FOLDER" in said


def test_a_repository_that_is_not_there_is_said(hub):
    with pytest.raises(
        DataError,
        match=r"owner/other at 0123456789ab is not complete in the hub's cache, and cannot "
        r"be",
    ):
        load(f"retrieval:hub:owner/other@{COMMIT}")


@pytest.mark.parametrize("spec", ["owner/name", "owner/name@main", "owner/name@0123abc", "name@" + COMMIT, ""])
def test_a_commit_is_needed_in_full(spec):
    with pytest.raises(DataError, match=r"should be retrieval:hub:OWNER/NAME@COMMIT, with all 40 hex digits"):
        load(f"retrieval:hub:{spec}")
