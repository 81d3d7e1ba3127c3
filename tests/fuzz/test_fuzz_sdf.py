"""Broken SDF files give errors that name the mistake, never a traceback.

A tenth of the 750 cases runs, all of them with ``--full``. A failing case prints its number
and the file it read; the same number makes the same file again.
"""

import random
import re
import warnings
from pathlib import Path

import pytest

from effort import cases
from fuzz.xml_mutations import XmlMutations
from linkwork.core.errors import LinkworkError
from linkwork.formats.robots.sdf import SdfFormat
from linkwork.model.parts import Part

CASES = cases(750)
GROUP = 250

MODEL = """<?xml version="1.0"?>
<sdf version="1.9">
  <model name="all of it" canonical_link="base">
    <pose>0 0 1 0 0 0</pose>
    <link name="base"/>
    <link name="arm"><pose relative_to="base">0 0 1 0.1 0.2 0.3</pose>
      <inertial><pose>0 0 0.5 0 0 0</pose><mass>1.5</mass><inertia><ixx>1</ixx><ixy>0.1</ixy>
        <iyy>1</iyy><izz>1</izz></inertia></inertial>
      <visual name="v"><geometry><box><size>1 2 3</size></box></geometry>
        <material><diffuse>1 0 0 1</diffuse></material><transparency>0.1</transparency></visual>
      <collision name="c"><geometry><cylinder><radius>0.1</radius><length>0.5</length></cylinder>
        </geometry><surface><friction><ode><mu>0.5</mu></ode></friction></surface></collision>
      <sensor name="s" type="imu"/>
    </link>
    <link name="tip"><pose>0 0 2 0 0 0</pose><collision name="c"><geometry><ellipsoid>
      <radii>1 2 3</radii></ellipsoid></geometry></collision></link>
    <frame name="grip" attached_to="tip"><pose>0 0 0.1 0 0 0</pose></frame>
    <model name="inner"><pose relative_to="grip">1 0 0 0 0 0</pose><link name="arm"/></model>
    <joint name="one" type="revolute"><parent>base</parent><child>arm</child>
      <axis><xyz expressed_in="__model__">0 1 0</xyz><limit><lower>-1</lower><upper>1</upper>
        <effort>10</effort></limit><dynamics><damping>1</damping></dynamics></axis></joint>
    <joint name="two" type="universal"><pose>0 0 0.1 0 0 0</pose><parent>arm</parent>
      <child>tip</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
    <joint name="three" type="screw"><parent>grip</parent><child>inner::arm</child>
      <screw_thread_pitch>0.1</screw_thread_pitch><axis><xyz>0 0 1</xyz></axis></joint>
    <joint name="loop" type="ball"><parent>base</parent><child>tip</child></joint>
  </model>
</sdf>
"""
WORLD = """<sdf version="1.6"><world name="w"><gravity>0 0 -9.8</gravity>
  <physics type="ode"><max_step_size>0.001</max_step_size></physics>
  <light name="sun" type="directional"><pose>0 0 10 0 0 0</pose>
    <direction>0 1 -1</direction></light>
  <frame name="spot"><pose>1 0 0 0 0 0</pose></frame>
  <model name="ground"><static>true</static><link name="l"><collision name="c"><geometry>
    <plane><normal>0 0 1</normal><size>8 9</size></plane></geometry></collision></link></model>
  <model name="cart"><pose frame="spot">1 2 3 0 0 0</pose><link name="a"/><link name="b"/>
    <joint name="j" type="prismatic"><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>
      <use_parent_model_frame>1</use_parent_model_frame></axis></joint>
    <joint name="w" type="fixed"><parent>world</parent><child>a</child></joint></model>
  <include><uri>model://nowhere</uri><pose>0 0 0 0 0 0</pose></include></world></sdf>
"""
NASTY = (
    "", " ", "0", "-1", "1e308", "1e30", "1e999", "nan", "inf", "0x10", "1 2", "0 0 0", "1 2 3",
    "1e30 1e30 1e30", "a", "base", "arm", "tip", "world", "__model__", "inner::arm", "a::b::c",
    "::", "é", "🤖", "../..", "/", "model://", "model://..", "file://", "&#0;", "&lt;", "&x;",
    "true", "fixed", "ball", "revolute", "revolute2", "gearbox", "x" * 5000, "0 0 0 0 0 0",
    "1.4", "1.12",
    "grip", "spot", "one",
)  # fmt: skip
TAGS = (
    "sdf", "world", "model", "link", "joint", "frame", "pose", "inertial", "mass", "inertia", "ixx",
    "visual", "collision", "geometry", "box", "size", "plane", "mesh", "uri", "include", "parent",
    "child", "axis", "axis2", "xyz", "limit", "mimic", "static", "light", "physics", "capsule",
)  # fmt: skip
MUTATIONS = XmlMutations("sdf", TAGS, NASTY, re.compile(r'"[^"<>]*"|>[^<>]+<'))


def nest_deeply(text: str, dice: random.Random) -> str:
    depth = dice.choice((3, 14, 3000))
    inside = '<model name="n">' * depth + '<link name="l"/>' + "</model>" * depth
    return f'<sdf version="1.9">{inside}</sdf>'


CHANGES = (
    MUTATIONS.change_value,
    MUTATIONS.change_value,
    MUTATIONS.change_value,
    MUTATIONS.swap_values,
    MUTATIONS.swap_values,
    MUTATIONS.drop_element,
    MUTATIONS.double_element,
    MUTATIONS.drop_attribute,
    MUTATIONS.rename,
    MUTATIONS.flip_byte,
    MUTATIONS.cut,
    MUTATIONS.add_document_type,
    nest_deeply,
)


def make_case(number: int) -> bytes:
    dice = random.Random(number)
    text = dice.choice((MODEL, MODEL, WORLD))
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        text = dice.choice(CHANGES)(text, dice)
    return text.encode("utf-16" if dice.random() < 0.03 else "utf-8", "surrogatepass")


def read_or_refuse(form: SdfFormat, source: Path, number: int) -> object | None:
    """Returns the content of the file; None if it was rejected with an error that names it."""
    try:
        return form.read(source)
    except LinkworkError as error:
        message = str(error)
    except Exception as error:
        pytest.fail(f"case {number} ({source}): {error!r}")
    assert str(source) in message, f"case {number}: {message!r} does not name the file"
    return None


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_a_broken_file_gives_an_error_of_ours(first: int, tmp_path: Path) -> None:
    """Any file is read or rejected; what was read can be written and read again."""
    source, target = tmp_path / "case.sdf", tmp_path / "again.sdf"
    form = SdfFormat(missing="skip")
    read = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(first, min(first + GROUP, CASES)):
            source.write_bytes(make_case(number))
            thing = read_or_refuse(form, source, number)
            if thing is None:
                refused += 1
                continue
            read += 1
            form.write(thing, target)  # type: ignore[arg-type] - a part or a scene
            again = form.read(target)
            if isinstance(thing, Part) and isinstance(again, Part):
                assert len(again.elements) >= len(thing.elements), f"case {number} ({source})"
    if first + GROUP <= CASES:
        assert read > GROUP / 20, "too few cases are readable: the changes are too rough"
        assert refused > GROUP / 20, "too few cases are refused: the changes are too gentle"
