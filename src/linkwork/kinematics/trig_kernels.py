"""Compiled sines, cosines and arctangents of several numbers at once (after Cephes).

The library functions take one number at a time. These are arithmetic without branches, which the
compiler vectorizes by four; they are accurate to two units in the last place.
"""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel

_TWO_BY_PI = 2.0 / math.pi
# π/2 in three parts (Cody and Waite), for exact range reduction
_A, _B, _C = 1.5707963109016418, 1.5893254712295857e-08, 6.123233995736766e-17


@inner_kernel
def sine_cosine(x):
    """Returns sine and cosine of ``x`` [rad]."""
    k = math.floor(x * _TWO_BY_PI + 0.5)
    r = ((x - k * _A) - k * _B) - k * _C
    z = r * r
    sine = r + r * z * (
        (
            (
                ((1.58962301576546568060e-10 * z - 2.50507477628578072866e-8) * z
                 + 2.75573136213857245213e-6) * z - 1.98412698295895385996e-4
            ) * z + 8.33333333332211858878e-3
        ) * z - 1.66666666666666307295e-1
    )  # fmt: skip
    cosine = 1.0 - 0.5 * z + z * z * (
        (
            (
                ((-1.13585365213876817300e-11 * z + 2.08757008419747316778e-9) * z
                 - 2.75573141792967388112e-7) * z + 2.48015872888517045348e-5
            ) * z - 1.38888888888730564116e-3
        ) * z + 4.16666666666665929218e-2
    )  # fmt: skip
    quarter = k - 4.0 * math.floor(0.25 * k)
    odd = quarter == 1.0 or quarter == 3.0
    a = cosine if odd else sine
    b = sine if odd else cosine
    return -a if quarter >= 2.0 else a, -b if (quarter == 1.0 or quarter == 2.0) else b


@flat_kernel
def sines(q, n, s, c):
    """Computes ``s`` and ``c`` = sine and cosine of ``q`` [rad], number by number."""
    for i in range(n):
        s[i], c[i] = sine_cosine(q[i])


@flat_kernel
def arctangents(y, x, n, out):
    """Computes ``out`` = atan2(y, x), number by number; 0 or π if both are 0."""
    for i in range(n):
        a, b = abs(x[i]), abs(y[i])
        low, high = min(a, b), max(max(a, b), 1e-300)
        # directly below tan(π/8), relative to π/4 above it
        far = low > 0.4142135623730950488 * high
        t = (low - high if far else low) / (low + high if far else high)
        z = t * t
        above = (
            ((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z
             - 7.500855792314704667340e1) * z - 1.228866684490136173410e2
        ) * z - 6.485021904942025371773e1  # fmt: skip
        below = (
            (((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z
             + 4.328810604912902668951e2) * z + 4.853903996359136964868e2
        ) * z + 1.945506571482613964425e2  # fmt: skip
        r = (0.25 * math.pi if far else 0.0) + (t + t * (z * above / below))
        r = 0.5 * math.pi - r if b > a else r
        r = math.pi - r if x[i] < 0.0 else r
        out[i] = -r if y[i] < 0.0 else r
