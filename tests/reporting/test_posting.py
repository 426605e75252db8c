"""Posting a comment, against a host on loopback that answers as GitHub and GitLab do."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from encheck.cli import app
from encheck.errors import EncheckError, UsageError
from encheck.reporting.posting import NotPosted, github_thread, gitlab_thread, post_comment

MARKER = "<!-- encheck gate: gate -->"


class Handler(BaseHTTPRequestHandler):
    """Comments in a list; `status` is answered in place of what a method does."""

    def log_message(self, *_):
        pass

    def answer(self):
        state, path = self.server.state, self.path.partition("?")[0]
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")
        keys = {name: self.headers[name] for name in ("Authorization", "PRIVATE-TOKEN") if self.headers[name]}
        state.asked.append((self.command, path, body, keys))
        status = state.status.get((self.command, path.rpartition("/")[2])) or state.status.get(self.command, 200)
        found = {} if status != 200 else self.found(path, body)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"{state.url}/elsewhere")
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())

    do_GET = do_POST = do_PATCH = do_PUT = answer  # noqa: N815 - what http.server calls

    def found(self, path, body):
        state = self.server.state
        if path.endswith("/user"):
            return {"login": "robot", "id": 7}
        if self.command == "GET":
            page = int(re.search(r"[?&]page=(\d+)", self.path)[1])
            return state.comments[100 * page - 100 : 100 * page]
        if self.command == "POST":
            state.comments.append(
                {"id": len(state.comments) + 1, "user": {"login": "robot"}, "author": {"id": 7}, **body}
            )
            return state.comments[-1] | {"html_url": f"{state.url}/comment"}
        state.comments[int(path.rpartition("/")[2]) - 1].update(body)
        return {}


@pytest.fixture
def host():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    server.state = SimpleNamespace(url=url, asked=[], comments=[], status={})
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.state
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["github", "gitlab"])
def kind(request):
    return request.param


@pytest.fixture
def thread(host, kind, tmp_path):
    """The comments of request 5, with some of the job's variables set otherwise."""

    def thread(**given):
        event = tmp_path / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 5, "head": {"sha": "abcdef0123456789"}}}), "utf-8")
        github = {
            "GITHUB_TOKEN": "secret", "GITHUB_REPOSITORY": "me/it", "GITHUB_API_URL": host.url,
            "GITHUB_EVENT_PATH": str(event), "GITHUB_SERVER_URL": "https://github.example", "GITHUB_RUN_ID": "9",
        }  # fmt: skip
        gitlab = {
            "GITLAB_TOKEN": "secret", "CI_API_V4_URL": f"{host.url}/api/v4", "CI_MERGE_REQUEST_IID": "5",
            "CI_MERGE_REQUEST_PROJECT_ID": "3", "CI_COMMIT_SHA": "abcdef0123456789", "CI_JOB_URL": "https://g.example/9",
        }  # fmt: skip
        environment = {k: v for k, v in ({**github, **gitlab} | given).items() if v is not None}
        return {"github": github_thread, "gitlab": gitlab_thread}[kind](environment)

    return thread


def test_the_first_run_adds_a_comment_and_the_next_changes_it(host, thread):
    assert post_comment("one", thread(), name="gate") == f"{host.url}/comment"
    post_comment("two", thread(), name="gate")
    post_comment("other", thread(), name="search")
    assert [one["body"].split("\n")[1] for one in host.comments] == ["two", "other"]
    assert host.comments[0]["body"].startswith(MARKER)
    assert "Of commit abcdef0123, [job](https://" in host.comments[0]["body"]


def test_it_is_found_on_a_later_page(host, thread):
    host.comments += [{"id": i + 1, "user": {"login": "x"}, "author": {"id": 1}, "body": "hi"} for i in range(250)]
    post_comment("one", thread(), name="gate")
    post_comment("two", thread(), name="gate")
    assert len(host.comments) == 251


def test_a_comment_that_somebody_else_wrote_under_the_marker_is_left_alone(host, thread):
    host.comments.append({"id": 1, "user": {"login": "eve"}, "author": {"id": 8}, "body": f"{MARKER}\nPASSED"})
    post_comment("BLOCKED", thread(), name="gate")
    assert len(host.comments) == 2
    assert host.comments[0]["body"].endswith("PASSED")


