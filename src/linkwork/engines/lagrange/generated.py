"""Generated: the dynamics of an engine's bodies as compiled C, where that can be had."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from linkwork.dynamics.symbolic import Compiled, Model, count_operations
from linkwork.dynamics.symbolic.compiled import compiler, version
from linkwork.engines.lagrange.generated_kernels import FORWARD, MASS
from linkwork.errors import LinkworkError
from linkwork.world import World

#: Functions that the step needs.
WANTED = ("mass_matrix", "forward_dynamics")
#: Operations of both, above which a compiler would take minutes.
MOST_OPERATIONS = 20_000

_RECURSIVE = "so recursive kernels are used"


@dataclass
class Generated:
    """What became of the wish for generated code.

    Attributes:
        text: What to tell people.
        made: Which code it is, as recordings note it.
        addresses: Of the functions, as kernels read them; zeros where there are none.
    """

    text: str
    made: str = "recursive kernels"
    addresses: np.ndarray = field(default_factory=lambda: np.zeros(2, np.int64))
    _code: Compiled | None = None  # keeps the library loaded

    @property
    def there(self) -> bool:
        """Whether there is compiled code."""
        return self._code is not None


def generate(world: World, bodies: np.ndarray, armature: np.ndarray) -> Generated:
    """Derives, compiles and loads; says why where it cannot.

    Args:
        world: The world.
        bodies: Mask over those that the engine moves.
        armature: Rotor inertia that moves with the joints (nv).
    """
    try:
        chosen = compiler()
        if chosen is None:
            return Generated(f"there is no C compiler on this machine, {_RECURSIVE}.")
        model = Model(world, armature=armature, bodies=bodies)
        entries = [each for row in model.mass_matrix for each in row]
        total = sum(count_operations([*model.forward_dynamics, *entries]).values())
        if total > MOST_OPERATIONS:
            return Generated(
                f"its equations have {total} operations, more than {MOST_OPERATIONS}, {_RECURSIVE}."
            )
        code = Compiled(model, "engine", use="c", wanted=WANTED)
    except LinkworkError as error:
        return Generated(f"{str(error).rstrip('.')}, {_RECURSIVE}.")
    assert code.library is not None
    key = hashlib.sha256(code.library.read_bytes()).hexdigest()[:12]
    addresses = np.zeros(2, np.int64)
    addresses[FORWARD] = code.address("forward_dynamics")
    addresses[MASS] = code.address("mass_matrix")
    by = version(chosen) or chosen
    text = f"moved by generated C, {total} operations, compiled by {by}."
    return Generated(text, f"C {key} by {by}", addresses, code)
