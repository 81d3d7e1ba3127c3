"""Generated C code: the dynamics of an engine's bodies, compiled if possible."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.dynamics.symbolic import CompiledDynamics, SymbolicModel, count_operations
from linkwork.dynamics.symbolic.compiled import compiler, version
from linkwork.engines.lagrange.acceleration_kernels import FORWARD, MASS
from linkwork.model.world import World

#: Functions of a step.
REQUIRED_FUNCTIONS = ("mass_matrix", "forward_dynamics")
#: Number of operations above which compilation would take minutes.
MAX_OPERATIONS = 20_000

_RECURSIVE = "so recursive kernels are used"


@dataclass
class GeneratedCode:
    """Result of code generation.

    Attributes:
        text: Message to the user.
        made: Name of the code in recordings.
        addresses: Addresses of the functions for the kernels; zeros if there are none.
    """

    text: str
    made: str = "recursive kernels"
    addresses: np.ndarray = field(default_factory=lambda: np.zeros(2, np.int64))
    _code: CompiledDynamics | None = None  # keeps the library loaded

    @property
    def there(self) -> bool:
        """Whether there is compiled code."""
        return self._code is not None


def generate(world: World, bodies: np.ndarray, armature: np.ndarray) -> GeneratedCode:
    """Derives, compiles and loads the code; the text gives the reason if that fails.

    Args:
        world: The world.
        bodies: Mask over bodies of the engine.
        armature: Rotor inertia that moves with the joints (nv).
    """
    try:
        chosen = compiler()
        if chosen is None:
            return GeneratedCode(f"there is no C compiler on this machine, {_RECURSIVE}.")
        model = SymbolicModel(world, armature=armature, bodies=bodies)
        entries = [each for row in model.mass_matrix for each in row]
        total = sum(count_operations([*model.forward_dynamics, *entries]).values())
        if total > MAX_OPERATIONS:
            return GeneratedCode(
                f"its equations have {total} operations, more than {MAX_OPERATIONS}, {_RECURSIVE}."
            )
        code = CompiledDynamics(model, "engine", use="c", wanted=REQUIRED_FUNCTIONS)
    except LinkworkError as error:
        return GeneratedCode(f"{str(error).rstrip('.')}, {_RECURSIVE}.")
    assert code.library is not None
    key = hashlib.sha256(code.library.read_bytes()).hexdigest()[:12]
    addresses = np.zeros(2, np.int64)
    addresses[FORWARD] = code.address("forward_dynamics")
    addresses[MASS] = code.address("mass_matrix")
    by = version(chosen) or chosen
    text = f"moved by generated C, {total} operations, compiled by {by}."
    return GeneratedCode(text, f"C {key} by {by}", addresses, code)
