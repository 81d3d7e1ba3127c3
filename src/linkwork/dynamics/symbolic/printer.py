"""Code printer: expressions as lines of code, with shared subexpressions named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwork.dynamics.symbolic.expression import (
    ADD,
    COS,
    DIV,
    INPUT,
    MUL,
    NEG,
    NUMBER,
    SIN,
    SUB,
    Expression,
    dependencies_of,
)

_SUM, _PRODUCT, _SIGN, _ATOM = range(4)
_LONGEST = 72


@dataclass(frozen=True)
class CodeStyle:
    """Syntax of a language.

    Attributes:
        assign: Assignment of a named value.
        store: Assignment of an output.
        sine: The function.
        cosine: The function.
        name: Name of a shared value, by its number.
    """

    assign: str = "{name} = {value}"
    store: str = "{name} = {value}"
    sine: str = "sin"
    cosine: str = "cos"
    name: str = "t{number}"


PLAIN = CodeStyle()


def text(expression: Expression) -> str:
    """Returns one expression, written in full."""
    return _Writer({}, PLAIN).write(expression)[0]


def statements(outputs: Sequence[tuple[str, Expression]], language: CodeStyle = PLAIN) -> list[str]:
    """Returns lines that compute the outputs, each shared subexpression once.

    Args:
        outputs: Name and expression of each.
        language: Syntax of the lines.
    """
    nodes = dependencies_of(expression for _, expression in outputs)
    uses = dict.fromkeys((node.serial for node in nodes), 0)
    for node in nodes:
        for each in node.args:
            uses[each.serial] += 1
    made: list[str] = []
    names: dict[int, str] = {}
    writer = _Writer(names, language)
    lengths: dict[int, int] = {}
    for node in nodes:
        if node.op in (NUMBER, INPUT):
            continue
        length = 4 + sum(lengths.get(each.serial, 8) for each in node.args)
        if (uses[node.serial] > 1 and node.op != NEG) or length > _LONGEST:
            value = writer.write(node)[0]
            name = language.name.format(number=len(names))
            names[node.serial] = name
            made.append(language.assign.format(name=name, value=value))
        else:
            lengths[node.serial] = length
    for name, expression in outputs:
        made.append(language.store.format(name=name, value=writer.write(expression)[0]))
    return made


class _Writer:
    """Writes expressions with as few parentheses as possible."""

    def __init__(self, names: dict[int, str], language: CodeStyle) -> None:
        self.names, self.language = names, language

    def write(self, node: Expression) -> tuple[str, int]:
        """Returns the text and its operator precedence."""
        name = self.names.get(node.serial)
        if name is not None:
            return name, _ATOM
        if node.op == NUMBER:
            return float_text(node.value), _ATOM if node.value >= 0.0 else _SIGN
        if node.op == INPUT:
            return node.name, _ATOM
        if node.op in (SIN, COS):
            spelled = self.language.sine if node.op == SIN else self.language.cosine
            return f"{spelled}({self.write(node.args[0])[0]})", _ATOM
        if node.op == NEG:
            return f"-{self._at_least(node.args[0], _PRODUCT)}", _SIGN
        a, b = node.args
        if node.op == ADD:
            return f"{self._at_least(a, _SUM)} + {self._at_least(b, _PRODUCT)}", _SUM
        if node.op == SUB:
            return f"{self._at_least(a, _SUM)} - {self._at_least(b, _PRODUCT, signed=True)}", _SUM
        if node.op == MUL:
            right = self._at_least(b, _ATOM)
            return f"{self._at_least(a, _PRODUCT, signed=True)}*{right}", _PRODUCT
        assert node.op == DIV
        return f"{self._at_least(a, _PRODUCT, signed=True)}/{self._at_least(b, _ATOM)}", _PRODUCT

    def _at_least(self, node: Expression, level: int, *, signed: bool = False) -> str:
        made, holds = self.write(node)
        if holds < level or (signed and holds == _SIGN):
            return f"({made})"
        return made


def float_text(value: float) -> str:
    """Returns a number with all its digits, always with a decimal point or exponent."""
    return repr(value)
