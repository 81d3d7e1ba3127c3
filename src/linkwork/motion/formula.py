"""Formula: a function of time given as text, with its first and second derivative."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass

from linkwork.core.errors import FormatError, Origin, listing

#: Maximum length of a formula.
MAX_CHARACTERS = 1000
#: Maximum nesting depth; each operator of a long sum counts.
MAX_DEPTH = 100
_CONSTANTS = {"pi": math.pi, "e": math.e}


@dataclass(frozen=True, slots=True)
class Jet:
    """A value at one time, with its first and second time derivative."""

    value: float
    speed: float = 0.0
    change: float = 0.0

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.speed + other.speed, self.change + other.change)

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.value - other.value, self.speed - other.speed, self.change - other.change)

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.speed, -self.change)

    def __mul__(self, other: Jet) -> Jet:
        return Jet(
            self.value * other.value,
            self.speed * other.value + self.value * other.speed,
            self.change * other.value + 2.0 * self.speed * other.speed + self.value * other.change,
        )

    def through(self, value: float, slope: float, bend: float) -> Jet:
        """Returns f(self), where f has this value, slope and second derivative."""
        return Jet(value, slope * self.speed, slope * self.change + bend * self.speed**2)

    def __truediv__(self, other: Jet) -> Jet:
        x = other.value
        return self * other.through(1.0 / x, -1.0 / x**2, 2.0 / x**3)

    def __pow__(self, other: Jet) -> Jet:
        if other.speed == 0.0 and other.change == 0.0:
            x, n = self.value, other.value
            slope = n * x ** (n - 1.0) if n != 0.0 else 0.0
            bend = n * (n - 1.0) * x ** (n - 2.0) if n not in (0.0, 1.0) else 0.0
            return self.through(x**n, slope, bend)
        return _exp(_log(self) * other)


def _sin(x: Jet) -> Jet:
    s, c = math.sin(x.value), math.cos(x.value)
    return x.through(s, c, -s)


def _cos(x: Jet) -> Jet:
    s, c = math.sin(x.value), math.cos(x.value)
    return x.through(c, -s, -c)


def _tan(x: Jet) -> Jet:
    t = math.tan(x.value)
    return x.through(t, 1.0 + t * t, 2.0 * t * (1.0 + t * t))


def _exp(x: Jet) -> Jet:
    e = math.exp(x.value)
    return x.through(e, e, e)


def _log(x: Jet) -> Jet:
    return x.through(math.log(x.value), 1.0 / x.value, -1.0 / x.value**2)


def _sqrt(x: Jet) -> Jet:
    root = math.sqrt(x.value)
    return x.through(root, 0.5 / root, -0.25 / root**3)


def _abs(x: Jet) -> Jet:
    return x if x.value >= 0.0 else -x


def _rad(x: Jet) -> Jet:
    return x * Jet(math.pi / 180.0)


def _min(*given: Jet) -> Jet:
    return min(given, key=lambda jet: jet.value)


def _max(*given: Jet) -> Jet:
    return max(given, key=lambda jet: jet.value)


#: Functions by name, with the minimum and maximum number of arguments.
_FUNCTIONS: dict[str, tuple[Callable[..., Jet], int, int]] = {
    "sin": (_sin, 1, 1), "cos": (_cos, 1, 1), "tan": (_tan, 1, 1), "exp": (_exp, 1, 1),
    "log": (_log, 1, 1), "sqrt": (_sqrt, 1, 1), "abs": (_abs, 1, 1), "rad": (_rad, 1, 1),
    "min": (_min, 2, 8), "max": (_max, 2, 8),
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], Callable[[Jet, Jet], Jet]] = {
    ast.Add: Jet.__add__, ast.Sub: Jet.__sub__, ast.Mult: Jet.__mul__, ast.Div: Jet.__truediv__,
    ast.Pow: Jet.__pow__,
}  # fmt: skip
_Node = Callable[[Jet], Jet]


class Formula:
    """A formula of the time ``t`` [s]: numbers, + − * / **, parentheses and a few functions.

    Functions are sin, cos, tan, exp, log, sqrt, abs, min, max and rad (degrees to radians); ``pi``
    and ``e`` are constants. ``^`` means ``**``. No other syntax is accepted, so that formulas from
    untrusted files are harmless.

    Raises:
        FormatError: If the formula is invalid; the message quotes the reason.
    """

    def __init__(self, text: str, *, origin: Origin | None = None) -> None:
        self.text, self._origin = text, origin
        if len(text) > MAX_CHARACTERS:
            raise self._wrong(f"it has {len(text)} characters, more than {MAX_CHARACTERS}")
        try:
            tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
            self._root = self._build(tree.body, MAX_DEPTH)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._wrong("it cannot be read") from None

    def _wrong(self, why: str) -> FormatError:
        short = self.text if len(self.text) <= 80 else f"{self.text[:77]}…"
        known = listing([*_FUNCTIONS, *_CONSTANTS, "t"], most=20)
        return FormatError(
            f"formula {short!r}: {why}.",
            origin=self._origin,
            hint=f"Allowed are numbers, + - * / **, parentheses and: {known}.",
        )

    def _build(self, node: ast.expr, deep: int) -> _Node:
        if deep == 0:
            raise self._wrong(f"it is nested more than {MAX_DEPTH} deep")
        deep -= 1
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as value):
                constant = Jet(self._number(value))
                return lambda _: constant
            case ast.Name(id="t"):
                return lambda t: t
            case ast.Name(id=name) if name in _CONSTANTS:
                constant = Jet(_CONSTANTS[name])
                return lambda _: constant
            case ast.Name(id=name):
                raise self._wrong(f"{name!r} is not known")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self._build(operand, deep)
                return lambda t: -inner(t)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._build(operand, deep)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                act, one = _OPERATORS[type(op)], self._build(left, deep)
                two = self._build(right, deep)
                return lambda t: act(one(t), two(t))
            case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in _FUNCTIONS:
                call, least, most = _FUNCTIONS[name]
                if not least <= len(given) <= most:
                    raise self._wrong(f"{name} takes {least} to {most} numbers, not {len(given)}")
                parts = [self._build(each, deep) for each in given]
                return lambda t: call(*(part(t) for part in parts))
            case ast.Call(func=ast.Name(id=name)):
                raise self._wrong(f"there is no function {name!r}")
        raise self._wrong("it contains syntax that is not allowed")

    def _number(self, value: int | float) -> float:
        try:
            made = float(value)
        except OverflowError:
            made = math.inf
        if not math.isfinite(made):
            raise self._wrong("a number in it is too large")
        return made

    def at(self, time: float) -> Jet:
        """Returns value, velocity and acceleration at ``time`` [s].

        Raises:
            FormatError: If it has no finite value then.
        """
        try:
            made = self._root(Jet(time, 1.0))
            if all(map(math.isfinite, (made.value, made.speed, made.change))):
                return made
        except (ArithmeticError, ValueError, TypeError):
            pass
        raise self._wrong(f"at t = {time:g} s it has no finite value, speed and acceleration")
