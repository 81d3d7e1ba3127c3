"""Registries of the types that a scene or a file may name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from linkwork.core.errors import LinkworkError, Origin, not_found

T = TypeVar("T")

#: The distribution whose own types no other package can replace.
PACKAGE = "linkwork"


class Registry(Generic[T]):
    """Named classes of one kind, imported on first use.

    The types of Linkwork and those of plug-ins are declared in the same way: by the entry point
    group ``linkwork.<plural>`` of an installed distribution. Linkwork's own types take precedence
    over those of the same name in other distributions. A program adds a type with
    :meth:`register`.

    Args:
        kind: What the entries are, for messages ("engine").
        plural: Plural of ``kind``; ``kind`` plus s by default.
    """

    def __init__(self, kind: str, *, plural: str = "") -> None:
        self.kind = kind
        self.plural = plural or f"{kind}s"
        self._loaded: dict[str, T] = {}
        self._declared: dict[str, str] | None = None

    def register(self, name: str, thing: T) -> T:
        """Adds ``thing`` under ``name``; an existing entry is replaced."""
        self._loaded[name] = thing
        return thing

    def unregister(self, name: str) -> None:
        """Removes the entry that :meth:`register` added under ``name``."""
        self._loaded.pop(name, None)

    def _paths(self) -> dict[str, str]:
        """Maps each declared name to its "module:attribute".

        Raises:
            LinkworkError: If Linkwork itself is not installed.
        """
        if self._declared is None:
            found: dict[str, str] = {}
            own: dict[str, str] = {}
            for entry in installed_entry_points().select(group=f"{PACKAGE}.{self.plural}"):
                if entry.dist is not None and entry.dist.name == PACKAGE:
                    own[entry.name] = entry.value
                else:
                    found.setdefault(entry.name, entry.value)
            if not own:
                raise LinkworkError(
                    f"no {self.kind} types are declared: this copy of Linkwork is not installed.",
                    hint="Run `make setup` or `pip install -e .` in its source tree.",
                )
            self._declared = {**found, **own}
        return self._declared

    def names(self) -> list[str]:
        """Returns every known name, sorted."""
        return sorted({*self._paths(), *self._loaded})

    def get(self, name: str, *, origin: Origin | None = None) -> T:
        """Returns the entry called ``name``.

        Raises:
            NameNotFound: If there is none; the message lists what exists.
            LinkworkError: If it cannot be imported, or Linkwork is not installed.
        """
        if name in self._loaded:
            return self._loaded[name]
        path = self._paths().get(name)
        if path is None:
            raise not_found(f"{self.kind} type", name, self.names(), origin=origin)
        module, _, attribute = path.partition(":")
        try:
            thing: Any = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            if _interrupted(error):
                raise KeyboardInterrupt from error
            raise LinkworkError(
                f"the {self.kind} plug-in {name!r} ({path}) cannot be imported: {error}.",
                origin=origin,
                hint="Install or repair the package that declares it.",
            ) from error
        self._loaded[name] = thing
        return thing

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: str) -> bool:
        return name in self.names()


@cache
def installed_entry_points() -> Any:
    """Reads the entry points of all installed distributions, once."""
    return entry_points()


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error: an extension module reports it as a failed import."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


ENGINES: Registry[Any] = Registry("engine")
SENSORS: Registry[Any] = Registry("sensor")
ACTUATORS: Registry[Any] = Registry("actuator")
AGENTS: Registry[Any] = Registry("agent")
BUSES: Registry[Any] = Registry("bus", plural="buses")
FAULTS: Registry[Any] = Registry("fault")
FORMATS: Registry[Any] = Registry("format")
