"""Imports of a program from its folder.

Each loaded program has its own copies of the modules in its folder, so that two programs, or a run
and its replay, never share one: what a module holds belongs to one start of one program. They are
modules of a package of their own (``linkwork_program_3_modules.helper``); an import statement of
the program, or of such a module, finds them by their short name first, as Python does for a script.
Their compiled code is not stored, and none is read from ``__pycache__``, which may differ from the
sources beside it.
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

#: Names that a folder cannot give another meaning.
_RESERVED = frozenset({*sys.builtin_module_names, "linkwork"})


class FolderImports:
    """The import statement of one program.

    Args:
        name: Name of the package for the modules.
        folder: The program's folder.

    Attributes:
        builtins: Built-in names with this import statement, for the program and its modules.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
        self._path = package.__path__
        self._known: dict[str, bool] = {}
        self.builtins: dict[str, Any] = {**vars(builtins), "__import__": self._import}
        _finder.programs[name] = self

    def close(self) -> None:
        """Removes the modules."""
        _finder.programs.pop(self._name, None)
        for each in [n for n in sys.modules if n.partition(".")[0] == self._name]:
            del sys.modules[each]

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if level or not self._holds(top):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        full = f"{self._name}.{name}"
        if fromlist:
            return builtins.__import__(full, globals, locals, fromlist)
        importlib.import_module(full)
        return sys.modules[f"{self._name}.{top}"]

    def _holds(self, top: str) -> bool:
        """Whether the folder holds a module or package of this name."""
        if top not in self._known:
            self._known[top] = top not in _RESERVED and self._is_found(top)
        return self._known[top]

    def _is_found(self, top: str) -> bool:
        spec = PathFinder.find_spec(f"{self._name}.{top}", self._path)
        if spec is None:
            return False
        # A folder without __init__.py counts only if nothing else has the name, as in Python.
        return spec.origin is not None or importlib.util.find_spec(top) is None


class _ModuleLoader(SourceFileLoader):
    """Loads a module of a program's folder."""

    def __init__(self, fullname: str, path: str, imports: FolderImports) -> None:
        super().__init__(fullname, path)
        self._imports = imports

    def get_code(self, fullname: str) -> CodeType:
        """Compiles the source; compiled code is neither read nor stored."""
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module with the import statement of its program."""
        module.__dict__["__builtins__"] = self._imports.builtins
        super().exec_module(module)


class _ProgramFinder(MetaPathFinder):
    """Finds modules of the packages that :class:`FolderImports` makes."""

    def __init__(self) -> None:
        self.programs: dict[str, FolderImports] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Finds a module, and gives it a loader of ours."""
        imports = self.programs.get(fullname.partition(".")[0])
        if imports is None or path is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _ModuleLoader(fullname, spec.loader.path, imports)
            spec.cached = None
        return spec


_finder = _ProgramFinder()
sys.meta_path.insert(0, _finder)
