"""Cholesky's method along a tree: the mass matrix is zero between branches, and so are its factors.

M = Lᵀ D L with unit L, in place (Featherstone). ``above`` is the next degree of freedom on the way
to the root, or −1; ``dofs`` are those that take part, parents first.
"""

from __future__ import annotations

from linkwork.jit import flat_kernel, inner_kernel

#: Less than this [kg or kg m²] is none, and a part below this of what it was is rounding.
_MASSLESS, _ROUNDING = 1e-20, 1e-13


@flat_kernel
def factorise(mass, above, dofs):
    """M = Lᵀ D L in place; false if M is not positive, or nothing but rounding is left of it."""
    for n in range(dofs.shape[0] - 1, -1, -1):
        k = dofs[n]
        if not mass[k, k] > _MASSLESS:
            return False
        i = above[k]
        while i >= 0:
            share = mass[k, i] / mass[k, k]
            if not mass[i, i] * (1.0 - _ROUNDING) > share * mass[k, i]:
                return False
            j = i
            while j >= 0:
                mass[i, j] -= share * mass[k, j]
                j = above[j]
            mass[k, i] = share
            i = above[i]
    return True


@inner_kernel
def solve_down(mass, above, dofs, x):
    """X = L⁻ᵀ x, the first half of a solution: from the leaves to the root."""
    for n in range(dofs.shape[0] - 1, -1, -1):
        k = dofs[n]
        i = above[k]
        while i >= 0:
            x[i] -= mass[k, i] * x[k]
            i = above[i]


@inner_kernel
def solve_up(mass, above, dofs, x):
    """X = L⁻¹ D⁻¹ x, the second half: from the root to the leaves."""
    for n in range(dofs.shape[0]):
        k = dofs[n]
        x[k] /= mass[k, k]
        i = above[k]
        while i >= 0:
            x[k] -= mass[k, i] * x[i]
            i = above[i]


@flat_kernel
def solve(mass, above, dofs, x):
    """X = M⁻¹ x with the factors of :func:`factorise`."""
    solve_down(mass, above, dofs, x)
    solve_up(mass, above, dofs, x)


@flat_kernel
def ease_along(mass, above, i, x):
    """Xᵀ M⁻¹ x with the factors of :func:`factorise`, for x that is 0 but at i and above it.

    Uses x up.
    """
    total = 0.0
    k = i
    while k >= 0:
        y = x[k]
        total += y * y / mass[k, k]
        j = above[k]
        while j >= 0:
            x[j] -= mass[k, j] * y
            j = above[j]
        k = above[k]
    return total
