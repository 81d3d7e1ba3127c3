"""Generates the client's types: ``python -m linkwork.studio.protocol.typescript --write``."""

from __future__ import annotations

import inspect
import sys
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect as kinds

from linkwork.studio import protocol as messages

COMMAND = "python -m linkwork.studio.protocol.typescript --write"
#: Path of the generated file, from the root of the sources.
TARGET = Path("web/src/protocol/messages.ts")
_HEAD = f"// Made by `{COMMAND}` from src/linkwork/studio/protocol; do not edit.\n"
_CONSTANTS = (
    "PROTOCOL", "SNAPSHOT", "POSES", "SIGNALS", "CONTACTS", "GHOST", "IMAGE", "FORCES", "REACH",
    "NEAR", "SNAPSHOTS_PER_ACK", "GRAB_FREQUENCY",
)  # fmt: skip
_PLAIN: dict[type[kinds.Type], str] = {
    kinds.StrType: "string",
    kinds.BoolType: "boolean",
    kinds.IntType: "number",
    kinds.FloatType: "number",
    kinds.NoneType: "null",
    kinds.AnyType: "unknown",
}


def typescript() -> str:
    """The text of the generated types."""
    structs = [value for value in vars(messages).values() if _is_sent(value)]
    sections = [_HEAD]
    sections.append("".join(f"export const {c} = {getattr(messages, c)};\n" for c in _CONSTANTS))
    sections.append(_rows())
    sections += [_interface(struct) for struct in structs]
    for name in ("FromServer", "FromClient"):
        sections.append(f"export type {name} =\n{_union(getattr(messages, name).__args__)};\n")
    return "\n".join(sections)


def _is_sent(value: object) -> bool:
    """Whether a name of the protocol is a message, or a class of which messages consist."""
    if not inspect.isclass(value) or value in (messages.ServerMessage, messages.ClientMessage):
        return False
    if is_dataclass(value):
        return True
    return issubclass(value, msgspec.Struct) and value.__module__.startswith(messages.__name__)


def _rows() -> str:
    lines = [f"  {kind}: [{row[0]}, {row[1]}],\n" for kind, row in messages.ROWS.items()]
    return (
        "/** Numbers per row of each kind of block, and bytes per number. */\n"
        f"export const ROWS: {{ [kind: number]: [number, number] }} = {{\n{''.join(lines)}}};\n"
    )


def _interface(struct: type) -> str:
    info = kinds.type_info(struct)
    assert isinstance(info, kinds.StructType | kinds.DataclassType)
    asked = issubclass(struct, messages.ClientMessage)
    lines = [f"/** {_sentence(struct)} */", f"export interface {struct.__name__} {{"]
    if isinstance(info, kinds.StructType) and info.tag is not None:
        lines.append(f'  {info.tag_field}: "{info.tag}";')
    for field in info.fields:
        # Server messages are complete; a client may omit fields that have a default.
        mark = "?" if asked and not field.required else ""
        lines.append(f"  {field.encode_name}{mark}: {_type(field.type)};")
    return "\n".join([*lines, "}", ""])


def _sentence(struct: type) -> str:
    text, _, _ = (inspect.getdoc(struct) or "").partition("\nAttributes:")
    return " ".join(text.split())


def _union(structs: tuple[Any, ...]) -> str:
    return "\n".join(f"  | {struct.__name__}" for struct in structs)


def _type(kind: kinds.Type) -> str:
    """A Python type as TypeScript."""
    if type(kind) in _PLAIN:
        return _PLAIN[type(kind)]
    match kind:
        case kinds.Metadata():
            return _type(kind.type)
        case kinds.LiteralType():
            return " | ".join(f'"{value}"' for value in sorted(map(str, kind.values)))
        case kinds.StructType() | kinds.DataclassType():
            return kind.cls.__name__
        case kinds.UnionType():
            return " | ".join(_type(each) for each in kind.types)
        case kinds.ListType():
            inner = _type(kind.item_type)
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case kinds.TupleType():
            return f"[{', '.join(_type(each) for each in kind.item_types)}]"
        case kinds.DictType():
            return f"{{ [key: {_type(kind.key_type)}]: {_type(kind.value_type)} }}"
    raise TypeError(f"{COMMAND} has no type for {kind}; add one.")


def main(arguments: list[str]) -> int:
    """Writes the types, or checks that they are up to date."""
    root = Path(__file__).parents[4]
    file, text = root / TARGET, typescript()
    if "--write" in arguments:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return 0
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET} is out of date. Run: {COMMAND}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
