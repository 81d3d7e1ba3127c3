"""Export of a robot's equations of motion to LaTeX."""

from __future__ import annotations

import re

from linkwork.dynamics.symbolic.expression import Expression
from linkwork.dynamics.symbolic.lagrange import LagrangeEquations
from linkwork.dynamics.symbolic.model import SymbolicModel
from linkwork.dynamics.symbolic.printer import statements

#: Maximum degrees of freedom for equations by Lagrange, which fit on a page.
MAX_TEXTBOOK_DOFS = 3

_HEAD = r"""\documentclass{{article}}
\usepackage{{amsmath}}
\allowdisplaybreaks
\begin{{document}}
\section*{{{title}}}
"""


def document(model: SymbolicModel) -> str:
    """Returns a document: M(q) q̈ + C(q, q̇) q̇ + g(q) = τ, and its terms."""
    title = model.world.scene.name.replace("_", r"\_")
    head = _HEAD.format(title=title) + r"\[ M(q)\,\ddot q + C(q, \dot q)\,\dot q + g(q) = \tau \]"
    small = model.world.nv <= MAX_TEXTBOOK_DOFS and model.world.nq == model.world.nv
    made = _textbook(model) if small else _traced(model)
    return "\n".join([head, _meaning(model), *made, r"\end{document}", ""])


def _meaning(model: SymbolicModel) -> str:
    world = model.world
    rows = [
        rf"$q_{{{n + 1}}}$: \verb|{world.dof_name(n)}| [{'rad' if world.dof_is_angle(n) else 'm'}]"
        for n in range(world.nv)
    ]
    if world.nq != world.nv:
        rows = [
            rf"$\dot q_{{{n + 1}}}$: \verb|{world.dof_name(n)}| per second" for n in range(world.nv)
        ]
    return "\\begin{itemize}\n" + "\n".join(rf"\item {row}" for row in rows) + "\n\\end{itemize}"


def _textbook(model: SymbolicModel) -> list[str]:
    """Returns matrices with named masses, lengths and inertias."""
    given = LagrangeEquations(model.world, named=True, gravity=model.gravity)
    latex = given.sympy.latex
    parts = {
        "M(q)": given.mass_matrix,
        r"C(q, \dot q)\,\dot q": given.velocity_efforts,
        "g(q)": given.gravity_efforts,
    }
    return [rf"\[ {name} = {latex(value)} \]" for name, value in parts.items()]


def _traced(model: SymbolicModel) -> list[str]:
    """Returns numbers, with shared subexpressions t, line by line."""
    size = model.world.nv
    mass = [
        (f"M[{i},{j}]", model.mass_matrix[i][j])
        for i in range(size)
        for j in range(i, size)
        if not model.mass_matrix[i][j].is_zero
    ]
    bias = [(f"c[{n}]", value) for n, value in enumerate(model.bias)]
    some = len(mass) < size * (size + 1) // 2
    about = ", of which all others above the diagonal are 0" if some else ""
    return [
        rf"Mass matrix $M(q)${about}:",
        *_lines(mass),
        r"Bias $c(q, \dot q) = C(q, \dot q)\,\dot q + g(q)$:",
        *_lines(bias),
    ]


def _lines(outputs: list[tuple[str, Expression]]) -> list[str]:
    rows = [latex_line(line).replace(" = ", " &= ", 1) for line in statements(outputs)]
    return [r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"]


def latex_line(line: str) -> str:
    """Returns a line of code in LaTeX; indices count from 1."""

    def named(found: re.Match[str]) -> str:
        letter = {"v": r"\dot q", "a": r"\ddot q", "effort": r"\tau"}.get(found[1], found[1])
        return f"{letter}_{{{','.join(str(int(n) + 1) for n in found[2].split(','))}}}"

    line = re.sub(r"(\d)e([+-]?)0*(\d+)", r"\1 \\cdot 10^{\2\3}", line).replace("{+", "{")
    line = re.sub(r"\bt(\d+)\b", r"t_{\1}", line)
    line = re.sub(r"\b(q|v|a|effort|M|c)\[([\d,]+)\]", named, line)
    line = re.sub(r"\b(sin|cos)\(", r"\\\1(", line)
    return line.replace("*", r" \, ")