def test_the_token_of_a_job_on_github_is_the_bots(host, thread, kind):
    host.status["GET", "user"] = 403
    if kind == "gitlab":
        with pytest.raises(NotPosted):
            post_comment("one", thread(), name="gate")
        return
    host.comments.append({"id": 1, "user": {"login": "github-actions[bot]"}, "body": f"{MARKER}\nold"})
    post_comment("new", thread(), name="gate")
    assert [one["body"].split("\n")[1] for one in host.comments] == ["new"]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_token_that_may_not_comment_is_told_and_no_failure(host, thread, status):
    host.status["POST"] = status
    with pytest.raises(NotPosted, match=f"HTTP {status}.*fork"):
        post_comment("one", thread(), name="gate")


def test_a_host_that_fails_is_an_error_and_a_redirect_is_not_followed(host, thread):
    host.status["POST"] = 500
    with pytest.raises(EncheckError, match="HTTP 500"):
        post_comment("one", thread(), name="gate")
    host.status["POST"] = 302
    with pytest.raises(EncheckError, match="HTTP 302"):
        post_comment("one", thread(), name="gate")
    assert "/elsewhere" not in {path for _, path, *_ in host.asked}


def test_the_token_goes_into_its_header_alone(host, thread, kind):
    post_comment("one", thread(), name="gate")
    wanted = {"Authorization": "Bearer secret"} if kind == "github" else {"PRIVATE-TOKEN": "secret"}
    assert {tuple(keys.items()) for *_, keys in host.asked} == {tuple(wanted.items())}
    assert "secret" not in repr(thread())
    assert "secret" not in json.dumps([one[:3] for one in host.asked])


def test_a_job_without_request_or_token_posts_nothing(thread, kind, tmp_path):
    number = "GITHUB_EVENT_PATH" if kind == "github" else "CI_MERGE_REQUEST_IID"
    with pytest.raises(NotPosted, match=r"not belong to a (pull|merge) request"):
        thread(**{number: None})
    token = f"{kind.upper()}_TOKEN"
    with pytest.raises(NotPosted, match="no token"):
        thread(**{token: ""})
    with pytest.raises(UsageError, match="not allowed in a header"):
        thread(**{token: "a\nb"})


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("github", "GITHUB_REPOSITORY", "me/../it"), ("github", "GITHUB_API_URL", "file:///etc/passwd"),
        ("gitlab", "CI_MERGE_REQUEST_IID", "5/../6"), ("gitlab", "CI_MERGE_REQUEST_PROJECT_ID", "3/x"),
        ("gitlab", "CI_API_V4_URL", "http://me:key@host/"),
    ],
    indirect=["kind"],
)  # fmt: skip
def test_a_variable_that_no_host_sets_so_is_refused(thread, name, value):
    with pytest.raises(UsageError, match=name):
        thread(**{name: value})


def test_a_comment_that_is_too_long_is_not_sent(host, thread):
    with pytest.raises(UsageError, match="65,000"):
        post_comment("x" * 65_001, thread(), name="gate")
    assert not host.asked


def test_the_command_says_what_became_of_it(host, monkeypatch, tmp_path):
    for name, value in {"CI_MERGE_REQUEST_IID": "5", "CI_PROJECT_ID": "3", "CI_API_V4_URL": host.url}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GITLAB_TOKEN", "secret")
    ask = lambda *args: CliRunner().invoke(app, ["export", str(tmp_path), "--to=comment", *args])  # noqa: E731
    posted = ask("--post=gitlab")
    assert (posted.exit_code, posted.output.startswith("The comment 'gate' was posted")) == (0, True)
    assert "wrote no results" in host.comments[0]["body"]
    host.status["PUT"] = 403
    refused = ask("--post=gitlab")
    assert (refused.exit_code, refused.output.startswith("No comment was posted: the token may not")) == (0, True)
    host.status["PUT"] = 500
    assert ask("--post=gitlab").exit_code == 4
    assert ask("--post=gitlab", "--name=a b").exit_code == 4
    assert ask("--post=nowhere").exit_code == 4
    assert ask().exit_code == 4
