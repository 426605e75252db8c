"""Post a comment on a pull or merge request, or update it, through the REST API of GitHub or GitLab.

Only the host that the job's environment names is contacted. It gets the token, and redirects are not followed.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

from encheck.encoders.http_client import RefuseRedirects
from encheck.errors import EncheckError, UsageError
from encheck.system.documents import parse_json, read_json

MOST_BYTES = 32 * 10**6  # of an answer: a page has a hundred comments
PAGE, MOST_PAGES = 100, 50
TIMEOUT = 30.0  # seconds
TAKEN = 65_000  # characters of a comment
MAY_NOT = (401, 403, 404)  # statuses for a token without the right; hosts hide what it may not see
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
ACTIONS_BOT = "github-actions[bot]"
Environment = Mapping[str, str]


class NotPosted(EncheckError):  # noqa: N818 - a fact about the job, not a fault
    """The job has no request to comment on, or its token may not comment, as on the branch of a fork."""


class HostRefusal(EncheckError):  # noqa: N818 - a host's answer, turned into NotPosted or an EncheckError by `post`
    """The host answered with an error status."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(f"{what}: HTTP {status}")
        self.status = status


@dataclass(frozen=True)
class CommentThread:
    """The comments of a pull or merge request, and how to post one.

    `comments` is their path below `api`. `edit` is the path of one comment, without its id, and `verb` the method that
    changes it. `author` names the keys of a comment's author and of the author's id. `bot` is the account to assume if
    the token may not ask for its own. `ending` is the last line of the comment.
    """

    api: str
    comments: str
    edit: str
    verb: str
    header: str
    token: str = field(repr=False)
    author: tuple[str, str]
    bot: str | None = None
    ending: str = ""

    def ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Any:
        """Send a request and return the host's answer as JSON. Raise HostRefusal, or EncheckError if there is no
        answer.
        """
        data = None if body is None else json.dumps(body).encode("utf-8")
        request = urllib.request.Request(f"{self.api}{path}", data, method=method)  # noqa: S310 - http and https alone
        request.add_header("Content-Type", "application/json")
        request.add_header("User-Agent", "encheck")
        request.add_unredirected_header(self.header, self.token)
        return _read_answer(request, f"{method} {self.api}{path}")


def post_comment(body: str, thread: CommentThread, *, name: str) -> str:
    """Write the comment `name`, or replace this account's earlier one. Return its address, or "" if the host gives
    none.

    Raise NotPosted if the token may not write there.
    """
    marker = f"<!-- encheck gate: {name} -->"
    whole = "\n".join(filter(None, [marker, body, thread.ending]))
    if len(whole.encode("utf-16-le")) // 2 > TAKEN:
        raise UsageError(f"the comment is longer than {TAKEN:,} characters")
    try:
        if (earlier := _find_own_comment(thread, marker)) is None:
            answer = thread.ask("POST", thread.comments, {"body": whole})
        else:
            answer = thread.ask(thread.verb, f"{thread.edit}/{earlier}", {"body": whole})
    except HostRefusal as refused:
        if refused.status in MAY_NOT:
            raise NotPosted(f"the token may not comment here ({refused}), as on a branch of a fork") from refused
        raise EncheckError(str(refused)) from refused
    address = answer.get("html_url") if isinstance(answer, dict) else None
    return str(address or "")


def checked_name(name: str) -> str:
    """Return the name of a comment, or raise UsageError if the name is invalid."""
    if not NAME.fullmatch(name):
        raise UsageError(f"--name={name} should be 1 to 40 letters, digits, dots, dashes or underscores")
    return name


def github_thread(environment: Environment, *, pull: int | None = None) -> CommentThread:
    """Return the comments of the GitHub Actions job's pull request, or of the one with number `pull`."""
    event = _read_event(environment)
    about = event.get("pull_request") if isinstance(event.get("pull_request"), dict) else {}
    number = pull if pull is not None else (about or {}).get("number")
    if number is None:
        raise NotPosted("this job does not belong to a pull request")
    token = _checked_token(environment, "GITHUB_TOKEN")
    repository = _checked_variable(environment, "GITHUB_REPOSITORY", r"[\w.-]+/[\w.-]+")
    api = _checked_address(environment.get("GITHUB_API_URL") or "https://api.github.com", "GITHUB_API_URL")
    place = f"/repos/{repository}/issues"
    head = (about or {}).get("head")
    commit = head.get("sha") if isinstance(head, dict) else environment.get("GITHUB_SHA")
    server, run = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_RUN_ID")
    job = f"{server}/{repository}/actions/runs/{run}" if server and run else ""
    return CommentThread(
        api=api, comments=f"{place}/{_checked_number(number, 'the pull request')}/comments", edit=f"{place}/comments",
        verb="PATCH", header="Authorization", token=f"Bearer {token}", author=("user", "login"), bot=ACTIONS_BOT,
        ending=_last_line(commit, job),
    )  # fmt: skip


