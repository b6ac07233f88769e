"""Open every page of the site in Chromium: python tools/open_site.py.

Fails where a page asks another machine for anything, logs an error, or is wider than the window.
With `--pictures FOLDER` it also writes a picture of each page, wide and narrow, light and dark.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

SITE = Path(__file__).parents[1] / "out" / "site"
WIDTHS = 1400, 390
SEARCHED = "search.html?q=simplex"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine, and yield its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def watch(page: Page, home: str) -> list[str]:
    """Return a list that fills with what a page asks of others, and with its errors."""
    found: list[str] = []

    def asked(url: str) -> None:
        if not url.startswith((home, "data:", "blob:")):
            found.append(f"asks for {url}")

    def lost(url: str, why: str) -> None:
        if why != "net::ERR_ABORTED":  # the next page was opened before it came
            found.append(f"did not get {url}")

    page.on("request", lambda request: asked(request.url))
    page.on("requestfailed", lambda request: lost(request.url, request.failure or ""))
    page.on("pageerror", lambda error: found.append(f"fails: {error}"))
    page.on(
        "console", lambda said: found.append(f"logs {said.text}") if said.type == "error" else None
    )
    return found


def main() -> None:
    """Open all pages, then say how many there are, or what is wrong and stop with 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="write pictures of the pages here")
    parser.add_argument("--only", default="", help="open only pages whose path has this in it")
    options = parser.parse_args()
    pages = [path.relative_to(SITE).as_posix() for path in sorted(SITE.rglob("*.html"))]
    pages = [n for n in [*pages, SEARCHED] if options.only in n and not n.startswith("_static")]
    if not pages:
        raise SystemExit(f"{SITE} has no such page; run make docs first")
    wrong: list[str] = []
    with served(SITE) as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 900})
            found = watch(page, home)
            for name in pages:
                page.goto(home + name, wait_until="load")
                if name == SEARCHED:
                    page.wait_for_selector("ul.search li", timeout=20_000)
                wide = page.evaluate("document.documentElement.scrollWidth")
                if wide > width:
                    found.append(f"is {wide} pixels wide")
                wrong += [f"{name} at {width} pixels {said}" for said in found]
                found.clear()
                if options.pictures:
                    _draw(page, options.pictures, f"{name.split('?')[0].replace('/', '_')}-{width}")
        browser.close()
    print(f"{len(pages)} pages at {len(WIDTHS)} widths, {len(wrong)} complaints")  # noqa: T201
    if wrong:
        raise SystemExit("\n".join(wrong))


def _draw(page: Page, folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for mode in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{mode}'")
        page.screenshot(path=folder / f"{name}-{mode}.png")


if __name__ == "__main__":
    main()
