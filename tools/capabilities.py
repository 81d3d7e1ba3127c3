"""Write docs/capabilities.md: which test proves which capability, and which page explains it.

The capabilities and their pages are listed in docs/capabilities.toml; the proof is every test
that carries `@pytest.mark.capability(n)`. The tests are read, not run.
"""

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "make docs-capabilities"


class CapabilityError(Exception):
    """A mark or the list of capabilities says something that cannot be right."""


@dataclass
class Capability:
    """One line of the table."""

    text: str
    document: str
    pages: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)


def read_list(root: Path = ROOT) -> dict[int, Capability]:
    """Read docs/capabilities.toml, with the pages but without the tests."""
    source = root / "docs" / "capabilities.toml"
    data = tomllib.loads(source.read_text())
    found: dict[int, Capability] = {}
    for document, lines in data["documents"].items():
        for key, text in lines.items():
            if int(key) in found:
                raise CapabilityError(f"{source}: capability {key} is listed twice")
            found[int(key)] = Capability(text, document)
    for page, numbers in data["pages"].items():
        if not (root / "docs" / page).is_file():
            raise CapabilityError(f"{source}: there is no page docs/{page}")
        for number in numbers:
            if number not in found:
                raise CapabilityError(
                    f"{source}: page {page} names capability {number}; {allowed(found)}"
                )
            found[number].pages.append(page)
    return found


def allowed(capabilities: dict[int, Capability]) -> str:
    """Say which numbers exist."""
    return f"docs/capabilities.toml lists {min(capabilities)} to {max(capabilities)}"


def is_mark(node: ast.AST) -> bool:
    """Whether this is `….mark.capability` (called or not)."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "capability"
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "mark"
    )


def marks_in(node: ast.AST, where: str) -> Iterator[tuple[int, int]]:
    """Yield (capability number, line) for every mark inside an expression."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and is_mark(call.func):
            for number in call.args:
                if not (isinstance(number, ast.Constant) and type(number.value) is int):
                    raise CapabilityError(
                        f"{where}:{call.lineno}: capability({ast.unparse(number)}): "
                        "write the number itself, so that it can be read without running the test"
                    )
                yield number.value, call.lineno


def marks_of(body: list[ast.stmt], scope: str, where: str) -> Iterator[tuple[str, int, int]]:
    """Yield (test, capability number, line) of a module or a class and all it contains."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{scope}::{node.name}"
            for decorator in node.decorator_list:
                for number, line in marks_in(decorator, where):
                    yield name, number, line
            if isinstance(node, ast.ClassDef):
                yield from marks_of(node.body, name, where)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            # `pytestmark = …` proves with the whole scope, and so do marked `pytest.param` lists
            for number, line in marks_in(node.value, where):
                yield scope, number, line


def collect(root: Path = ROOT) -> dict[int, Capability]:
    """Read the list and every mark below tests/."""
    capabilities = read_list(root)
    for path in sorted((root / "tests").rglob("test_*.py")):
        where = path.relative_to(root).as_posix()
        for test, number, line in marks_of(ast.parse(path.read_text()).body, where, where):
            if number not in capabilities:
                raise CapabilityError(
                    f"{where}:{line}: there is no capability {number}; {allowed(capabilities)}"
                )
            if test not in capabilities[number].tests:
                capabilities[number].tests.append(test)
    return capabilities


def link(test: str) -> str:
    """Link a test's name to its file, as seen from docs/."""
    file, _, name = test.partition("::")
    return f"[{name or Path(file).name}](../{file})"


def render(capabilities: dict[int, Capability]) -> str:
    """Write the page."""
    proved = sum(bool(each.tests) for each in capabilities.values())
    lines = [
        "# Capabilities",
        "",
        f"<!-- Written by `{COMMAND}` from docs/capabilities.toml and the tests. Do not edit. -->",
        "",
        f"What Linkwork sets out to do, and the test that shows it: {proved} of "
        f"{len(capabilities)} so far.",
    ]
    document = None
    for number, each in sorted(capabilities.items()):
        if each.document != document:
            document = each.document
            lines += ["", f"## {document}", "", "| | capability | shown by | page |", "|-:|-|-|-|"]
        tests = "<br>".join(map(link, each.tests))
        pages = ", ".join(f"[{Path(page).stem}]({page})" for page in each.pages)
        lines.append(f"| {number} | {each.text.replace('|', chr(92) + '|')} | {tests} | {pages} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Write the page, or with --check say whether it is up to date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if out of date")
    check = parser.parse_args(arguments).check
    page = root / "docs" / "capabilities.md"
    try:
        wanted = render(collect(root))
    except CapabilityError as error:
        print(error, file=sys.stderr)
        return 2
    if page.is_file() and page.read_text() == wanted:
        return 0
    if check:
        print(f"docs/capabilities.md is out of date; run: {COMMAND}", file=sys.stderr)
        return 1
    page.write_text(wanted)
    print("wrote docs/capabilities.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
