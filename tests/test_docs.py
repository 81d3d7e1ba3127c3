"""The documentation is correct: links, code, commands and tables."""

import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import typer

import key_tables
import linkwork as lw
from linkwork.cli.app import app
from linkwork.core.registry import Registry, installed_entry_points
from linkwork.devices import load_devices
from linkwork.model.parts import find_kits

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))]
FENCE = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r'(?:\]\(|src=")([^)"\s]+)[)"]')
COMMAND = re.compile(r"`(linkwork [^`\s]+ [^`]+)`")  # in a sentence; a bare name is no command line

#: Readers of files that are neither a part nor a scene.
READERS: dict[str, Callable[[str], object]] = {
    "linkwork/movement": lw.load_movement,
    "linkwork/devices": load_devices,
}


@dataclass(frozen=True)
class Block:
    """A block of code: its language, its mark ("run", "file=arm.toml") and its text."""

    language: str
    mark: str
    text: str


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    return [Block(a, b.strip(), c) for a, b, c in FENCE.findall(page.read_text())]


def headings(page: Path) -> Iterator[str]:
    """Returns the anchors of the headings, as GitHub makes them."""
    seen: dict[str, int] = {}
    for title in re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        yield f"{slug}-{count}" if count else slug


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    """A relative link names an existing file, and an existing heading after #."""
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        if "://" in link:
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)}: {link}"
        if heading:
            assert heading in headings(target), f"{name_of(page)}: {link}"


def commands(page: Path) -> Iterator[list[str]]:
    text = page.read_text()
    for block in blocks(page):
        if block.language == "sh":
            yield from (shlex.split(line, comments=True) for line in block.text.splitlines())
    yield from (shlex.split(line) for line in COMMAND.findall(FENCE.sub("", text)))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_exists(page: Path) -> None:
    """Commands of Linkwork parse; make has its target, Python its file."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for words in commands(page):
        match words:
            case ["linkwork", *rest]:
                parse(rest)
            case ["make", target, *_]:
                assert target in targets
            case ["python", file, *_]:
                assert (ROOT / file).is_file()


def parse(words: list[str]) -> None:
    """Parses a command line as the command would, without running it."""
    group: Any = typer.main.get_command(app)
    with group.context_class(group, info_name="linkwork") as context:
        name, command, rest = group.resolve_command(context, words)
        try:
            command.make_context(name, rest, parent=context)
        except typer.Exit:
            assert words[-1] == "--help"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_of_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files on a page can be loaded, and runnable code runs beside them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    shown = blocks(page)
    for block in shown:
        if block.mark.startswith("file="):
            (tmp_path / block.mark.removeprefix("file=")).write_text(block.text)
    for number, block in enumerate(shown):
        if block.language == "toml":
            tomllib.loads(block.text)
            if block.mark.startswith("file="):
                name = block.mark.removeprefix("file=")
                kind = tomllib.loads(block.text).get("format", "").partition(" ")[0]
                READERS.get(kind, lw.load)(name)
        elif block.mark == "run":
            script = tmp_path / f"block{number}.py"
            script.write_text(block.text)
            runpy.run_path(str(script))
    for name in set(sys.modules) - before:
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]


def test_tables_of_keys_are_what_the_code_understands() -> None:
    """Every table in docs/ is generated from the reader's keys; if not, run the command."""
    assert key_tables.main(["--check"]) == 0, f"run: {key_tables.COMMAND}"


def test_every_registered_type_is_documented() -> None:
    """Each engine, sensor, actuator and agent has a table of its parameters on some page."""
    text = "".join(page.read_text() for page in PAGES)
    for kind, registry in key_tables.REGISTRIES.items():
        for type in registry.names():
            if registry.get(type).__module__.startswith("linkwork."):
                assert f"<!-- parameters: {kind} {type} -->" in text


def test_plug_in_of_the_page_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed package with the page's module and entry point offers the page's sensor."""
    page = ROOT / "docs" / "plugins.md"
    module = next(b for b in blocks(page) if b.mark == "file=speedometer.py")
    declared = next(b for b in blocks(page) if b.mark == "entry-points")
    ((group, names),) = tomllib.loads(declared.text)["project"]["entry-points"].items()
    installed = tmp_path / "speedometer-1.0.dist-info"
    installed.mkdir()
    (tmp_path / "speedometer.py").write_text(module.text)
    (installed / "METADATA").write_text("Name: speedometer\nVersion: 1.0\n")
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in names.items())]
    (installed / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    assert entry_points(group=group)
    installed_entry_points.cache_clear()
    try:
        assert Registry("sensor").get("speedometer").type == "speedometer"
    finally:
        sys.modules.pop("speedometer", None)
        installed_entry_points.cache_clear()


def test_pictures_are_small_and_used() -> None:
    """Every picture of docs/ is on a page, none is larger than 200 kB."""
    text = "".join(page.read_text() for page in PAGES)
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert f"pictures/{picture.name}" in text
        assert picture.stat().st_size < 200_000


def test_every_part_of_a_kit_has_a_picture() -> None:
    """The gallery of kits shows each part: a PNG beside its file, smaller than 60 kB."""
    for kit in find_kits().values():
        if kit.source == "package":
            for part in kit.parts():
                picture = kit.folder / f"{part.partition('/')[2]}.png"
                assert 0 < picture.stat().st_size < 60_000
                assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
