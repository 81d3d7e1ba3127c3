"""Compiled symbolic dynamics: a loaded C library, or Numba kernels without a compiler."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import event

from linkwork import dynamics
from linkwork.core.errors import LinkworkError, os_error_text
from linkwork.core.jit import cache_directory, cpu_features
from linkwork.dynamics.symbolic import c_code
from linkwork.dynamics.symbolic.links import rotation
from linkwork.dynamics.symbolic.model import SymbolicModel
from linkwork.kinematics.forward import forward, shaped

#: Options of the C compiler; errno and floating point traps are not used.
FLAGS = (
    "-std=gnu11", "-O2", "-march=native", "-fno-math-errno", "-fno-trapping-math",
    "-fno-tree-reassoc", "-fPIC",
)  # fmt: skip

#: Numba event that is sent while generated C is compiled.
GENERATED_BY = "linkwork:derived"

_POINTER = ctypes.POINTER(ctypes.c_double)


def compiler() -> str | None:
    """Returns the C compiler of this machine: ``$CC``, else cc, gcc or clang; or None.

    Raises:
        LinkworkError: If ``$CC`` names no program.
    """
    wanted = os.environ.get("CC", "").strip()
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise LinkworkError(
                f"the environment variable CC is {wanted!r}, which is not a program.",
                hint="Set it to a C compiler without options, or unset it.",
            )
        return found
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


@cache
def version(chosen: str) -> str:
    """Returns the version of a compiler, in one line."""
    try:
        run = subprocess.run(
            [chosen, "--version"], capture_output=True, text=True, check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.partition("\n")[0].strip()


def build(
    model: SymbolicModel, name: str = "robot", wanted: Sequence[str] = c_code.ALL
) -> Path | None:
    """Compiles the C file of a model into a library; None if there is no compiler.

    Libraries are cached by text, compiler and CPU.

    Raises:
        LinkworkError: If the compiler rejects the file.
    """
    chosen = compiler()
    if chosen is None:
        return None
    files = {
        f"{name}.h": c_code.header(model, name, wanted),
        f"{name}.c": c_code.source(model, name, wanted),
    }
    words = "\0".join([*files.values(), chosen, version(chosen), *FLAGS, cpu_features()])
    key = hashlib.sha256(words.encode()).hexdigest()[:20]
    folder = cache_directory().parent / "derived"
    library = folder / f"{name}-{key}.so"
    if library.exists():
        return library
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            for file, text in files.items():
                (Path(place) / file).write_text(text, encoding="utf-8")
            _compile(chosen, Path(place), f"{name}.c").replace(library)
    except OSError as error:
        raise LinkworkError(
            f"compiled code cannot be stored in {folder}: {os_error_text(error)}.",
            hint="Set the environment variable LINKWORK_CACHE to a writable folder.",
        ) from None
    return library


def _compile(chosen: str, folder: Path, file: str) -> Path:
    """Returns the library compiled from a file."""
    made = folder / "library.so"
    command = [chosen, *FLAGS, "-shared", file, "-lm", "-o", made.name]
    try:
        with event.trigger_event(GENERATED_BY):
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        refused = run.returncode != 0 or not made.exists()
        why = run.stderr.strip()[:400] or f"it ends with {run.returncode}"
    except OSError as error:
        refused, why = True, str(error)
    if refused:
        raise LinkworkError(
            f"{chosen} rejects the generated C file: {why}.",
            hint="Name another compiler with the environment variable CC.",
        )
    return made


class CompiledDynamics:
    """The dynamics of a world as compiled code.

    Args:
        model: The model, or a world to be traced.
        name: Prefix of its C functions.
        use: "c", "numba", or "" for C if there is a compiler.
        wanted: Functions of the C file; the others are then Numba kernels.

    Attributes:
        how: "c" or "numba".
        library: The compiled file, if there is one.
        functions: The C functions by name, as ctypes objects; Numba kernels may call them with
            ``array.ctypes``. Empty without C.
    """

    def __init__(
        self, model: SymbolicModel, name: str = "robot", *, use: str = "",
        wanted: Sequence[str] = c_code.ALL,
    ) -> None:  # fmt: skip
        if use not in ("", "c", "numba"):
            raise LinkworkError(f"use must be 'c' or 'numba', not {use!r}.")
        self.model, self.world = model, model.world
        self.functions: dict[str, Any] = {}
        library = None if use == "numba" else build(model, c_code.identifier(name), wanted)
        if library is None and use == "c":
            raise LinkworkError(
                "there is no C compiler on this machine.",
                hint="Install gcc or clang, or set the environment variable CC.",
            )
        self.how = "numba" if library is None else "c"
        self.library = library
        if library is not None:
            self._library = _loaded(library)
            for each in c_code.functions(model, wanted):
                function = getattr(self._library, f"{c_code.identifier(name)}_{each.name}")
                function.argtypes = [_POINTER] * (len(each.inputs) + 1)
                function.restype = None
                self.functions[each.name] = function

    def address(self, name: str) -> int:
        """Returns the address of a C function, for kernels that call it."""
        made = ctypes.cast(self.functions[name], ctypes.c_void_p).value
        assert made is not None
        return made

    def _call(self, name: str, size: int, **given: np.ndarray) -> np.ndarray:
        made = np.zeros(size)
        lengths = {"q": self.world.nq}
        arrays = [
            np.ascontiguousarray(shaped(what, each, (lengths.get(what, self.world.nv),)))
            for what, each in given.items()
        ]
        self.functions[name](*(each.ctypes.data_as(_POINTER) for each in [*arrays, made]))
        return made

    def poses(self, q: np.ndarray) -> np.ndarray:
        """Returns origin [m] and rotation matrix of each body (nb×12)."""
        nb = self.world.nb
        if "poses" in self.functions:
            return self._call("poses", nb * 12, q=q).reshape(nb, 12)
        placed = forward(self.world, q)
        turns = np.array([rotation(row[3:]).reshape(9) for row in placed])
        return np.column_stack([placed[:, :3], turns])

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Returns M(q) (nv×nv)."""
        nv = self.world.nv
        if "mass_matrix" in self.functions:
            return self._call("mass_matrix", nv * nv, q=q).reshape(nv, nv)
        return dynamics.crba(self.world, q)

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Returns the efforts c(q, v)."""
        if "bias" in self.functions:
            return self._call("bias", self.world.nv, q=q, v=v)
        return dynamics.bias(self.world, q, v, gravity=self.model.gravity)

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Returns the efforts M(q) a + c(q, v)."""
        if "inverse_dynamics" in self.functions:
            return self._call("inverse_dynamics", self.world.nv, q=q, v=v, a=a)
        return dynamics.rnea(self.world, q, v, a, gravity=self.model.gravity)

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, effort: np.ndarray) -> np.ndarray:
        """Returns the accelerations M(q)⁻¹ (effort − c(q, v))."""
        if "forward_dynamics" in self.functions:
            return self._call("forward_dynamics", self.world.nv, q=q, v=v, effort=effort)
        return dynamics.aba(self.world, q, v, effort, gravity=self.model.gravity)


def _loaded(library: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        raise LinkworkError(f"{library} cannot be loaded: {error}.") from None
