"""The wizard of ``linkwork new --from``: asks for what a model's file lacks, and no more."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import typer

from linkwork.cli.given import load_with_notes
from linkwork.cli.screen import Screen
from linkwork.errors import FormatError, LinkworkError, PartError, listing, not_found
from linkwork.formats import prepare
from linkwork.formats.extent import part_extent
from linkwork.formats.mesh.element import DENSITY, LARGE
from linkwork.formats.single import taken_alone
from linkwork.parts import Part
from linkwork.parts.joint import Range
from linkwork.scene import Scene

#: Files of triangles that say neither a unit nor which way is up.
_BARE = (".stl", ".obj")
#: Files that say nothing of matter.
_WEIGHTLESS = (*_BARE, ".dae", ".gltf", ".glb", ".step", ".stp", ".cfg", ".robot")


#: What answers the questions without asking.
_OPTIONS = "--up, --unit, --density or --mass, --base, --range, --mount, --flange and --part"


@dataclass
class Answers:
    """What the command line says already; an empty answer is asked for.

    Attributes:
        unit: One of ``prepare.UNITS``.
        up: Which way is up in the file: x, y or z.
        density: [kg/m³].
        mass: Of all together [kg].
        base: The element that stands still.
        mount, flange: Where these anchors are.
        ranges: By joint [deg or m].
        part: Which part of a scene.
        yes: Whether to take what would be offered, and ask nothing.
        assumed: What was taken so.
    """

    unit: str = ""
    up: str = ""
    density: float | None = None
    mass: float | None = None
    base: str = ""
    mount: str = ""
    flange: str = ""
    ranges: dict[str, Range] = field(default_factory=dict)
    part: str = ""
    yes: bool = False
    assumed: list[str] = field(default_factory=list)

    def ask(self, question: str, offer: str, assume: str) -> str:
        """The user's answer, or what is offered, which ``assume`` says in words.

        Raises:
            FormatError: If the input ends.
            KeyboardInterrupt: If the user gives up.
        """
        if self.yes:
            self.assumed.append(assume)
            return offer
        try:
            return typer.prompt(question, default=offer, err=True).strip()
        except typer.Abort as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            typer.echo(err=True)  # the question has no end of line yet
            raise FormatError(
                f"the input ended at the question {question!r}; nothing was written.",
                hint=f"{_OPTIONS} answer without asking, --yes takes what is offered.",
            ) from None

    def choose(self, question: str, offer: str, among: tuple[str, ...], assume: str) -> str:
        """One of several answers; asks again until it is one."""
        while True:
            said = self.ask(f"{question} ({', '.join(among)})", offer, assume)
            if said in among:
                return said
            typer.echo(f"Say one of {', '.join(among)}.", err=True)

    def matter(self, question: str, offer: float) -> tuple[float, float]:
        """A density [kg/m³] and 0, or 0 and a mass [kg]; asks again until it is one of them."""
        while True:
            said = self.ask(question, f"{offer:g}", f"the density is {offer:g} kg/m³ (--density)")
            number, unit = (f"{said} ").split(" ", 1)
            try:
                value = float(number)
            except ValueError:
                value = 0.0
            if 0.0 < value < math.inf:
                if unit.strip() == "kg":
                    return 0.0, value
                if unit.strip() in ("", "kg/m³", "kg/m3"):
                    return value, 0.0
            typer.echo("Say a number above 0, or one and 'kg' for the mass of all.", err=True)


def adopt(model: str, answers: Answers, out: Screen) -> Part:
    """A part from a model, with what its file lacks.

    Raises:
        LinkworkError: If the model cannot be read, or an answer does not fit it.
    """
    part = _loaded(model, answers, out)
    suffix = Path(model).suffix.lower()
    if part.attachments:
        raise FormatError(
            f"{model} is put together from parts of its own; there is nothing to ask.",
            hint="Use it as it is, or convert it.",
        )
    part = _drawing(part, suffix, answers)
    part = _matter(part, suffix, answers)
    part = _base(part, answers)
    part = _limits(part, answers)
    part = _anchors(part, answers)
    if answers.assumed:
        out.say(f"{'; '.join(answers.assumed)}.", lead="assumed:")
    return part


def _loaded(model: str, answers: Answers, out: Screen) -> Part:
    thing, notes = load_with_notes(model)
    for note in notes:
        if "kg/m³" not in note and "millimetres" not in note:  # these are asked for
            out.say(note, lead="note:")
    if isinstance(thing, Part):
        return thing
    if not isinstance(thing, Scene) or not thing.parts:
        raise FormatError(f"{model} holds no part.")
    name = answers.part
    if not name and len(thing.parts) > 1:
        first, *others = thing.parts
        taken = (
            f"of {len(thing.parts)} parts, {first!r} is taken and not {listing(others)} (--part)"
        )
        name = answers.choose("Which part", first, tuple(thing.parts), taken)
    name = name or next(iter(thing.parts))
    if name not in thing.parts:
        raise not_found("part", name, thing.parts, origin=thing.origin)
    part, left = taken_alone(thing, name)
    if left:
        for note in left:
            out.say(note, lead="note:")
        whole = f"{Path(model).stem}.toml"
        out.say(f"linkwork convert {model} {whole} keeps the scene whole.", lead="note:")
    return part


def _drawing(part: Part, suffix: str, answers: Answers) -> Part:
    """Unit and up of what is drawn."""
    up = answers.up
    if suffix in _BARE and not up:
        up = answers.choose(
            "Which axis of the file is up", "z", ("z", "y", "x"), "the file's z is up (--up)"
        )
    if up and up != "z":
        part = prepare.upright(part, up)
    unit = answers.unit
    low, high = part_extent(part)
    if not unit and (suffix in _BARE or (suffix in _WEIGHTLESS and max(high - low) > LARGE)):
        size = " x ".join(f"{c:.4g}" for c in high - low)
        offer = "mm" if max(high - low) > LARGE else "m"
        question = f"The thing measures {size} units. One unit is a"
        taken = f"one unit of the file is 1 {offer} (--unit)"
        unit = answers.choose(question, offer, tuple(prepare.UNITS), taken)
    if unit and prepare.UNITS[unit] != 1.0:
        part = prepare.scaled(part, prepare.UNITS[unit])
    return part


def _matter(part: Part, suffix: str, answers: Answers) -> Part:
    """Density or mass of what has none."""
    bare = prepare.massless(part)
    if suffix in _WEIGHTLESS:
        bare = [name for name, e in part.elements.items() if e.density == DENSITY]
    density, mass = answers.density or 0.0, answers.mass or 0.0
    if not bare:
        if density or mass:
            raise PartError("the file says every mass already; --density and --mass change none.")
        return part
    if not density and not mass:
        what = f"{len(bare)} elements" if len(bare) > 1 else f"element {bare[0]!r}"
        question = f"Density of {what} [kg/m³], or the mass as '1.5 kg'"
        density, mass = answers.matter(question, DENSITY)
    return prepare.with_matter(part, bare, density=density, mass=mass)


def _base(part: Part, answers: Answers) -> Part:
    solid = [name for name, e in part.elements.items() if e.shapes]
    base = answers.base
    if not base and not part.joints and len(solid) > 1:
        offer = part.root() if part.root() in solid else solid[0]
        taken = f"{offer} is the base (--base)"
        base = answers.choose("Which element is the base", offer, tuple(solid), taken)
    return prepare.based(part, base) if base else part


def _limits(part: Part, answers: Answers) -> Part:
    ranges = dict(answers.ranges)
    for joint in prepare.endless(part):
        if joint.name in ranges:
            continue
        unit = "deg" if joint.type == "hinge" else "m"
        while True:
            question = f"Range of {joint.name} [{unit}], 'lowest highest'"
            said = answers.ask(question, "none", f"{joint.name} has no range (--range)")
            if said == "none":
                break
            try:
                lo, hi = (float(word) for word in said.replace(",", " ").split())
            except ValueError:
                lo, hi = math.nan, math.nan
            if lo < hi:
                ranges[joint.name] = (lo, hi)
                break
            typer.echo("Say two numbers, the lower one first, or none.", err=True)
    return prepare.with_ranges(part, ranges)


def _anchors(part: Part, answers: Answers) -> Part:
    """Where the part is mounted, and where others fit; only where there are no anchors yet."""
    asked = not part.anchors
    for name, given, offer in (
        ("mount", answers.mount, "bottom"),
        ("flange", answers.flange, "top"),
    ):
        place = given
        while asked and not place:
            what = "by which it is attached" if name == "mount" else "where others fit"
            question = f"Anchor '{name}', {what} ({', '.join(prepare.PLACES)}, or x,y,z)"
            where = f"the anchor '{name}' is at the {offer} (--{name})"
            place = answers.ask(question, offer, where)
            try:
                prepare.with_anchor(part, name, place)
            except LinkworkError as error:
                typer.echo(str(error), err=True)
                place = ""
        if place:
            part = prepare.with_anchor(part, name, place)
    return part
