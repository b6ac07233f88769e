"""`hedgerow serve`, `dashboard`, `compact`, `live` and `token`: live sessions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.errors import report_errors
from hedgerow.cli.output import command_group, print_line

if TYPE_CHECKING:
    from hedgerow.live.store import Store

Place = Annotated[str, typer.Argument(metavar="STORE", help="A file, or a postgresql:// URL.")]
Host = Annotated[str, typer.Option(help="The address to listen on.")]
token = command_group("Make, list and revoke tokens of a store.")

live = command_group("Check a store of live sessions, and upgrade sessions.")


@contextmanager
def _store(place: str) -> Iterator[Store]:
    """Open a store; report its errors in a sentence."""
    with report_errors():
        try:
            from hedgerow.live.store import Store
        except ModuleNotFoundError as missing:
            raise ImportError(str(missing)) from None
        with Store(place) as store:
            try:
                yield store
            except LookupError as error:
                raise ValueError(str(error.args[0])) from None


def serve(
    store: Place,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8765,
    rate: Annotated[float, typer.Option(help="Requests per second and token.")] = 1000.0,
    per_address: Annotated[
        int, typer.Option(help="Connections from one address at a time.", min=1, max=800)
    ] = 100,
    no_tokens: Annotated[
        bool, typer.Option("--no-tokens", help="Accept local requests without a token.")
    ] = False,
) -> None:
    """Serve the sessions of a store over HTTP, until SIGTERM."""
    with _store(store) as opened:
        import uvicorn

        from hedgerow.live.admission import Limits, is_loopback
        from hedgerow.live.connections import limited_protocol
        from hedgerow.live.service import make_app
        from hedgerow.live.tokens import tokens

        valid = [one for one in tokens(opened) if one.revoked is None]
        check_reach(host, len(valid), no_tokens)
        limits = Limits(rate=rate, per_address=per_address)
        if not is_loopback(host):
            print_line(
                f"Listening on {host} without TLS: put a proxy with TLS in front of it that limits "
                "the connections of each client."
            )
        at = f"http://{f'[{host}]' if ':' in host else host}" + (f":{port}" if port else "")
        token = "" if no_tokens else '-H "Authorization: Bearer TOKEN" '
        print_line(f"Serving {opened.place} at {at}{'' if port else ', on a free port'}; try")
        print_line(f"  curl {token}{at}/sessions")
        uvicorn.run(
            make_app(opened, limits=limits, open_access=no_tokens),
            host=host,
            port=port,
            http=limited_protocol(limits),
            ws="none",
            proxy_headers=False,  # a client could choose the address that limits count by
            access_log=False,  # it shows what is after the question mark, where tokens may stand
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=30,
        )


def dashboard(
    store: Place,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8766,
) -> None:
    """Show the sessions of a store in a browser, read-only."""
    with _store(store) as opened:
        from hedgerow.live.admission import is_loopback

        if not is_loopback(host):
            raise ValueError(
                f"the dashboard has no tokens and listens only on this machine, got host {host}; "
                "reach it through ssh -L or a proxy with authentication"
            )
        from hedgerow.live.dashboard import serve_dashboard

        serve_dashboard(opened, host, port, print_line)


def compact(store: Place, name: Annotated[str, typer.Argument(help="The session.")]) -> None:
    """Delete actions and gradients before a session's last snapshot; keep values and state."""
    with _store(store) as opened:
        print_line(f"{opened.compact(name)} rows of the journal were compacted.")


@live.command()
def check(
    store: Place,
    repair: Annotated[
        bool, typer.Option("--repair", help="Recover what can be recovered; back it up first.")
    ] = False,
) -> None:
    """Read a whole store, and list what was damaged and what can be recovered.

    Stop what writes to it. The exit code is 1 if something is damaged.
    """
    with report_errors():
        try:
            from hedgerow.live.checking import check_store
        except ModuleNotFoundError as missing:
            raise ImportError(str(missing)) from None
        if "://" not in store and not Path(store).exists():
            raise ValueError(f"there is no store {store}; give its path")
        found = check_store(store, repair=repair)
        for damage in found:
            print_line(str(damage))
        left = [damage for damage in found if not damage.remedy]
        if repair:
            left = check_store(store)
            if found and not left:
                print_line("Each of these repairs was made, and the store can be used.")
        elif found and len(left) < len(found):
            print_line(
                "Nothing was written; `hedgerow live check --repair STORE` recovers what it can."
            )
        if not found:
            print_line("Nothing is damaged.")
        if left or (found and not repair):
            raise typer.Exit(1)


@live.command()
def upgrade(
    store: Place,
    name: Annotated[str, typer.Argument(help="The session.")],
    check: Annotated[
        bool, typer.Option("--check", help="Only compare; the exit code is 1 if decisions differ.")
    ] = False,
) -> None:
    """Continue a session of the service with this release, though it would decide otherwise."""
    with _store(store) as opened:
        from hedgerow.live.opening import upgrade_session
        from hedgerow.live.replica import OtherDecisionError

        try:
            upgrade_session(opened, name, upgrade=not check)
        except OtherDecisionError as other:
            print_line(f"{other}.")
            raise typer.Exit(1) from None
        result = ": this release decides as recorded" if check else " continues with this release"
        print_line(f"session {name}{result}.")


@token.command("add")
def add_token(
    store: Place,
    role: Annotated[str, typer.Option(help="observe, decide or admin.")] = "decide",
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
) -> None:
    """Make a token and print it, once."""
    with _store(store) as opened:
        from hedgerow.live.tokens import make_token

        print_line(make_token(opened, role, label))


@token.command("list")
def list_tokens(store: Place) -> None:
    """List the tokens of a store, without the tokens themselves."""
    with _store(store) as opened:
        from hedgerow.live.tokens import tokens

        for one in tokens(opened):
            made = time.strftime("%Y-%m-%d", time.gmtime(one.created))
            state = "valid" if one.revoked is None else "revoked"
            print_line(f"{one.id}  {one.role:<8} {made}  {state:<8} {one.label}")


@token.command("revoke")
def revoke(store: Place, id_: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Revoke a token, at once and for good."""
    with _store(store) as opened:
        from hedgerow.live.tokens import revoke_token

        revoke_token(opened, id_)
        print_line(f"token {id_} is revoked.")


def check_reach(host: str, tokens: int, no_tokens: bool) -> None:
    """Refuse to serve other machines without tokens."""
    from hedgerow.live.admission import is_loopback

    if no_tokens and not is_loopback(host):
        raise ValueError(f"--no-tokens allows local addresses only, got {host}; use tokens there")
    if not no_tokens and tokens == 0:
        raise ValueError(
            "the store has no valid token, so every request would be refused; add one with "
            "`hedgerow token add STORE`, or accept local requests with --no-tokens"
        )
