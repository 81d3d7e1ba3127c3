"""Corrupted files for fuzz tests: editing mistakes, disk errors, truncation."""

import random
import re

WORDS = [
    b"nan", b"inf", b"1e309", b"-1", b"0", b"1e-320", b"99999999999999999999", b"", b"x",
    b"{", b"}", b"=", b"\"", b"'", b"<", b"/>", b"</robot>", b"<a>", b"&amp;", b"&x;", b"#",
    b"\0", b"\xff", b"-0.0", b"0x10", b"1,5", b"..", b"\n" * 3, b"[[device]]", b"true",
    "é".encode(),
]  # fmt: skip
_WORD = re.compile(rb"[^\s<>/='\"{}(),;\[\]]+")


def corrupted(chance: random.Random, whole: bytes) -> bytes:
    """Returns data with words exchanged, copied or dropped, lines moved, bytes changed, cut."""
    data = whole
    for _ in range(chance.randrange(1, 5)):
        way = chance.randrange(8)
        if way < 3:
            found = list(_WORD.finditer(data))
            if not found:
                continue
            place = chance.choice(found)
            new = chance.choice(WORDS) if way else chance.choice(found)[0]
            data = data[: place.start()] + new + data[place.end() :]
        elif way == 3:
            lines = data.split(b"\n")
            line = lines.pop(chance.randrange(len(lines)))
            for _ in range(chance.randrange(3)):
                lines.insert(chance.randrange(len(lines) + 1), line)
            data = b"\n".join(lines)
        elif way == 4:
            start = chance.randrange(len(data) + 1)
            data = data[:start] + data[start + chance.randrange(40) :]
        elif way == 5:
            start = chance.randrange(len(data) + 1)
            data = data[:start] + chance.randbytes(chance.randrange(1, 5)) + data[start + 2 :]
        elif way == 6:
            data = data[: chance.randrange(len(data) + 1)]
        else:
            start = chance.randrange(len(data) + 1)
            data += data[start : start + 200]
    return data
