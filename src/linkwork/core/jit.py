"""Compilation of kernels, with a cache of their machine code.

Numba keys its cache by a file's path and time stamp and does not detect a changed callee in another
file. The name of the cache directory therefore contains a hash of the package's path, numba's
version and the CPU. It has a folder for each kernel file, named by a hash of that file and of all
its imports: a change of any of them creates a new folder, and independent kernels stay compiled.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import config as numba_config

_ROOT = Path(__file__).parents[1]
_KERNEL_FILES = "*kernels*.py"
_IMPORT = re.compile(r"^from (linkwork[.\w]*) import (\([^)]*\)|.*)$", re.MULTILINE)


@cache
def source_hash() -> str:
    """Hash of all kernel sources of the package."""
    return _hash([*_ROOT.rglob(_KERNEL_FILES), Path(__file__)])


@cache
def sources_of(path: Path) -> frozenset[Path]:
    """Returns a kernel file and all files of the package that it imports, directly or not."""
    found, waiting = {Path(__file__)}, [path]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += _imported(each)
    return frozenset(found)


def _imported(path: Path) -> Iterator[Path]:
    """Returns the files of the package that a file imports by ``from``, as all kernel files do."""
    for module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        place = _ROOT.joinpath(*module.split(".")[1:])
        if place.with_suffix(".py").is_file():
            yield place.with_suffix(".py")
            continue
        for name in re.findall(r"\w+", names):
            if (place / f"{name}.py").is_file():
                yield place / f"{name}.py"


def _hash(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(os.path.relpath(path, _ROOT).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cpu_features() -> str:
    """Returns the name and features of this CPU that compiled code depends on."""
    features = llvm.get_host_cpu_features()
    present = ",".join(sorted(name for name, there in features.items() if there))
    return f"{platform.machine()} {llvm.get_host_cpu_name()} {present}"


@cache
def cache_directory() -> Path:
    """Returns the cache folder for this package, this version of numba and this CPU."""
    base = os.environ.get("LINKWORK_CACHE")
    if base is None:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(base) / "linkwork")
    words = (str(_ROOT), numba.__version__, cpu_features())
    key = hashlib.sha256(" ".join(words).encode())
    return Path(base) / f"kernels-{key.hexdigest()[:16]}"


@cache
def folder_of(path: Path) -> Path:
    """Returns the cache folder of a kernel file, which changes with its dependencies."""
    return cache_directory() / f"{path.stem}-{_hash(sources_of(path))}"


def kernels_kept() -> int:
    """Returns the number of cached kernels of the present sources."""
    folders = [folder_of(path) for path in _ROOT.rglob(_KERNEL_FILES)]
    return sum(1 for folder in folders for _ in folder.rglob("*.nbc"))


# Vectorizes straight-line code over adjacent numbers; results are bit-identical.
numba_config.SLP_VECTORIZE = 1  # type: ignore[attr-defined]


def _compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Returns numba's decorator with the cache folder of the decorated function's file."""

    def compiled(function: Callable[..., Any]) -> Any:
        # Numba reads the folder once, when it decorates a function.
        path = Path(function.__code__.co_filename)
        before = numba_config.CACHE_DIR  # type: ignore[attr-defined]
        numba_config.CACHE_DIR = str(folder_of(path))  # type: ignore[attr-defined]
        try:
            return numba.njit(cache=True, fastmath=False, error_model="numpy", **options)(function)
        finally:
            numba_config.CACHE_DIR = before  # type: ignore[attr-defined]

    return compiled


#: Compiles a function over flat arrays: float64, cached, no fast-math, no threads (bit-exact).
kernel = _compiled()

#: As ``kernel``, for functions that allocate no arrays: array views then need no atomic reference
#: counts. A kernel that allocates an array does not compile.
flat_kernel = _compiled(_nrt=False)

#: As ``flat_kernel``, for functions called in inner loops: they are inlined, because passing arrays
#: costs more than most of them compute.
inner_kernel = _compiled(_nrt=False, forceinline=True)

#: As ``kernel``, for functions that allocate arrays and are called by flat kernels: numba would
#: otherwise compile them with the options of their caller.
array_kernel = _compiled(_nrt=True)
