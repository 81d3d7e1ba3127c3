"""``linkwork trust``: lists, makes and revokes decisions about code of files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from linkwork.project.trust import TrustStore


def trust(
    what: Annotated[
        Path | None,
        typer.Argument(
            help="A scene, program or recording, trusted as it is now, or a folder.",
            show_default=False,
        ),
    ] = None,
    revoke: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENTRY", help="Revoke: a folder, a file or the start of a hash. Repeatable."
        ),
    ] = None,
) -> None:
    """Lists whose Python code may run, or trusts a file or a folder.

    Programs of the package, of installed kits and of your own kits are trusted. Those of other
    files run with linkwork run; the studio, replay and all other commands run them only if their
    content (by hash) or their folder (by path) is trusted.

    Examples:
      $ linkwork trust
      $ linkwork trust cell.toml
      $ linkwork trust ~/robots
      $ linkwork trust --revoke ~/robots
    """
    from linkwork.cli.screen import stdout
    from linkwork.core.errors import NameNotFound
    from linkwork.project.trust import TrustStore

    out, store = stdout(), TrustStore()
    for each in revoke or []:
        gone = store.revoke(each)
        if not gone:
            raise NameNotFound(
                f"nothing that is trusted is called {each!r}.", hint="linkwork trust lists all."
            )
        for entry in gone:
            out.print_line(f"{entry.name or entry.key} is no longer trusted.")
    if what is not None:
        _trust(what, store)
    elif not revoke:
        rows = [
            (each.kind, each.key if each.kind in ("folder", "file") else each.key[:12], each.name)
            for each in store.entries()
        ]
        if rows:
            out.rows(("kind", "entry", "file"), rows)
        else:
            out.print_line("Nothing is trusted but the kits.")


def _trust(what: Path, store: TrustStore) -> None:
    """Trusts a folder, or the programs of a file as they are now."""
    import tempfile

    from linkwork.cli.screen import stdout
    from linkwork.core.errors import FormatError, Origin
    from linkwork.project.trust import program_code, programs_of

    out = stdout()
    if what.is_dir():
        store.trust_folder(what)
        out.print_line(f"Everything in {what.resolve()} is trusted.")
        return
    if what.suffix == ".py":
        try:
            codes = [program_code(what.stem, what, what.read_text(encoding="utf-8"))]
        except (OSError, ValueError) as error:
            raise FormatError(f"cannot be read: {error}.", origin=Origin(str(what))) from None
    elif what.suffix == ".mcap":
        from linkwork.session.recorded_programs import recorded_programs
        from linkwork.session.recording import Recording

        with Recording.open(what) as recording, tempfile.TemporaryDirectory() as folder:
            codes = recorded_programs(recording, Path(folder))
    else:
        from linkwork.cli.scene_argument import load_showing_notes, scene_to_run

        thing, _ = load_showing_notes(str(what))
        codes = programs_of(scene_to_run(thing, str(what), free=False)[0])
    store.trust_content(codes)
    if not codes:
        out.print_line(f"{what} brings no programs.")
    for code in codes:
        beside = f", with {len(code.modules)} files beside it" if code.modules else ""
        out.print_line(f"{code.file or code.agent} is trusted as it is now{beside}.")
