"""The dashboard, in the system's Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
import typer.testing
from listening import listening

import hedgerow as hr
from hedgerow.cli.app import app
from hedgerow.live.service import make_app
from hedgerow.live.tokens import make_token

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

LABELS = ["<img src=http://evil.example/x onerror=alert(1)>", "east", "south", "west"]


@pytest.fixture
def shown(folder):
    """A session with a strange label, and the address of its dashboard."""
    place = f"{folder}/s.db"
    policy = hr.projection_free_coco(hr.sets.Simplex(4))
    with hr.live.open_session(place, "routes", policy, labels=LABELS) as session:
        _play(session, 20)
        command = [sys.executable, "-c", "from hedgerow.cli import main; main()"]
        process = subprocess.Popen(
            [*command, "dashboard", place, "--port", "0"],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        try:
            line = process.stdout.readline()
            yield session, line.split()[-1]
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


def _play(session, rounds):
    for _ in range(rounds):
        f, g = hr.Linear([1.0, 0.4, 0.2, 0.3]), hr.Linear([0.0, 0.0, 1.0, 0.0], -0.4)
        session.tell(session.ask().id, f, g)


needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a browser: apt-get install chromium"
)


@contextmanager
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def follow(browser, address, session, enter=None):
    """Watch a session wide and narrow, light and dark; what is played meanwhile must appear."""
    for width, scheme in ((1400, "light"), (390, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page, said, asked = context.new_page(), [], []
        page.on("console", lambda m, said=said: said.append((m.type, m.text)))
        page.on("pageerror", lambda error, said=said: said.append(("error", str(error))))
        page.on("dialog", lambda dialog, said=said: said.append(("error", dialog.message)))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(f"{address}?session=routes")
        if enter is not None:
            enter(page)
        known = session.status().answered
        numbers = page.locator("dl")
        numbers.get_by_text(str(known), exact=True).first.wait_for()
        page.locator("canvas").nth(6).wait_for()
        _play(session, 5)
        numbers.get_by_text(str(known + 5), exact=True).first.wait_for()
        focused = "() => { let e = document.activeElement;"
        focused += "while (e.shadowRoot) e = e.shadowRoot.activeElement; return e.tagName }"
        reached = set()
        for _ in range(12):
            page.keyboard.press("Tab")
            reached.add(page.evaluate(focused))
        assert reached >= {"A", "SELECT"}
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert [one for one in said if one[0] in ("error", "warning")] == []
        assert {url.split("/")[2] for url in asked if "://" in url} == {address.split("/")[2]}
        context.close()


@needs_browser
def test_it_follows_a_session_without_reload(shown):
    session, address = shown
    with chromium() as browser:
        follow(browser, address, session)
        page = browser.new_page()
        page.goto(f"{address}?session=%3Cscript%3Ealert(1)%3C/script%3E")
        page.get_by_text("a session's name has 1 to 60 letters").wait_for()


@pytest.fixture
def served(folder):
    """A session, a client of a service that shows it, and tokens."""
    store = hr.live.Store(f"{folder}/s.db")
    tokens = [make_token(store, role) for role in ("observe", "decide")]
    with listening(make_app(store)) as http:
        policy = hr.projection_free_coco(hr.sets.Simplex(4))
        session = hr.live.open_session(store, "routes", policy, labels=LABELS)
        _play(session, 20)
        yield session, http, tokens


@needs_browser
def test_the_service_shows_it_to_who_may_observe(served):
    session, http, (token, _) = served
    address = str(http.base_url).rstrip("/")

    def enter(page):
        page.get_by_label("Token with the role observe").fill(token)
        page.keyboard.press("Enter")

    with chromium() as browser:
        follow(browser, f"{address}/dashboard", session, enter)
        page = browser.new_page()
        page.goto(f"{address}/dashboard?session=%3Cscript%3Ealert(1)%3C/script%3E")
        page.get_by_label("Token with the role observe").fill("hedgerow_0_guess")
        page.keyboard.press("Enter")
        page.get_by_text("give a valid token").wait_for()
        enter(page)
        page.get_by_text("a session's name has 1 to 60 letters").wait_for()
        assert token not in page.content()


def test_the_page_of_the_service_holds_no_data(served):
    session, http, tokens = served
    page = http.get("/dashboard?session=routes")
    assert "routes" not in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    for part in ("bokeh.js", "page.js"):
        assert http.get(f"/dashboard/{part}").status_code == 200
    asked = {"session": "routes", "window": "200"}
    assert http.get("/dashboard/data", params=asked).status_code == 401
    for token in tokens:
        headers = {"Authorization": f"Bearer {token}"}

        def look(asked, headers=headers):
            return http.get("/dashboard/data", params=asked, headers=headers)

        found = look(asked).json()
        assert found["sources"]["rounds"]["round"] == list(range(1, 21))
        assert found["labels"][:4] == [LABELS[k] for k in _largest_first(session)]
        assert "sources" not in look({**asked, "seen": found["seen"]}).json()
        for wrong in ({"window": "7"}, {"session": "../x"}, {"colour": "red"}):
            assert look(wrong).status_code == 422
        assert look({"session": "none"}).status_code == 404
        for method in ("POST", "PUT", "DELETE"):
            answer = http.request(method, "/dashboard/data", headers=headers)
            assert answer.status_code in (403, 405)
    assert session.status().answered == 20
    with listening(make_app(session.store, open_access=True)) as alone:  # who needs no token
        assert 'data-tokens="none"' in alone.get("/dashboard").text
        assert alone.get("/dashboard/data", params=asked).json()["seen"] == "20 20 200"
        elsewhere = {"Host": "evil.example"}
        assert alone.get("/dashboard/data", params=asked, headers=elsewhere).status_code == 403


def _largest_first(session):
    return np.argsort(-session.history().actions.mean(axis=0), kind="stable")


def test_it_listens_on_this_machine_alone(folder):
    place = f"{folder}/s.db"
    run = typer.testing.CliRunner().invoke(app, ["dashboard", place, "--host", "0.0.0.0"])
    assert run.exit_code == 2
    assert "has no tokens and listens only on this machine" in run.stderr


def test_commands(folder):
    place = f"{folder}/s.db"

    def run(*words):
        return typer.testing.CliRunner().invoke(app, [*words])

    with hr.live.open_session(
        place, "a", hr.projection_free_coco(hr.sets.Simplex(4)), every=4
    ) as session:
        _play(session, 9)
    assert run("compact", place, "a").stdout == "16 rows of the journal were compacted.\n"
    assert "there is no session 'b'" in run("compact", place, "b").stderr
    made = run("token", "add", place, "--role", "observe", "--label", "the wall")
    id_ = made.stdout.split("_")[1]
    listed = run("token", "list", place).stdout
    assert "observe" in listed
    assert "the wall" in listed
    assert made.stdout.strip() not in listed
    assert run("token", "revoke", place, id_).stdout == f"token {id_} is revoked.\n"
    assert "revoked" in run("token", "list", place).stdout
    assert "there is no valid token" in run("token", "revoke", place, id_).stderr
    assert (
        "a role is one of observe, decide, admin"
        in run("token", "add", place, "--role", "king").stderr
    )
    assert "no valid token" in run("serve", place).stderr
    assert (
        "allows local addresses only"
        in run("serve", place, "--no-tokens", "--host", "0.0.0.0").stderr
    )
    assert "got one of 'mysql'" in run("serve", "mysql://h/d").stderr
