"""Writing options: how MuJoCo steps, from the scene and what it says of the Mujoco engine."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from linkwork.formats.flat import Flat
from linkwork.formats.mjcf.spelling import Spelling
from linkwork.formats.mjcf.write_words import set_words
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals

#: What the engine itself takes where its table says nothing, and MuJoCo would not.
_UNSAID = {"integrator": "discrete", "cone": "elliptic", "impratio": 100.0, "tolerance": 1e-10}
_OPTIONS = (
    "integrator", "cone", "iterations", "tolerance", "impratio", "solver", "jacobian",
    "ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations",
    "ccd_tolerance", "wind", "magnetic", "density", "viscosity", "o_margin", "o_solref",
    "o_solimp", "o_friction",
)  # fmt: skip
#: Parameters that are said elsewhere in the file.
_ELSEWHERE = ("native", "disable", "enable", "pairs", "tendons", "tendon_ties")
#: Memory where the solver needs a matrix of all constraints.
_MEMORY = "256M"


def options(flat: Flat, spelling: Spelling, notes: Notes) -> list[ET.Element]:
    """The ``<option>``, and the ``<size>`` where MuJoCo's own guess is too small."""
    given: Mapping[str, Any] = spelling.engine or {}
    said = _UNSAID if spelling.native else {"integrator": "implicitfast", "cone": "elliptic"}
    option = ET.Element("option")
    set_words(option, said | {word: given[word] for word in _OPTIONS if word in given})
    if flat.scene is not None:
        option.set("timestep", numeral(flat.scene.step))
        option.set("gravity", numerals(flat.scene.gravity))
        for engine in flat.scene.engines:
            if spelling.engine is None or engine.type != "mujoco":
                notes.about("engines, left out", engine.type)
    flags = dict.fromkeys(given.get("disable", ()), "disable")
    flags |= dict.fromkeys(given.get("enable", ()), "enable")
    if flags:
        ET.SubElement(option, "flag", flags)
    for word in given:
        if word not in (*_OPTIONS, *_ELSEWHERE):
            notes.about("parameters of the engine mujoco, left out", word)
    if spelling.engine is not None and not spelling.native:
        notes.say("stops, contacts and ties are as soft as MuJoCo has them, not as stiff as here.")
    if given.get("noslip_iterations") or given.get("solver") == "PGS":
        return [option, ET.Element("size", memory=_MEMORY)]
    return [option]
