"""A robot's equations of motion in LaTeX: a textbook's for a few joints, traced ones for many."""

from __future__ import annotations

import re

from linkwork.dynamics.symbolic.expression import Expression
from linkwork.dynamics.symbolic.lagrange import Lagrange
from linkwork.dynamics.symbolic.model import Model
from linkwork.dynamics.symbolic.text import statements

#: Up to so many degrees of freedom the equations are derived by Lagrange and fit on a page.
MOST = 3

_HEAD = r"""\documentclass{{article}}
\usepackage{{amsmath}}
\allowdisplaybreaks
\begin{{document}}
\section*{{{title}}}
"""


def document(model: Model) -> str:
    """A whole document: M(q) q̈ + C(q, q̇) q̇ + g(q) = τ, and what its parts are."""
    title = model.world.scene.name.replace("_", r"\_")
    head = _HEAD.format(title=title) + r"\[ M(q)\,\ddot q + C(q, \dot q)\,\dot q + g(q) = \tau \]"
    small = model.world.nv <= MOST and model.world.nq == model.world.nv
    made = _textbook(model) if small else _traced(model)
    return "\n".join([head, _meaning(model), *made, r"\end{document}", ""])


def _meaning(model: Model) -> str:
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


def _textbook(model: Model) -> list[str]:
    """Named masses, lengths and inertias, in matrices."""
    given = Lagrange(model.world, named=True, gravity=model.gravity)
    latex = given.sympy.latex
    parts = {
        "M(q)": given.mass_matrix,
        r"C(q, \dot q)\,\dot q": given.velocity_efforts,
        "g(q)": given.gravity_efforts,
    }
    return [rf"\[ {name} = {latex(value)} \]" for name, value in parts.items()]


def _traced(model: Model) -> list[str]:
    """Numbers, with shared subexpressions t, line by line."""
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
    rows = [spelled(line).replace(" = ", " &= ", 1) for line in statements(outputs)]
    return [r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"]


def spelled(line: str) -> str:
    """A line of plain code in LaTeX; indices count from 1."""

    def named(found: re.Match[str]) -> str:
        letter = {"v": r"\dot q", "a": r"\ddot q", "effort": r"\tau"}.get(found[1], found[1])
        return f"{letter}_{{{','.join(str(int(n) + 1) for n in found[2].split(','))}}}"

    line = re.sub(r"(\d)e([+-]?)0*(\d+)", r"\1 \\cdot 10^{\2\3}", line).replace("{+", "{")
    line = re.sub(r"\bt(\d+)\b", r"t_{\1}", line)
    line = re.sub(r"\b(q|v|a|effort|M|c)\[([\d,]+)\]", named, line)
    line = re.sub(r"\b(sin|cos)\(", r"\\\1(", line)
    return line.replace("*", r" \, ")
