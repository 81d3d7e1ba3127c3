"""Mutations of XML texts for fuzz tests."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_ELEMENT = re.compile(r"<(\w+)[^<>]*/>|<(\w+)[^<>]*>[^<>]*</\2>")
_ATTRIBUTE = re.compile(r'\s[\w:]+="[^"]*"')
_BYTES = (0, 9, 34, 38, 60, 62, 0xFF, 0x20AC)


@dataclass(frozen=True)
class XmlMutations:
    """Mutations of a dialect.

    Attributes:
        root: Its root tag.
        tags: Its tags.
        nasty: Values that are put in the place of others.
        value: Pattern of a value with the characters around it.
        document_types: What a DOCTYPE may hold.
        longest_cut: Maximum number of removed characters.
    """

    root: str
    tags: Sequence[str]
    nasty: Sequence[str]
    value: re.Pattern[str]
    document_types: Sequence[str] = ('[<!ENTITY x "y">]', 'SYSTEM "a.dtd"')
    longest_cut: int = 300

    def change_value(self, text: str, dice: random.Random) -> str:
        """Replaces a value by a nasty one."""
        return _swap(
            self.value, text, dice, lambda found: found[0] + dice.choice(self.nasty) + found[-1]
        )

    def swap_values(self, text: str, dice: random.Random) -> str:
        """Replaces a value by another of the text."""
        other = dice.choice(self.value.findall(text) or ['"0"'])[1:-1]
        return _swap(self.value, text, dice, lambda found: found[0] + other + found[-1])

    def drop_element(self, text: str, dice: random.Random) -> str:
        """Removes an element."""
        return _swap(_ELEMENT, text, dice, lambda _: "")

    def double_element(self, text: str, dice: random.Random) -> str:
        """Repeats an element."""
        return _swap(_ELEMENT, text, dice, lambda found: found * 2)

    def drop_attribute(self, text: str, dice: random.Random) -> str:
        """Removes an attribute."""
        return _swap(_ATTRIBUTE, text, dice, lambda _: "")

    def rename(self, text: str, dice: random.Random) -> str:
        """Gives all elements of one tag another one."""
        old, new = dice.choice(self.tags), dice.choice(self.tags)
        return re.sub(rf"(</?){old}\b", rf"\g<1>{new}", text)

    def flip_byte(self, text: str, dice: random.Random) -> str:
        """Replaces a character."""
        at = dice.randrange(len(text) + 1)
        return text[:at] + chr(dice.choice(_BYTES)) + text[at + 1 :]

    def cut(self, text: str, dice: random.Random) -> str:
        """Removes a part."""
        start = dice.randrange(len(text) + 1)
        return text[:start] + text[start + dice.randrange(self.longest_cut) :]

    def add_document_type(self, text: str, dice: random.Random) -> str:
        """Adds a DOCTYPE before the root."""
        kind = dice.choice(self.document_types)
        return text.replace(f"<{self.root}", f"<!DOCTYPE {self.root} {kind}><{self.root}", 1)


def _swap(
    pattern: re.Pattern[str], text: str, dice: random.Random, make: Callable[[str], str]
) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    hit = dice.choice(found)
    return text[: hit.start()] + make(hit.group()) + text[hit.end() :]
