"""The wizard of ``linkwork new --from``: asks only for data that a model's file lacks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import typer

from linkwork.cli.scene_argument import load_showing_notes
from linkwork.cli.screen import Screen
from linkwork.core.errors import FormatError, LinkworkError, PartError, listing, not_found
from linkwork.formats import import_options
from linkwork.formats.conversion_notes import NoteLines
from linkwork.formats.drawings.mesh import DENSITY, LARGE_SIZE
from linkwork.formats.extent import part_extent
from linkwork.formats.part_of_scene import extract_part
from linkwork.model.parts import Part
from linkwork.model.parts.joint import Range
from linkwork.model.scene import Scene

#: Mesh files without unit and up axis.
_BARE = (".stl", ".obj")
#: Files without masses.
_WEIGHTLESS = (*_BARE, ".dae", ".gltf", ".glb", ".step", ".stp", ".cfg", ".robot")


#: Options that answer the questions.
_OPTIONS = "--up, --unit, --density or --mass, --base, --range, --mount, --flange and --part"


@dataclass
class WizardAnswers:
    """Answers from the command line; empty ones are asked for.

    Attributes:
        unit: One of ``import_options.UNITS``.
        up: Up axis of the file: x, y or z.
        density: [kg/m³].
        mass: Total mass [kg].
        base: The base element.
        mount, flange: Where these anchors are.
        ranges: Ranges by joint [deg or m].
        part: Name of a part of a scene.
        yes: Whether to accept all defaults without asking.
        assumed: The accepted defaults.
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
        """The user's answer, or the default, which ``assume`` describes.

        Raises:
            FormatError: If the input ends.
            KeyboardInterrupt: If the user aborts.
        """
        if self.yes:
            self.assumed.append(assume)
            return offer
        try:
            return typer.prompt(question, default=offer, err=True).strip()
        except typer.Abort as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            typer.echo(err=True)  # the question has no line break yet
            raise FormatError(
                f"the input ended at the question {question!r}; nothing was written.",
                hint=f"{_OPTIONS} answer without asking, --yes takes what is offered.",
            ) from None

    def choose(self, question: str, offer: str, among: tuple[str, ...], assume: str) -> str:
        """One of several answers; asks again until it is valid."""
        while True:
            answer = self.ask(f"{question} ({', '.join(among)})", offer, assume)
            if answer in among:
                return answer
            typer.echo(f"Give one of {', '.join(among)}.", err=True)

    def matter(self, question: str, offer: float) -> tuple[float, float]:
        """A density [kg/m³] and 0, or 0 and a mass [kg]; asks again until it is valid."""
        while True:
            answer = self.ask(question, f"{offer:g}", f"the density is {offer:g} kg/m³ (--density)")
            number, unit = (f"{answer} ").split(" ", 1)
            try:
                value = float(number)
            except ValueError:
                value = 0.0
            if 0.0 < value < math.inf:
                if unit.strip() == "kg":
                    return 0.0, value
                if unit.strip() in ("", "kg/m³", "kg/m3"):
                    return value, 0.0
            typer.echo("Give a number above 0, or one and 'kg' for the mass of all.", err=True)


def import_model(model: str, answers: WizardAnswers, out: Screen) -> Part:
    """A part from a model, completed with the answers.

    Raises:
        LinkworkError: If the model cannot be read, or an answer does not fit it.
    """
    part = _loaded(model, answers, out)
    suffix = Path(model).suffix.lower()
    if part.attachments:
        raise FormatError(
            f"{model} is assembled from parts of its own; there is nothing to ask.",
            hint="Use it unchanged, or convert it.",
        )
    part = _drawing(part, suffix, answers)
    part = _ask_density(part, suffix, answers)
    part = _base(part, answers)
    part = _limits(part, answers)
    part = _anchors(part, answers)
    if answers.assumed:
        out.print_line(f"{'; '.join(answers.assumed)}.", lead="assumed:")
    return part


