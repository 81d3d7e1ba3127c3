"""Source of a control program."""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from linkwork.components.agents.control import Control
from linkwork.components.agents.program_imports import FolderImports
from linkwork.components.agents.watchdog import CallTimeout
from linkwork.core.errors import LinkworkError, Origin, ProgramError, listing, os_error_text
from linkwork.core.program_folder import read_program

_numbers = itertools.count(1)


@dataclass
class ProgramSource:
    """A program's text.

    Attributes:
        program: Name of the program, for messages.
        text: Python source.
        filename: Path in messages and debuggers; ``<name>`` for a text without file.
        folder: Folder from which the program's own modules are imported, or None.
    """

    program: str
    text: str
    filename: str
    folder: Path | None = None
    _module: ModuleType | None = field(default=None, repr=False)
    _imports: FolderImports | None = field(default=None, repr=False)

    def check(self) -> None:
        """Compiles without running.

        Raises:
            ProgramError: If the text is not Python.
        """
        try:
            compile(self.text, self.filename, "exec", dont_inherit=True)
        except Exception as error:
            raise self.fault(error) from error

    def own_attributes(self) -> set[str]:
        """Returns the names that the text reads or calls on ``self``."""
        return {
            node.attr
            for node in ast.walk(ast.parse(self.text))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        }

    def load(self) -> type[Control]:
        """Runs the text in its own module and returns the only program it defines.

        Raises:
            ProgramError: If it defines none or several.
        """
        code = compile(self.text, self.filename, "exec", dont_inherit=True)
        lines = self.text.splitlines(keepends=True)
        linecache.cache[self.filename] = (len(self.text), None, lines, self.filename)
        module = ModuleType(f"linkwork_program_{next(_numbers)}")
        module.__file__ = self.filename
        # Dataclasses and pickle look up a class's module by name.
        sys.modules[module.__name__] = self._module = module
        if self.folder is not None:
            self._imports = FolderImports(f"{module.__name__}_modules", self.folder)
            module.__dict__["__builtins__"] = self._imports.builtins
        exec(code, module.__dict__)
        return self._find(module)

    def unload(self) -> None:
        """Removes the module, and those that it imported from its folder."""
        if self._imports is not None:
            self._imports.close()
            self._imports = None
        if self._module is not None:
            sys.modules.pop(self._module.__name__, None)
            self._module = None

    def _find(self, module: ModuleType) -> type[Control]:
        own = [
            thing
            for thing in dict.fromkeys(t for t in vars(module).values() if isinstance(t, type))
            if thing.__module__ == module.__name__
        ]
        found = [thing for thing in own if issubclass(thing, Control)]
        bare = vars(module).get("Control")
        if not found and isinstance(bare, type):
            found = [thing for thing in own if issubclass(thing, bare)]
        leaves = [c for c in found if not any(o is not c and issubclass(o, c) for o in found)]
        if len(leaves) == 1:
            leaf = leaves[0]
            if issubclass(leaf, Control):
                return leaf
            return type(leaf.__name__, (leaf, Control), {"__module__": module.__name__})
        where = Origin(self.filename)
        if not leaves:
            raise ProgramError(
                f"program {self.program!r} defines no class that extends Control.",
                origin=where,
                hint=f"Classes in it: {listing(c.__name__ for c in own)}. Write 'class "
                "Follow(Control):' after 'from linkwork import Control', or 'class Control:'.",
            )
        raise ProgramError(
            f"program {self.program!r} defines {len(leaves)} programs: "
            f"{listing(c.__name__ for c in leaves)}.",
            origin=where,
            hint="Keep one, and put the others into files of their own.",
        )

    def fault(
        self,
        error: BaseException,
        call: Callable[..., Any] | None = None,
        timeout: float = 0.0,
    ) -> ProgramError:
        """Converts an exception to an error with its line in the user's file.

        Args:
            error: The exception.
            call: The called function, for exceptions that never reached the user's code.
            timeout: Timeout of the call [s].
        """
        if isinstance(error, ProgramError):
            return error
        if isinstance(error, CallTimeout):
            what = f"{_name(call)} has not returned for {timeout:g} s"
            hint = "Return quickly, and let every(), after() or loop() call you again."
        else:
            what, hint = self._explain(error)
        line = self._line(error, call)
        lines = self.text.splitlines()
        quoted = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        at = f", at '{quoted}'" if quoted else ""
        return ProgramError(
            f"program {self.program!r}: {what.rstrip('.')}{at}.",
            origin=Origin(self.filename, line),
            hint=hint,
        )

    def _explain(self, error: BaseException) -> tuple[str, str]:
        """A description of the error, and a hint."""
        if isinstance(error, LinkworkError):
            if error.origin is not None and error.origin.file:
                return f"{error.message.rstrip('.')} ({error.origin})", error.hint
            return error.message, error.hint
        if isinstance(error, SystemExit):
            return f"it called exit({error.code!r})", "Return instead; the session ends it."
        own = isinstance(error, SyntaxError) and error.filename == self.filename
        try:
            text = str(error.msg if own else error)  # type: ignore[attr-defined]
        except Exception:
            text = "(its message cannot be shown)"
        text = " ".join(text.split())
        text = f"{text[:500]}…" if len(text) > 500 else text
        kind = type(error).__name__
        return (f"{kind}: {text}" if text else kind), ""

    def _line(self, error: BaseException, call: Callable[..., Any] | None) -> int:
        """Line of the deepest frame in the user's file, else of the called function."""
        if isinstance(error, SyntaxError) and error.filename == self.filename:
            return error.lineno or 0
        line, trace = 0, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.filename:
                line = trace.tb_lineno
            trace = trace.tb_next
        if line:
            return line
        if isinstance(call, type):
            call = call.__init__
        code = getattr(getattr(call, "__func__", call), "__code__", None)
        return code.co_firstlineno if code and code.co_filename == self.filename else 0


def _name(call: Callable[..., Any] | None) -> str:
    name = getattr(call, "__name__", "")
    return f"{name}()" if name else "it"


class ProgramFile:
    """A program's file on disk.

    Args:
        file: Path, relative to the folder of the file that names it.
        program: Name of the program, for messages.
        origin: Where the file is named.

    Attributes:
        path: Its path.
    """

    def __init__(self, file: str, program: str, origin: Origin) -> None:
        self.path = Path(origin.file).parent / file if origin.file else Path(file)
        self._program, self._origin = program, origin
        self._stamp = self._stat()

    def read(self) -> str:
        """Returns the present text of the file.

        Raises:
            ProgramError: If it cannot be read.
        """
        self._stamp = self._stat()
        try:
            return read_program(self.path)
        except (OSError, ValueError) as error:
            why = os_error_text(error)
            why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else why
            raise ProgramError(
                f"program {self._program!r}: the file {str(self.path)!r} cannot be read: {why}.",
                origin=self._origin,
                hint="A relative path starts at the folder of the file that names it.",
            ) from None

    def changed(self) -> bool:
        """Whether its date or size changed since it was last read; False for a missing file."""
        now = self._stat()
        return now is not None and now != self._stamp

    def _stat(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_size
