"""Errors as data: kind, text, origin and hint survive transmission to another process."""

import msgspec
import pytest

from linkwork.core.errors import (
    ErrorRecord,
    FormatError,
    LinkworkError,
    NameNotFound,
    Origin,
    closest_name,
    not_found,
)


@pytest.mark.parametrize(
    "error",
    [
        FormatError("the file is empty.", origin=Origin("robot.toml", 7), hint="Write something."),
        not_found("joint", "elbo", ["elbow", "wrist"]),
        LinkworkError("it failed."),
    ],
)
def test_an_error_survives_as_a_record(error: LinkworkError) -> None:
    """Encoded, decoded and raised again, it has the same class and attributes."""
    data = msgspec.msgpack.encode(error.to_record())
    again = LinkworkError.from_record(msgspec.msgpack.decode(data, type=ErrorRecord))
    assert type(again) is type(error)
    assert (again.message, again.origin, again.hint) == (error.message, error.origin, error.hint)
    assert str(again) == str(error)


def test_a_record_of_an_unknown_kind_is_a_plain_error() -> None:
    """A plug-in's adapter may raise a class that only its process defines."""
    again = LinkworkError.from_record(ErrorRecord("TheirError", "no power.", hint="Plug it in."))
    assert type(again) is LinkworkError
    assert str(again) == "no power. Plug it in."


def test_the_closest_name_is_the_one_probably_meant() -> None:
    """A name unlike all others has no suggestion."""
    assert closest_name("elbo", ["elbow", "wrist"]) == "elbow"
    assert closest_name("zzz", ["elbow", "wrist"]) is None
    with pytest.raises(NameNotFound, match="Did you mean 'elbow'"):
        raise not_found("joint", "elbo", ["elbow", "wrist"])
