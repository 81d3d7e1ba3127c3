"""Parameters of Lagrange's equations: a robot's numbers, or symbols as in a textbook."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.dynamics.symbolic.links import rotation
from linkwork.model.world import World


class NumericParameters:
    """The world's numbers."""

    def __init__(self, world: World, sympy: Any, gravity: np.ndarray) -> None:
        self.world, self.sympy, self._gravity = world, sympy, gravity

    def _exact(self, value: float) -> Any:
        near = round(value)
        return self.sympy.Integer(near) if value == near else self.sympy.Float(value, 17)

    def _array(self, values: np.ndarray) -> Any:
        rows = [[self._exact(float(x)) for x in np.atleast_1d(row)] for row in values]
        return self.sympy.Matrix(rows)

    def turn(self, b: int) -> Any:
        """Returns the axes of the joint's frame in the parent body's."""
        return self._array(rotation(self.world.x0[b, 3:]))

    def axis(self, b: int) -> Any:
        """Returns the joint's axis."""
        return self._array(self.world.axis[b])

    def axis2(self, b: int) -> Any:
        """Returns its second axis."""
        return self._array(self.world.axis2[b])

    def shift(self, b: int) -> Any:
        """Returns the position of the joint's frame in the parent body's [m]."""
        return self._array(self.world.x0[b, :3])

    def pivot(self, b: int) -> Any:
        """Returns the position of the joint in the body's own frame [m]."""
        return self._array(self.world.pivot[b])

    def com(self, b: int) -> Any:
        """Returns the center of mass in the body's frame [m]."""
        return self._array(self.world.com[b])

    def mass(self, b: int) -> Any:
        """Returns the mass [kg]."""
        return self._exact(float(self.world.mass[b]))

    def inertia(self, b: int) -> Any:
        """Returns the inertia about the center of mass, body axes [kg m²]."""
        return self._array(self.world.inertia[b])

    def armature(self, dof: int) -> Any:
        """Returns the rotor inertia [kg m²]."""
        return self._exact(float(self.world.armature[dof]))

    def gravity(self) -> Any:
        """Returns the gravitational acceleration [m/s²]."""
        return self._array(self._gravity)

    def short(self, made: Any) -> Any:
        """Returns results with shorter names if those are unique."""
        return made


class SymbolicParameters(NumericParameters):
    """Symbols of nonzero parameters: masses m, lengths l, mass centers r, inertias I, gravity g.

    Bodies count from 1. Length l₁ is the distance from the joint of body 1 to that of the body it
    carries. A vector has one symbol for each nonzero component, without index if there is only one.
    """

    def __init__(self, world: World, sympy: Any, gravity: np.ndarray) -> None:
        super().__init__(world, sympy, gravity)
        moving = [b for b in range(1, world.nb) if not world.is_static(b)]
        self._number = {b: n + 1 for n, b in enumerate(moving)}
        self._long: dict[str, list[Any]] = {}

    def _symbol(self, stem: str, tail: str = "") -> Any:
        name = f"{stem}{tail and ',' + tail}"
        letter, _, index = name.partition("_")
        made = self.sympy.Symbol(f"{letter}_{{{index}}}" if index else letter, positive=True)
        kept = self._long.setdefault(stem, [])
        if made not in kept:
            kept.append(made)
        return made

    def _vector(self, stem: str, values: np.ndarray) -> Any:
        rows = []
        for value, tail in zip(values.tolist(), "xyz", strict=True):
            small = abs(value) < 1e-12
            symbol = 0 if small else self._symbol(stem, tail) * (1 if value > 0 else -1)
            rows.append(symbol)
        return self.sympy.Matrix(rows)

    def shift(self, b: int) -> Any:
        """Returns the position of the joint, from the joint of the parent body."""
        world = self.world
        p = int(world.parent[b])
        values = world.x0[b, :3] + rotation(world.x0[b, 3:]) @ world.pivot[b]
        if p not in self._number:
            return self._vector("l_0", values)
        values = values - world.pivot[p]
        siblings = [c for c in self._number if world.parent[c] == p]
        own = self._number.get(p, p)
        tail = "" if len(siblings) == 1 else f"{siblings.index(b) + 1}"
        return self._vector(f"l_{own}{tail}", values)

    def pivot(self, b: int) -> Any:
        """Returns zero: bodies are measured from their joints."""
        return self.sympy.zeros(3, 1)

    def com(self, b: int) -> Any:
        """Returns the center of mass, from the body's joint."""
        if b not in self._number:
            return self.sympy.zeros(3, 1)
        return self._vector(f"r_{self._number[b]}", self.world.com[b] - self.world.pivot[b])

    def mass(self, b: int) -> Any:
        """Returns the mass."""
        there = b in self._number and self.world.mass[b]
        return self._symbol(f"m_{self._number[b]}") if there else self.sympy.Integer(0)

    def inertia(self, b: int) -> Any:
        """Returns the inertia about the center of mass, body axes."""
        if b not in self._number:
            return self.sympy.zeros(3, 3)
        own, values = self._number[b], self.world.inertia[b]
        small = 1e-12 * max(1e-12, float(np.abs(values).max()))
        made = self.sympy.zeros(3, 3)
        for i in range(3):
            for j in range(i, 3):
                if abs(values[i, j]) > small:
                    made[i, j] = made[j, i] = self._symbol(f"I_{own}", "xyz"[i] + "xyz"[j])
        return made

    def armature(self, dof: int) -> Any:
        """Returns the rotor inertia."""
        there = self.world.armature[dof] != 0.0
        return self._symbol(f"J_{dof + 1}") if there else self.sympy.Integer(0)

    def gravity(self) -> Any:
        """Returns the gravitational acceleration."""
        return self._vector("g", self._gravity)

    def short(self, made: Any) -> Any:
        """Removes the component from a name if a vector or inertia has only one."""
        present = made.free_symbols
        swap = {}
        for stem, symbols in self._long.items():
            counted = [symbol for symbol in symbols if symbol in present]
            if len(counted) == 1:
                letter, _, index = stem.partition("_")
                swap[counted[0]] = self.sympy.Symbol(
                    f"{letter}_{{{index}}}" if index else letter, positive=True
                )
        return made.subs(swap)
