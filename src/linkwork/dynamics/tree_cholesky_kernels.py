"""Cholesky factorization along a tree, without fill-in between branches.

M = Lᵀ D L with unit L, in place (Featherstone). ``parent_dof`` is the next degree of freedom toward
the root, or −1; ``dofs`` are those that take part, parents first.
"""

from __future__ import annotations

from linkwork.core.jit import flat_kernel, inner_kernel

#: Smallest mass [kg or kg m²], and smallest relative pivot.
_MASSLESS, _ROUNDING = 1e-20, 1e-13


@flat_kernel
def factor_tree(mass, parent_dof, dofs):
    """Factors M = Lᵀ D L in place; returns false if M is not positive to rounding."""
    for n in range(dofs.shape[0] - 1, -1, -1):
        k = dofs[n]
        if not mass[k, k] > _MASSLESS:
            return False
        i = parent_dof[k]
        while i >= 0:
            share = mass[k, i] / mass[k, k]
            if not mass[i, i] * (1.0 - _ROUNDING) > share * mass[k, i]:
                return False
            j = i
            while j >= 0:
                mass[i, j] -= share * mass[k, j]
                j = parent_dof[j]
            mass[k, i] = share
            i = parent_dof[i]
    return True


@inner_kernel
def solve_to_root(mass, parent_dof, dofs, x):
    """Computes x = L⁻ᵀ x, the first half of a solution: from the leaves to the root."""
    for n in range(dofs.shape[0] - 1, -1, -1):
        k = dofs[n]
        i = parent_dof[k]
        while i >= 0:
            x[i] -= mass[k, i] * x[k]
            i = parent_dof[i]


@inner_kernel
def solve_to_leaves(mass, parent_dof, dofs, x):
    """Computes x = L⁻¹ D⁻¹ x, the second half: from the root to the leaves."""
    for n in range(dofs.shape[0]):
        k = dofs[n]
        x[k] /= mass[k, k]
        i = parent_dof[k]
        while i >= 0:
            x[k] -= mass[k, i] * x[i]
            i = parent_dof[i]


@flat_kernel
def solve_tree(mass, parent_dof, dofs, x):
    """Computes x = M⁻¹ x with the factors of :func:`factor_tree`."""
    solve_to_root(mass, parent_dof, dofs, x)
    solve_to_leaves(mass, parent_dof, dofs, x)


@flat_kernel
def inverse_quadratic_form(mass, parent_dof, i, x):
    """Returns xᵀ M⁻¹ x by :func:`factor_tree`, for x nonzero at i and its ancestors.

    Overwrites x.
    """
    total = 0.0
    k = i
    while k >= 0:
        y = x[k]
        total += y * y / mass[k, k]
        j = parent_dof[k]
        while j >= 0:
            x[j] -= mass[k, j] * y
            j = parent_dof[j]
        k = parent_dof[k]
    return total
