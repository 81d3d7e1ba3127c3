"""Expression graph built by tracing arithmetic, with common subexpressions shared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

NUMBER, INPUT, ADD, SUB, MUL, DIV, NEG, SIN, COS = range(9)

_SHOWN = 60  # written in full, shared nodes would be repeated


class Expression:
    """A node of an :class:`ExpressionGraph`: a number, an input, or an operation on other nodes.

    Attributes:
        graph: The graph that it belongs to.
        op: One of the codes of this module.
        args: Operands.
        value: Of a number.
        name: Of an input, in generated code.
        serial: Order of creation; operands precede the node.
    """

    __slots__ = ("args", "graph", "name", "op", "serial", "value")

    def __init__(
        self, graph: ExpressionGraph, op: int, args: tuple[Expression, ...], value: float, name: str
    ) -> None:
        self.graph = graph
        self.op = op
        self.args = args
        self.value = value
        self.name = name
        self.serial = graph.size
        graph.size += 1

    def __add__(self, other: Expression | float) -> Expression:
        return self.graph.add(self, self.graph.of(other))

    __radd__ = __add__

    def __sub__(self, other: Expression | float) -> Expression:
        return self.graph.subtract(self, self.graph.of(other))

    def __rsub__(self, other: float) -> Expression:
        return self.graph.subtract(self.graph.of(other), self)

    def __mul__(self, other: Expression | float) -> Expression:
        return self.graph.multiply(self, self.graph.of(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Expression | float) -> Expression:
        return self.graph.divide(self, self.graph.of(other))

    def __rtruediv__(self, other: float) -> Expression:
        return self.graph.divide(self.graph.of(other), self)

    def __neg__(self) -> Expression:
        return self.graph.negate(self)

    @property
    def is_zero(self) -> bool:
        """Whether it is the number 0."""
        return self.op == NUMBER and self.value == 0.0

    def __repr__(self) -> str:
        from linkwork.dynamics.symbolic.printer import text

        size = len(dependencies_of([self]))
        return text(self) if size <= _SHOWN else f"<expression of {size} nodes>"


class ExpressionGraph:
    """Creates expressions; equal ones are shared, and constant ones are computed immediately.

    Adding 0, multiplying by 0 or 1, operations on numbers alone and double negation create no
    nodes, so that traced code contains only what depends on the motion.
    """

    def __init__(self) -> None:
        self.size = 0
        self._kept: dict[tuple[object, ...], Expression] = {}
        self.zero = self.number(0.0)
        self.one = self.number(1.0)

    def _keep(
        self, op: int, args: tuple[Expression, ...], value: float = 0.0, name: str = ""
    ) -> Expression:
        key = (op, value, name, *(each.serial for each in args))
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = Expression(self, op, args, value, name)
        return found

    def number(self, value: float) -> Expression:
        """Returns the number ``value``."""
        return self._keep(NUMBER, (), float(value) + 0.0)  # −0 is 0

    def input(self, name: str) -> Expression:
        """Returns an input by its name in generated code."""
        return self._keep(INPUT, (), 0.0, name)

    def of(self, thing: Expression | float) -> Expression:
        """Returns the expression itself, or the number as one."""
        return thing if isinstance(thing, Expression) else self.number(thing)

    def negate(self, a: Expression) -> Expression:
        """Returns −a."""
        if a.op == NUMBER:
            return self.number(-a.value)
        if a.op == NEG:
            return a.args[0]
        if a.op == SUB:
            return self.subtract(a.args[1], a.args[0])
        return self._keep(NEG, (a,))

    def add(self, a: Expression, b: Expression) -> Expression:
        """Returns a + b."""
        if a.op == NUMBER and b.op == NUMBER:
            return self.number(a.value + b.value)
        if a.is_zero:
            return b
        if b.is_zero:
            return a
        if b.op == NEG:
            return self.subtract(a, b.args[0])
        if a.op == NEG:
            return self.subtract(b, a.args[0])
        if a.serial > b.serial:
            a, b = b, a
        return self._keep(ADD, (a, b))

    def subtract(self, a: Expression, b: Expression) -> Expression:
        """Returns a − b."""
        if a is b:
            return self.zero
        if a.op == NUMBER and b.op == NUMBER:
            return self.number(a.value - b.value)
        if b.is_zero:
            return a
        if a.is_zero:
            return self.negate(b)
        if b.op == NEG:
            return self.add(a, b.args[0])
        if a.op == NEG:
            return self.negate(self.add(a.args[0], b))
        # the opposite difference may exist already
        found = self._kept.get((SUB, 0.0, "", b.serial, a.serial))
        return self._keep(NEG, (found,)) if found is not None else self._keep(SUB, (a, b))

    def multiply(self, a: Expression, b: Expression) -> Expression:
        """Returns a b."""
        if a.op == NUMBER and b.op == NUMBER:
            return self.number(a.value * b.value)
        if b.op == NUMBER:
            a, b = b, a
        if a.op == NUMBER:
            if a.value == 0.0:
                return self.zero
            if a.value == 1.0:
                return b
            if a.value < 0.0:
                return self.negate(self.multiply(self.number(-a.value), b))
            if b.op == MUL and b.args[0].op == NUMBER:
                return self.multiply(self.number(a.value * b.args[0].value), b.args[1])
        if a.op == NEG:
            return self.negate(self.multiply(a.args[0], b))
        if b.op == NEG:
            return self.negate(self.multiply(a, b.args[0]))
        if a.op != NUMBER and a.serial > b.serial:
            a, b = b, a
        return self._keep(MUL, (a, b))

    def divide(self, a: Expression, b: Expression) -> Expression:
        """Returns a / b."""
        if b.op == NUMBER:
            return self.multiply(self.number(1.0 / b.value), a) if b.value else self._by_nothing()
        if a.is_zero:
            return a
        if a.op == NEG:
            return self.negate(self.divide(a.args[0], b))
        if b.op == NEG:
            return self.negate(self.divide(a, b.args[0]))
        return self._keep(DIV, (a, b))

    def _by_nothing(self) -> Expression:
        return self.number(math.nan)

    def sine(self, a: Expression) -> Expression:
        """Returns sin a."""
        return self.number(math.sin(a.value)) if a.op == NUMBER else self._keep(SIN, (a,))

    def cosine(self, a: Expression) -> Expression:
        """Returns cos a."""
        return self.number(math.cos(a.value)) if a.op == NUMBER else self._keep(COS, (a,))


def dependencies_of(wanted: Iterable[Expression]) -> list[Expression]:
    """Returns the wanted nodes and all their dependencies, in order of creation."""
    found: dict[int, Expression] = {}
    waiting = list(wanted)
    while waiting:
        node = waiting.pop()
        if node.serial not in found:
            found[node.serial] = node
            waiting.extend(node.args)
    return [found[serial] for serial in sorted(found)]


def count_operations(wanted: Iterable[Expression]) -> dict[str, int]:
    """Returns the number of sums, products, quotients, and sines with cosines."""
    made = {"add": 0, "multiply": 0, "divide": 0, "trigonometry": 0}
    kinds = {ADD: "add", SUB: "add", MUL: "multiply", DIV: "divide"}
    kinds |= {SIN: "trigonometry", COS: "trigonometry"}
    for node in dependencies_of(wanted):
        if node.op in kinds:
            made[kinds[node.op]] += 1
    return made


def evaluate(wanted: Sequence[Expression], inputs: dict[str, float]) -> np.ndarray:
    """Returns the values of the wanted expressions for given inputs."""
    values: dict[int, float] = {}
    for node in dependencies_of(wanted):
        a = [values[each.serial] for each in node.args]
        match node.op:
            case 0:
                made = node.value
            case 1:
                made = inputs[node.name]
            case 2:
                made = a[0] + a[1]
            case 3:
                made = a[0] - a[1]
            case 4:
                made = a[0] * a[1]
            case 5:
                made = a[0] / a[1]
            case 6:
                made = -a[0]
            case 7:
                made = math.sin(a[0])
            case _:
                made = math.cos(a[0])
        values[node.serial] = made
    return np.array([values[each.serial] for each in wanted])
