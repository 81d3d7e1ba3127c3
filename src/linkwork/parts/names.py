"""Names: letters, digits, ``_`` and ``-``, scoped by ``/`` as in ``left_arm/elbow``."""

from __future__ import annotations

import re

from linkwork.errors import Origin, PartError

_PLAIN = re.compile(r"[A-Za-z0-9_-]+\Z")


def check_name(name: str, kind: str, *, origin: Origin | None = None) -> str:
    """Returns ``name`` if it is a plain name.

    Raises:
        PartError: If it holds anything but letters, digits, ``_`` and ``-``.
    """
    if not isinstance(name, str) or not _PLAIN.match(name):
        raise PartError(
            f"{kind} name {name!r} is not allowed.",
            origin=origin,
            hint="Use letters, digits, '_' and '-'; '/' separates scopes.",
        )
    return name


def plain(name: str, taken: set[str] | None = None) -> str:
    """The nearest allowed name, made different from all in ``taken``; for importers.

    >>> plain("left arm.link")
    'left_arm_link'
    """
    base = re.sub(r"[^A-Za-z0-9_-]+", "_", name) or "unnamed"
    if not taken or base not in taken:
        return base
    number = 2
    while f"{base}_{number}" in taken:
        number += 1
    return f"{base}_{number}"


def scoped(scope: str, name: str) -> str:
    """``name`` inside ``scope``; an empty scope adds nothing."""
    return f"{scope}/{name}" if scope else name
