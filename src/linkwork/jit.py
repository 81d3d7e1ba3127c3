"""The one decorator for compiled kernels, and the directory where their machine code is kept.

Numba keys its cache by a file's place and time stamp and does not notice a changed callee in
another file. So the cache directory carries a hash of where the package is, of every kernel source,
numba's version and the CPU: a change of any of them is a new directory.
"""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import config as numba_config

_KERNEL_FILES = "*kernels*.py"


@cache
def source_hash() -> str:
    """Hash of all kernel sources of the package."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in sorted([*root.rglob(_KERNEL_FILES), Path(__file__)]):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cpu_features() -> str:
    """Name and features of this CPU, as far as compiled code depends on them."""
    features = llvm.get_host_cpu_features()
    present = ",".join(sorted(name for name, there in features.items() if there))
    return f"{platform.machine()} {llvm.get_host_cpu_name()} {present}"


@cache
def cache_directory() -> Path:
    """Where machine code for exactly these sources, this numba and this CPU is kept."""
    base = os.environ.get("LINKWORK_CACHE")
    if base is None:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(base) / "linkwork")
    words = (str(Path(__file__).parent), source_hash(), numba.__version__, cpu_features())
    key = hashlib.sha256(" ".join(words).encode())
    return Path(base) / f"kernels-{key.hexdigest()[:16]}"


numba_config.CACHE_DIR = str(cache_directory())  # type: ignore[attr-defined]
# Straight-line code over neighbouring numbers takes several at once; that changes no bit.
numba_config.SLP_VECTORIZE = 1  # type: ignore[attr-defined]

#: Compiles a function over flat arrays: float64, cached, no fast-math, no threads (bit-exact).
kernel = numba.njit(cache=True, fastmath=False, error_model="numpy")

_FLAT: dict[str, Any] = {
    "cache": True, "fastmath": False, "error_model": "numpy", "_nrt": False,
}  # fmt: skip

#: As ``kernel``, for functions that make no arrays: views of arrays then cost nothing, where else
#: each is counted in and out, atomically. A kernel that makes one after all does not compile.
flat_kernel = numba.njit(**_FLAT)

#: As ``flat_kernel``, for what is called in inner loops: it becomes part of its caller, because
#: handing over arrays costs more than most of them compute.
inner_kernel = numba.njit(**_FLAT, forceinline=True)

_ARRAY: dict[str, Any] = {**_FLAT, "_nrt": True}

#: As ``kernel``, for functions that make arrays and are called by flat ones: numba would otherwise
#: compile them as flat as their caller.
array_kernel = numba.njit(**_ARRAY)