def gitlab_thread(environment: Environment, *, pull: int | None = None) -> CommentThread:
    """Return the notes of the GitLab job's merge request, or of the one with number `pull`."""
    number = pull if pull is not None else environment.get("CI_MERGE_REQUEST_IID")
    if not number:
        raise NotPosted("this job does not belong to a merge request")
    token = _checked_token(environment, "GITLAB_TOKEN")
    own = "CI_MERGE_REQUEST_PROJECT_ID" if environment.get("CI_MERGE_REQUEST_PROJECT_ID") else "CI_PROJECT_ID"
    project = _checked_variable(environment, own, r"\d+")
    api = _checked_address(environment.get("CI_API_V4_URL") or "https://gitlab.com/api/v4", "CI_API_V4_URL")
    place = f"/projects/{project}/merge_requests/{_checked_number(number, 'CI_MERGE_REQUEST_IID')}/notes"
    commit = environment.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environment.get("CI_COMMIT_SHA")
    return CommentThread(
        api=api, comments=place, edit=place, verb="PUT", header="PRIVATE-TOKEN", token=token, author=("author", "id"),
        ending=_last_line(commit, environment.get("CI_JOB_URL", "")),
    )  # fmt: skip


HOSTS: dict[str, Callable[..., CommentThread]] = {"github": github_thread, "gitlab": gitlab_thread}


def _find_own_comment(thread: CommentThread, marker: str) -> int | None:
    """Return the id of this account's comment with the marker, or None. Other accounts' comments are not touched."""
    account = _token_account(thread)
    for one in _list_comments(thread):
        body, number = one.get("body"), one.get("id")
        if isinstance(body, str) and body.startswith(marker) and isinstance(number, int) and account is not None:
            who, by = thread.author
            author = one.get(who)
            if isinstance(author, dict) and author.get(by) == account:
                return number
    return None


def _list_comments(thread: CommentThread) -> Iterator[Mapping[str, Any]]:
    for page in range(1, MOST_PAGES + 1):
        found = thread.ask("GET", f"{thread.comments}?per_page={PAGE}&page={page}")
        yield from (one for one in found if isinstance(one, dict))
        if len(found) < PAGE:
            return


def _token_account(thread: CommentThread) -> Any:
    """Return the account to which the token belongs."""
    try:
        found = thread.ask("GET", "/user")
    except HostRefusal as refused:
        if refused.status in MAY_NOT and thread.bot:
            return thread.bot
        raise
    return found.get(thread.author[1]) if isinstance(found, dict) else None


def _read_answer(request: urllib.request.Request, what: str) -> Any:
    try:
        with urllib.request.build_opener(RefuseRedirects).open(request, timeout=TIMEOUT) as answer:
            data = answer.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise EncheckError(f"{what}: the answer has more than {MOST_BYTES:,} bytes")
        return parse_json(data.decode("utf-8"))
    except urllib.error.HTTPError as error:
        with error:
            raise HostRefusal(error.code, what) from None
    except (urllib.error.URLError, HTTPException, OSError, ValueError) as error:
        raise EncheckError(f"{what}: {type(error).__name__}: {error}") from None


def _read_event(environment: Environment) -> dict[str, Any]:
    """Return the event that started a GitHub Actions job, or an empty dict if it is unknown."""
    path = environment.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    try:
        found = read_json(Path(path))
    except (OSError, ValueError) as error:
        raise UsageError(f"GITHUB_EVENT_PATH={path} cannot be read: {error}") from error
    return found if isinstance(found, dict) else {}


def _checked_token(environment: Environment, name: str) -> str:
    token = environment.get(name, "").strip()
    if not token:
        raise NotPosted(f"there is no token in {name}, as on a branch of a fork")
    if not (token.isascii() and token.isprintable()):
        raise UsageError(
            f"the token in {name} holds a character that is not allowed in a header. Remedy: set it to the token alone"
        )
    return token


def _checked_variable(environment: Environment, name: str, pattern: str) -> str:
    value = environment.get(name, "")
    if not re.fullmatch(pattern, value, re.ASCII) or ".." in value:
        raise UsageError(f"{name}={value!r} is not what the host sets")
    return value


def _checked_number(value: int | str, name: str) -> int:
    if not re.fullmatch(r"\d{1,12}", str(value), re.ASCII):
        raise UsageError(f"{name}={value!r} is not a number")
    return int(value)


def _checked_address(text: str, name: str) -> str:
    if not re.fullmatch(r"https?://[\w.\[\]:-]+(/[\w./-]*)?", text, re.ASCII):
        raise UsageError(f"{name}={text!r} is not the address of an API")
    return text.rstrip("/")


def _last_line(commit: object, job: str) -> str:
    """Return a line that names the commit of the verdict and links to the job.

    A value that does not look like the host's is left out.
    """
    of = f"commit {commit[:10]}" if isinstance(commit, str) and re.fullmatch(r"[0-9a-f]{10,64}", commit) else ""
    link = f"[job]({job})" if re.fullmatch(r"https?://[\w.:/-]+", job, re.ASCII) else ""
    told = ", ".join(filter(None, [of, link]))
    return f"\nOf {told}." if told else ""
