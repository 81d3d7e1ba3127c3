"""Derived code at work: the C file compiled and loaded, or kernels where there is no compiler."""

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

from linkwork.dynamics import recursive
from linkwork.dynamics.symbolic import c_code
from linkwork.dynamics.symbolic.links import rotation
from linkwork.dynamics.symbolic.model import Model
from linkwork.errors import LinkworkError
from linkwork.jit import cache_directory, cpu_features
from linkwork.kinematics.forward import forward, shaped

#: How the C file is compiled; errno and traps of the floating point unit are nobody's business.
FLAGS = (
    "-std=gnu11", "-O2", "-march=native", "-fno-math-errno", "-fno-trapping-math",
    "-fno-tree-reassoc", "-fPIC",
)  # fmt: skip

#: Listeners of numba's events hear this one while derived C is compiled.
DERIVED = "linkwork:derived"

_POINTER = ctypes.POINTER(ctypes.c_double)


def compiler() -> str | None:
    """The C compiler of this machine: ``$CC``, else cc, gcc or clang; None if there is none.

    Raises:
        LinkworkError: ``$CC`` names no program.
    """
    wanted = os.environ.get("CC", "").strip()
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise LinkworkError(
                f"the environment variable CC is {wanted!r}, which is no program here.",
                hint="Let it name a C compiler, without options, or leave it away.",
            )
        return found
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


@cache
def version(chosen: str) -> str:
    """What a compiler says of itself, in one line."""
    try:
        run = subprocess.run(
            [chosen, "--version"], capture_output=True, text=True, check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.partition("\n")[0].strip()


def build(model: Model, name: str = "robot", wanted: Sequence[str] = c_code.ALL) -> Path | None:
    """Compiles the C file of a model into a library; None where there is no compiler.

    Libraries are kept: one for each text, compiler and CPU.

    Raises:
        LinkworkError: The compiler refuses the file.
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
            f"compiled code cannot be kept in {folder}: {error.strerror or error}.",
            hint="Let the environment variable LINKWORK_CACHE name a folder that can be written.",
        ) from None
    return library


def _compile(chosen: str, folder: Path, file: str) -> Path:
    """The library that a compiler makes of a file."""
    made = folder / "library.so"
    command = [chosen, *FLAGS, "-shared", file, "-lm", "-o", made.name]
    try:
        with event.trigger_event(DERIVED):
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        refused = run.returncode != 0 or not made.exists()
        why = run.stderr.strip()[:400] or f"it ends with {run.returncode}"
    except OSError as error:
        refused, why = True, str(error)
    if refused:
        raise LinkworkError(
            f"{chosen} refuses the derived C file: {why}.",
            hint="Name another compiler with the environment variable CC.",
        )
    return made


class Compiled:
    """The dynamics of a world as fast code.

    Args:
        model: The model, or a world to be traced.
        name: Of its C functions.
        use: "c", "numba", or "" for C where a compiler exists.
        wanted: Functions that the C file has; the others are then Numba kernels.

    Attributes:
        how: "c" or "numba".
        library: The compiled file, if there is one.
        functions: The C functions by name, as ctypes takes them; Numba kernels may call them with
            ``array.ctypes``. Empty without C.
    """

    def __init__(
        self, model: Model, name: str = "robot", *, use: str = "",
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
        """Where a C function begins, for kernels that call it themselves."""
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
        """Origin [m] and rotation matrix of each body (nb×12)."""
        nb = self.world.nb
        if "poses" in self.functions:
            return self._call("poses", nb * 12, q=q).reshape(nb, 12)
        placed = forward(self.world, q)
        turns = np.array([rotation(row[3:]).reshape(9) for row in placed])
        return np.column_stack([placed[:, :3], turns])

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M(q) (nv×nv)."""
        nv = self.world.nv
        if "mass_matrix" in self.functions:
            return self._call("mass_matrix", nv * nv, q=q).reshape(nv, nv)
        return recursive.crba(self.world, q)

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Efforts c(q, v)."""
        if "bias" in self.functions:
            return self._call("bias", self.world.nv, q=q, v=v)
        return recursive.bias(self.world, q, v, gravity=self.model.gravity)

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Efforts M(q) a + c(q, v)."""
        if "inverse_dynamics" in self.functions:
            return self._call("inverse_dynamics", self.world.nv, q=q, v=v, a=a)
        return recursive.rnea(self.world, q, v, a, gravity=self.model.gravity)

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, effort: np.ndarray) -> np.ndarray:
        """Accelerations M(q)⁻¹ (effort − c(q, v))."""
        if "forward_dynamics" in self.functions:
            return self._call("forward_dynamics", self.world.nv, q=q, v=v, effort=effort)
        return recursive.aba(self.world, q, v, effort, gravity=self.model.gravity)


def _loaded(library: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        raise LinkworkError(f"{library} cannot be loaded: {error}.") from None
