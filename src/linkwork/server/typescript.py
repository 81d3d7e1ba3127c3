"""Makes the client's types of ``messages.py``: ``python -m linkwork.server.typescript --write``."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect as kinds

from linkwork.server import messages

COMMAND = "python -m linkwork.server.typescript --write"
#: Where the types go, from the root of the sources.
TARGET = Path("web/src/protocol/messages.ts")
_HEAD = f"// Made by `{COMMAND}` from src/linkwork/server/messages.py; do not edit.\n"
_CONSTANTS = (
    "PROTOCOL", "PICTURE", "POSES", "SIGNALS", "CONTACTS", "GHOST", "IMAGE", "FORCES", "REACH",
    "NEAR", "ACK_EACH", "PULL_RATE",
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
    """The text of the client's types."""
    structs = [
        value
        for value in vars(messages).values()
        if inspect.isclass(value)
        and issubclass(value, msgspec.Struct)
        and value.__module__ == messages.__name__
        and value not in (messages.ServerMessage, messages.ClientMessage)
    ]
    pieces = [_HEAD]
    pieces.append("".join(f"export const {c} = {getattr(messages, c)};\n" for c in _CONSTANTS))
    pieces.append(_rows())
    pieces += [_interface(struct) for struct in structs]
    for name in ("FromServer", "FromClient"):
        pieces.append(f"export type {name} =\n{_union(getattr(messages, name).__args__)};\n")
    return "\n".join(pieces)


def _rows() -> str:
    lines = [f"  {kind}: [{row[0]}, {row[1]}],\n" for kind, row in messages.ROWS.items()]
    return (
        "/** Numbers in a row of each kind of block, and bytes of each. */\n"
        f"export const ROWS: {{ [kind: number]: [number, number] }} = {{\n{''.join(lines)}}};\n"
    )


def _interface(struct: type[msgspec.Struct]) -> str:
    info = kinds.type_info(struct)
    assert isinstance(info, kinds.StructType)
    asked = issubclass(struct, messages.ClientMessage)
    lines = [f"/** {_sentence(struct)} */", f"export interface {struct.__name__} {{"]
    if info.tag is not None:
        lines.append(f'  {info.tag_field}: "{info.tag}";')
    for field in info.fields:
        # What the server sends is complete; a client may leave out what has a default.
        mark = "?" if asked and not field.required else ""
        lines.append(f"  {field.encode_name}{mark}: {_type(field.type)};")
    return "\n".join([*lines, "}", ""])


def _sentence(struct: type[msgspec.Struct]) -> str:
    return " ".join((inspect.getdoc(struct) or "").split())


def _union(structs: tuple[Any, ...]) -> str:
    return "\n".join(f"  | {struct.__name__}" for struct in structs)


def _type(kind: kinds.Type) -> str:
    """A type in TypeScript's words."""
    if type(kind) in _PLAIN:
        return _PLAIN[type(kind)]
    match kind:
        case kinds.Metadata():
            return _type(kind.type)
        case kinds.LiteralType():
            return " | ".join(f'"{value}"' for value in sorted(map(str, kind.values)))
        case kinds.StructType():
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
    raise TypeError(f"{COMMAND} has no word for {kind}; give it one.")


def main(arguments: list[str]) -> int:
    """Writes the types, or says whether they are as they should be."""
    root = Path(__file__).parents[3]
    file, text = root / TARGET, typescript()
    if "--write" in arguments:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return 0
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET} is not what messages.py says. Run: {COMMAND}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
