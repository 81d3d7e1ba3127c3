"""Forms: tables checked against msgspec structs, with errors in the words of the user's file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import inspect

from linkwork.errors import FormatError, Origin, suggestion
from linkwork.units import split_unit

F = TypeVar("F", bound=msgspec.Struct)


def read_form(
    given: dict[str, Any],
    form: type[F],
    who: str,
    *,
    origin: Origin | None,
    strict: bool = True,
    also: Iterable[str] = (),
    lines: Mapping[str, int] | None = None,
) -> F:
    """A table as a struct.

    Args:
        given: Keys and values, in SI units.
        form: The struct; each of its fields is a key.
        who: Whose table it is, for people: ``port 'arm/elbow'``.
        origin: Where it stands.
        strict: Whether text that reads as a number is refused.
        also: Keys that stand in the same table and belong to another form.
        lines: Where keys stand, if not in the line of ``origin``.

    Raises:
        FormatError: Naming the key, what was found and what is allowed.
    """
    given = plain_values(given)
    try:
        return msgspec.convert(given, form, strict=strict)
    except (msgspec.ValidationError, OverflowError) as error:
        key, message, hint = _wrong(given, form, strict, also) or ("", f": {error}.", "")
        if origin is not None and lines and key in lines:
            origin = Origin(origin.file, lines[key])
        raise FormatError(f"{who}{message}", origin=origin, hint=hint) from None


def plain_values(value: Any) -> Any:
    """The same with NumPy's numbers and arrays, at any depth, as Python's numbers and lists."""
    if isinstance(value, dict):
        return {key: plain_values(each) for key, each in value.items()}
    if type(value) is list:
        return [plain_values(each) for each in value]
    if type(value) is tuple:
        return tuple(plain_values(each) for each in value)
    return value.tolist() if type(value).__module__ == "numpy" else value


def _wrong_value(table: dict[str, Any], kind: Any, key: str, strict: bool) -> tuple[Any, str, Any]:
    """What a table's values are, and the first one that is not, with its place."""
    for name, value in table.items():
        try:
            msgspec.convert(value, kind, strict=strict)
        except (msgspec.ValidationError, OverflowError):
            return kind, f"{key} of {name!r}", value
    return kind, key, table


def _wrong(
    given: dict[str, Any], form: type, strict: bool, also: Iterable[str]
) -> tuple[str, str, str] | None:
    """The first key that is wrong, what is said of it and a hint; None if each is right."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(form)}
    for key, value in given.items():
        name = key if key in fields else split_unit(key)[0]
        if name not in fields:
            return key, f" has no key {key!r}.", suggestion(key, {*fields, *also}, kind="keys")
        if name != key:  # had it been a number, it would be SI under its plain name by now
            return key, f": {key} takes a number, not {value!r}.", ""
        try:
            msgspec.convert(value, fields[name].type, strict=strict)
        except (msgspec.ValidationError, OverflowError):
            kind, where = fields[name].type, key
            if get_origin(kind) is dict and isinstance(value, dict):  # of a table, the wrong value
                kind, where, value = _wrong_value(value, get_args(kind)[1], key, strict)
            allowed = wanted(inspect.type_info(kind))
            return key, f": {where} takes {allowed}, not {value!r}.", ""
    missing = [name for name, field in fields.items() if field.required and name not in given]
    return ("", f" needs {missing[0]!r}.", "") if missing else None


def wanted(kind: inspect.Type) -> str:
    """What a field takes, in words."""
    match kind:
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType() | inspect.FloatType():
            return _number(kind)
        case inspect.LiteralType():
            return _either([repr(value) for value in kind.values])
        case inspect.EnumType():
            return _either([repr(str(member.value)) for member in kind.cls])
        case inspect.StrType():
            form = f" of the form {kind.pattern}" if kind.pattern else ""
            return f"text in quotes{form}"
        case inspect.ListType():
            return f"a list, each {wanted(kind.item_type)}"
        case inspect.TupleType():
            return f"a list of {len(kind.item_types)}, each {wanted(kind.item_types[0])}"
        case inspect.DictType():
            return "a table { … }"
        case inspect.UnionType():
            kinds = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
            return _either([wanted(each) for each in kinds])
        case inspect.Metadata():
            said = (kind.extra_json_schema or {}).get("description")
            return str(said) if said else wanted(kind.type)
    return "another value"


def _number(kind: inspect.IntType | inspect.FloatType) -> str:
    word = "a whole number" if isinstance(kind, inspect.IntType) else "a number"
    show = str if isinstance(kind, inspect.IntType) else "{:g}".format
    if kind.ge is not None and kind.le is not None:
        return f"{word} from {show(kind.ge)} to {show(kind.le)}"
    limits = (
        ("above {}", kind.gt), ("{} or more", kind.ge),
        ("below {}", kind.lt), ("{} or less", kind.le),
    )  # fmt: skip
    said = [text.format(show(limit)) for text, limit in limits if limit is not None]
    return f"{word}, {' and '.join(said)}" if said else word


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
