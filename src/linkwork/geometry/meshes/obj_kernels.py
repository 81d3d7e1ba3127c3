"""Compiled reading of the regular lines of an OBJ file."""

from __future__ import annotations

import numpy as np

from linkwork.core.jit import kernel

#: Outcome of :func:`scan_obj` for a line that only the complete reader judges.
IRREGULAR = -1
#: Powers of ten that a double holds exactly.
POWERS = np.array([10.0**k for k in range(23)])
_SPACE, _TAB, _LINE_FEED, _RETURN, _COMMENT, _BACKSLASH = 32, 9, 10, 13, 35, 92
_MINUS, _PLUS, _POINT, _SLASH, _ZERO, _NINE = 45, 43, 46, 47, 48, 57
_V, _F, _U, _M, _E, _BIG_E = 118, 102, 117, 109, 101, 69
#: Integers below it are doubles.
_EXACT = 2**53
#: Outcome of :func:`_read_number` for a number that Python reads: it needs more than one rounding.
_LATER = -2


@kernel
def _skip_blanks(data, at, end):
    """Returns the position of the first byte from ``at`` on that is no space or tab."""
    while at < end and (data[at] == _SPACE or data[at] == _TAB):
        at += 1
    return at


@kernel
def _end_of_word(data, at, end):
    """Returns the position of the first space or tab from ``at`` on."""
    while at < end and data[at] != _SPACE and data[at] != _TAB:
        at += 1
    return at


@kernel
def _read_number(data, at, end, powers, out, column):
    """Reads a decimal number into ``out[column]``; returns the position after it.

    The number is mantissa · 10^k, which one division or product rounds correctly if the mantissa is
    below 2^53 and |k| at most 22. Returns ``_LATER`` if it is not, ``IRREGULAR`` for no number.
    """
    negative = False
    if at < end and (data[at] == _MINUS or data[at] == _PLUS):
        negative = data[at] == _MINUS
        at += 1
    mantissa, scale, digits, fraction = 0, 0, 0, False
    while at < end:
        byte = data[at]
        if byte == _POINT and not fraction:
            fraction = True
        elif _ZERO <= byte <= _NINE:
            digits += 1
            if mantissa < _EXACT:
                mantissa = 10 * mantissa + (np.int64(byte) - _ZERO)
                scale -= fraction
        else:
            break
        at += 1
    if digits == 0:
        return IRREGULAR
    if at < end and (data[at] == _E or data[at] == _BIG_E):
        at += 1
        sign = 1
        if at < end and (data[at] == _MINUS or data[at] == _PLUS):
            sign = -1 if data[at] == _MINUS else 1
            at += 1
        power, digits = 0, 0
        while at < end and _ZERO <= data[at] <= _NINE and digits < 4:
            power = 10 * power + (np.int64(data[at]) - _ZERO)
            digits += 1
            at += 1
        if digits == 0:
            return IRREGULAR
        scale += sign * power
    if at < end and data[at] != _SPACE and data[at] != _TAB:
        return IRREGULAR
    if mantissa == 0:
        scale = 0
    if mantissa >= _EXACT or abs(scale) > 22:
        return _LATER
    value = mantissa / powers[-scale] if scale < 0 else mantissa * powers[scale]
    out[column] = -value if negative else value
    return at


@kernel
def _read_corner(data, at, end, known):
    """Reads a corner, ``7``, ``7/1/3`` or ``-1``; returns its vertex from 0 and the position after.

    The vertex is ``IRREGULAR`` if the corner is not one of the ``known`` vertices or later ones.
    """
    negative = data[at] == _MINUS
    at += negative
    number = digits = 0
    while at < end and _ZERO <= data[at] <= _NINE and digits < 10:
        number = 10 * number + (np.int64(data[at]) - _ZERO)
        digits += 1
        at += 1
    if digits == 0 or number == 0 or (negative and number > known):
        return IRREGULAR, at
    while at < end and data[at] != _SPACE and data[at] != _TAB:  # texture and normal are ignored
        byte = data[at]
        if byte != _SLASH and byte != _MINUS and not _ZERO <= byte <= _NINE:
            return IRREGULAR, at
        at += 1
        if byte == _SLASH:
            digits = 0
        elif digits > 0:
            return IRREGULAR, at
    return (known - number if negative else number - 1), at


@kernel
def scan_obj(data, powers, vertices, corners, counts, marks, late):
    """Reads all ``v`` and ``f`` lines, and the places of ``usemtl`` and ``mtllib``.

    Other lines are ignored.

    Args:
        data: Bytes of the file.
        powers: ``POWERS``.
        vertices: Room for the vertices (n×3).
        corners: Room for the corners of the faces, vertex numbers from 0.
        counts: Room for the number of corners of each face.
        marks: Room for start and end of each line of a material or material file, and the number
            of corners and faces before it (m×4).
        late: Room for start and end of each coordinate that the caller must read, and its number
            among all coordinates (k×3).

    Returns:
        The numbers of vertices, corners, faces, marks and late coordinates; the first is
        ``IRREGULAR`` if a line is not of the plain form.
    """
    size, at = len(data), 0
    known = used = faces = marked = delayed = 0
    failed = IRREGULAR, 0, 0, 0, 0
    while at < size:
        end = at
        while end < size and data[end] != _LINE_FEED:
            end += 1
        following = end + 1
        stop = at
        while stop < end and data[stop] != _COMMENT:
            if data[stop] == _RETURN and stop != end - 1:
                return failed  # a line of old Mac files
            stop += 1
        while stop > at and (data[stop - 1] <= _SPACE):
            stop -= 1
        at = _skip_blanks(data, at, stop)
        if at == stop:
            at = following
            continue
        if data[stop - 1] == _BACKSLASH:
            return failed
        blank = stop - at > 1 and (data[at + 1] == _SPACE or data[at + 1] == _TAB)
        if data[at] == _V and blank:
            at += 1
            for column in range(3):
                first = _skip_blanks(data, at, stop)
                at = _read_number(data, first, stop, powers, vertices[known], column)
                if at == _LATER:
                    at = _end_of_word(data, first, stop)
                    late[delayed, 0], late[delayed, 1] = first, at
                    late[delayed, 2] = 3 * known + column
                    delayed += 1
                elif at == IRREGULAR:
                    return failed
            known += 1
        elif data[at] == _F and blank:
            first = used
            at = _skip_blanks(data, at + 1, stop)
            while at < stop:
                corner, at = _read_corner(data, at, stop, known)
                if corner == IRREGULAR:
                    return failed
                corners[used] = corner
                used += 1
                at = _skip_blanks(data, at, stop)
            if used - first < 3:
                return failed
            counts[faces] = used - first
            faces += 1
        elif data[at] == _U or data[at] == _M:
            if marked == len(marks):
                return failed
            marks[marked, 0], marks[marked, 1] = at, stop
            marks[marked, 2], marks[marked, 3] = used, faces
            marked += 1
        elif stop - at == 1 and (data[at] == _V or data[at] == _F):
            return failed
        at = following
    return known, used, faces, marked, delayed