def _loaded(model: str, answers: WizardAnswers, out: Screen) -> Part:
    thing, notes = load_showing_notes(model)
    if isinstance(notes, NoteLines):
        notes = notes.without("unit", "density")  # asked for below
    for note in notes:
        out.print_line(note, lead="note:")
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
    part, left = extract_part(thing, name)
    if left:
        for note in left:
            out.print_line(note, lead="note:")
        whole = f"{Path(model).stem}.toml"
        out.print_line(f"linkwork convert {model} {whole} keeps the scene whole.", lead="note:")
    return part


def _drawing(part: Part, suffix: str, answers: WizardAnswers) -> Part:
    """Unit and up axis of a drawing."""
    up = answers.up
    if suffix in _BARE and not up:
        up = answers.choose(
            "Which axis of the file is up", "z", ("z", "y", "x"), "the file's z is up (--up)"
        )
    if up and up != "z":
        part = import_options.upright(part, up)
    unit = answers.unit
    low, high = part_extent(part)
    if not unit and (suffix in _BARE or (suffix in _WEIGHTLESS and max(high - low) > LARGE_SIZE)):
        size = " x ".join(f"{c:.4g}" for c in high - low)
        offer = "mm" if max(high - low) > LARGE_SIZE else "m"
        question = f"The model measures {size} units. One unit is a"
        taken = f"one unit of the file is 1 {offer} (--unit)"
        unit = answers.choose(question, offer, tuple(import_options.UNITS), taken)
    if unit and import_options.UNITS[unit] != 1.0:
        part = import_options.scaled(part, import_options.UNITS[unit])
    return part


def _ask_density(part: Part, suffix: str, answers: WizardAnswers) -> Part:
    """Density or mass of elements without one."""
    bare = import_options.elements_without_mass(part)
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
    return import_options.with_mass(part, bare, density=density, mass=mass)


def _base(part: Part, answers: WizardAnswers) -> Part:
    solid = [name for name, e in part.elements.items() if e.shapes]
    base = answers.base
    if not base and not part.joints and len(solid) > 1:
        offer = part.root() if part.root() in solid else solid[0]
        taken = f"{offer} is the base (--base)"
        base = answers.choose("Which element is the base", offer, tuple(solid), taken)
    return import_options.fixed_to_base(part, base) if base else part


def _limits(part: Part, answers: WizardAnswers) -> Part:
    ranges = dict(answers.ranges)
    for joint in import_options.joints_without_range(part):
        if joint.name in ranges:
            continue
        unit = "deg" if joint.type == "hinge" else "m"
        while True:
            question = f"Range of {joint.name} [{unit}], 'lowest highest'"
            answer = answers.ask(question, "none", f"{joint.name} has no range (--range)")
            if answer == "none":
                break
            try:
                lo, hi = (float(word) for word in answer.replace(",", " ").split())
            except ValueError:
                lo, hi = math.nan, math.nan
            if lo < hi:
                ranges[joint.name] = (lo, hi)
                break
            typer.echo("Give two numbers, the lower one first, or none.", err=True)
    return import_options.with_ranges(part, ranges)


def _anchors(part: Part, answers: WizardAnswers) -> Part:
    """Asks where the part is mounted and where other parts fit, if it has no anchors yet."""
    asked = not part.anchors
    for name, given, offer in (
        ("mount", answers.mount, "bottom"),
        ("flange", answers.flange, "top"),
    ):
        place = given
        while asked and not place:
            what = "by which it is attached" if name == "mount" else "where others fit"
            question = (
                f"Anchor '{name}', {what} ({', '.join(import_options.ANCHOR_POSITIONS)}, or x,y,z)"
            )
            where = f"the anchor '{name}' is at the {offer} (--{name})"
            place = answers.ask(question, offer, where)
            try:
                import_options.with_anchor(part, name, place)
            except LinkworkError as error:
                typer.echo(str(error), err=True)
                place = ""
        if place:
            part = import_options.with_anchor(part, name, place)
    return part
