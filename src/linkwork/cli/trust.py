"""``linkwork trust``: lists, makes and revokes decisions about code of files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from linkwork.project.trust import ProgramCode, TrustStore


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
            metavar="ENTRY",
            help="Revoke: what was trusted (a scene, program, recording, folder), the name of a "
            "program, or at least 6 characters of a hash. Repeatable.",
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
    from linkwork.project.trust import SHORTEST_HASH, TrustStore

    out, store = stdout(), TrustStore()
    for each in revoke or []:
        gone = store.revoke(each, _codes_if_readable(Path(each)))
        if not gone:
            short = len(each) < SHORTEST_HASH
            hint = f" A hash needs at least {SHORTEST_HASH} characters." if short else ""
            raise NameNotFound(
                f"nothing that is trusted is called {each!r}.",
                hint=f"linkwork trust lists all.{hint}",
            )
        for entry in gone:
            what_for = " in replays" if entry.kind == "recorded" else ""
            out.print_line(f"{entry.name or entry.key} is no longer trusted{what_for}.")
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
    from linkwork.cli.screen import stdout

    out = stdout()
    if what.is_dir():
        store.trust_folder(what)
        out.print_line(f"Everything in {what.resolve()} is trusted.")
        return
    codes = _codes(what)
    store.trust_content(codes)
    if not codes:
        out.print_line(f"{what} brings no programs.")
    for code in codes:
        beside = f", with {len(code.modules)} files beside it" if code.modules else ""
        out.print_line(f"{code.file or code.agent} is trusted as it is now{beside}.")


def _codes(what: Path) -> list[ProgramCode]:
    """Returns the programs of a scene, of a recording, or a program itself.

    Raises:
        LinkworkError: If it cannot be read.
    """
    import tempfile
    from dataclasses import replace

    from linkwork.core.errors import FormatError, Origin, os_error_text
    from linkwork.core.program_folder import read_program
    from linkwork.project.trust import program_code, programs_of

    if what.suffix == ".py":
        try:
            return [program_code(what.stem, what, read_program(what))]
        except (OSError, ValueError) as error:
            why = os_error_text(error)
            raise FormatError(f"cannot be read: {why}.", origin=Origin(str(what))) from None
    if what.suffix == ".mcap":
        from linkwork.session.recorded_programs import recorded_programs
        from linkwork.session.recording import Recording

        with Recording.open(what) as recording, tempfile.TemporaryDirectory() as folder:
            codes = recorded_programs(recording, Path(folder))
        return [replace(code, file="") for code in codes]
    from linkwork.cli.scene_argument import load_showing_notes, scene_to_run

    thing, _ = load_showing_notes(str(what))
    return programs_of(scene_to_run(thing, str(what), free=False)[0])


def _codes_if_readable(what: Path) -> list[ProgramCode]:
    """As :func:`_codes`; none for a folder, a name, a hash or a file that cannot be read."""
    from linkwork.core.errors import LinkworkError

    if not what.is_file():
        return []
    try:
        return _codes(what)
    except LinkworkError:
        return []
