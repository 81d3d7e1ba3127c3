"""The one decorator for compiled kernels, and the directory where their machine code is kept.

Numba keys its cache by a file's place and time stamp and does not notice a changed callee in
another file. So the cache directory carries a hash of where the package is, of numba's version and
the CPU, and has a folder for each kernel file, named by a hash of that file and of all it imports:
a change of any of them is a new folder, and whatever does not stand on it stays compiled.
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

_ROOT = Path(__file__).parent
_KERNEL_FILES = "*kernels*.py"
_IMPORT = re.compile(r"^from (linkwork[.\w]*) import (\([^)]*\)|.*)$", re.MULTILINE)


@cache
def source_hash() -> str:
    """Hash of all kernel sources of the package."""
    return _hash([*_ROOT.rglob(_KERNEL_FILES), Path(__file__)])


@cache
def sources_of(path: Path) -> frozenset[Path]:
    """A kernel file and all files of the package that it stands on, directly or through others."""
    found, waiting = {Path(__file__)}, [path]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += _imported(each)
    return frozenset(found)


def _imported(path: Path) -> Iterator[Path]:
    """Files of the package that a file imports by ``from``, as kernel files do all of theirs."""
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
    """Name and features of this CPU, as far as compiled code depends on them."""
    features = llvm.get_host_cpu_features()
    present = ",".join(sorted(name for name, there in features.items() if there))
    return f"{platform.machine()} {llvm.get_host_cpu_name()} {present}"


@cache
def cache_directory() -> Path:
    """Where machine code of this package, this numba and this CPU is kept."""
    base = os.environ.get("LINKWORK_CACHE")
    if base is None:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(base) / "linkwork")
    words = (str(_ROOT), numba.__version__, cpu_features())
    key = hashlib.sha256(" ".join(words).encode())
    return Path(base) / f"kernels-{key.hexdigest()[:16]}"


@cache
def folder_of(path: Path) -> Path:
    """Where machine code of a kernel file is kept, as long as nothing it stands on changes."""
    return cache_directory() / f"{path.stem}-{_hash(sources_of(path))}"


def kernels_kept() -> int:
    """How many compiled kernels of exactly these sources there are."""
    folders = [folder_of(path) for path in _ROOT.rglob(_KERNEL_FILES)]
    return sum(1 for folder in folders for _ in folder.rglob("*.nbc"))


# Straight-line code over neighbouring numbers takes several at once; that changes no bit.
numba_config.SLP_VECTORIZE = 1  # type: ignore[attr-defined]


def _compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Numba's decorator with a cache of the file that it is used in."""

    def compiled(function: Callable[..., Any]) -> Any:
        # Numba asks for the folder when it is handed a function, and never again.
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

#: As ``kernel``, for functions that make no arrays: views of arrays then cost nothing, where else
#: each is counted in and out, atomically. A kernel that makes one after all does not compile.
flat_kernel = _compiled(_nrt=False)

#: As ``flat_kernel``, for what is called in inner loops: it becomes part of its caller, because
#: handing over arrays costs more than most of them compute.
inner_kernel = _compiled(_nrt=False, forceinline=True)

#: As ``kernel``, for functions that make arrays and are called by flat ones: numba would otherwise
#: compile them as flat as their caller.
array_kernel = _compiled(_nrt=True)
