"""Control programs: loading, running, reloading, and what they say when they fail."""

import gc
import math
import os
import statistics
import sys
import threading
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

from agent_fixture import STEP, SmallBench, program_bench
from linkwork.components.agents import watchdog
from linkwork.components.agents.control import Control
from linkwork.components.agents.program import Program
from linkwork.components.agents.program_state import RandomStream
from linkwork.core.errors import LinkworkError, ProgramError

FOLLOW = """\
from linkwork.components.agents.control import Control

class Follow(Control):
    def init(self):
        self.joint("J2").on_change(self.follow)

    def follow(self, angle):
        self.joint("J3").value = angle
"""


def inline(text: str, **params: object) -> SmallBench:
    return SmallBench(("p", "program", {"source": text, **params}))


def program(bench: SmallBench) -> Program:
    (agent,) = bench.agents
    assert isinstance(agent, Program)
    return agent


def listing(body: str) -> str:
    """A program whose class has the given methods."""
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    return f"class Control:\n{indented}\n"


@pytest.mark.capability(51, 52)
def test_j3_follows_j2_by_a_listener(tmp_path: Path) -> None:
    """001's listing: a program loaded from a file makes J3 go where J2 goes, a step later."""
    bench, _ = program_bench(tmp_path, FOLLOW, on="arm")
    bench.start()
    for target in (0.3, -0.7, 1.0):
        bench.turn("arm/J2", target)
        bench.run(2)
        assert bench.angle("arm/J3") == bench.angle("arm/J2") == target


@pytest.mark.capability(51)
def test_a_listener_class_with_a_joint_of_its_own_works_as_in_001() -> None:
    """The listing's inner class, which holds the other joint, can be written the same way."""
    bench = inline(
        """\
class MyListener:
    def __init__(self, other):
        self.other = other
    def value_changed(self, value):
        self.other.value = value

class Control:
    def init(self):
        self.joint("J2").on_change(MyListener(self.joint("J3")).value_changed)
"""
    ).start()
    bench.turn("arm/J2", 0.5)
    bench.run(2)
    assert bench.angle("arm/J3") == 0.5


def test_a_bare_class_named_control_is_enough() -> None:
    """No import is needed; the class gets all that the base offers."""
    bench = inline(listing('def loop(self): self.joint("J1").value = self.time')).start()
    bench.run(4)
    assert bench.angle("arm/J1") == pytest.approx(3 * STEP)


def test_a_class_extended_within_the_file_counts_once() -> None:
    """Of a class and its base in one file the last in line is the program."""
    bench = inline(
        "class Control:\n    goal = 1.0\n"
        '    def loop(self): self.joint("J1").value = self.goal\n'
        "class Mine(Control):\n    goal = 2.0\n"
    ).start()
    bench.step()
    assert bench.angle("arm/J1") == 2.0


@pytest.mark.capability(100)
def test_life_cycle_runs_init_loop_and_exit_in_order() -> None:
    """init once, loop at each period, callbacks in between, exit at the end."""
    bench = inline(
        listing(
            'def init(self): self.log("init"); self.joint("J2").on_change(self.moved)\n'
            'def loop(self): self.log("loop")\n'
            'def moved(self, angle): self.log(f"callback {angle}")\n'
            'def exit(self): self.log("exit")'
        )
    ).start()
    bench.step()
    bench.turn("arm/J2", 0.25)
    bench.step()
    bench.agents[0].close()
    bench.agents[0].close()
    assert [text for _, _, text in bench.logged] == [
        "init",
        "loop",
        "loop",
        "callback 0.25",
        "exit",
    ]
    assert bench.logged[0] == ("info", "p", "init")


def test_a_method_by_its_former_name_is_noted_once() -> None:
    """``say`` still logs, and the program is told once that it is called ``log``."""
    bench = inline(listing('def loop(self): self.say("here")')).start()
    bench.step()
    bench.step()
    note = ("warning", "p", "self.say() is now called self.log().")
    assert bench.logged == [note, ("info", "p", "here"), ("info", "p", "here")]


@pytest.mark.capability(161)
def test_layered_rates_are_kept() -> None:
    """The loop runs at the program's period, a timer in it at a multiple of that."""
    bench = inline(
        listing(
            "def init(self): self.every(0.1, self.slow); self.seen = []\n"
            'def loop(self): self.log(f"loop {self.time:.2f} {self.step:.2f}")\n'
            'def slow(self): self.log(f"slow {self.time:.2f}")'
        ),
        period=0.05,
    ).start()
    bench.run(21)
    logged = [text for _, _, text in bench.logged]
    assert logged == [
        "loop 0.00 0.05", "loop 0.05 0.05", "slow 0.10", "loop 0.10 0.05", "loop 0.15 0.05",
        "slow 0.20", "loop 0.20 0.05",
    ]  # fmt: skip


def test_handles_read_and_set_everything_of_a_joint() -> None:
    """Actual values are read, targets are set, and limits are known."""
    bench = inline(
        listing(
            "def loop(self):\n"
            '    j = self.joint("J2")\n'
            "    j.target, j.target_speed, j.target_effort = 0.5, 2.0, -3.0\n"
            "    self.log((j.value, j.target, j.speed, j.effort, j.lo, j.hi, j.unit, j.name))\n"
            "    self.log((j.target_speed, j.target_effort))\n"
            '    self.joint("base.x").value = 0.125\n'
            '    self.log(self.joint("cart/base.x").value)'
        )
    ).start()
    bench.state.report.effort[1] = 4.0
    bench.run(2)
    logged = [text for _, _, text in bench.logged]
    assert logged[0] == "(0.0, 0.5, 0.0, 4.0, -1.0, 1.0, 'rad', 'arm/J2')"
    assert logged[1] == "(2.0, -3.0)"
    assert logged[3] == "(0.5, 0.5, 50.0, 4.0, -1.0, 1.0, 'rad', 'arm/J2')"
    assert logged[5] == "0.125"


def test_a_target_beyond_the_range_becomes_the_limit_but_nan_is_refused() -> None:
    """A joint holds at its limit as a drive does; what is no number is an error."""
    bench = inline(listing('def loop(self): self.joint("J2").value = 7')).start()
    bench.step()
    assert bench.angle("arm/J2") == 1.0
    bench = inline(listing('def loop(self): self.joint("J2").value = float("nan")')).start()
    with pytest.raises(ProgramError, match="takes finite numbers, not nan"):
        bench.step()
    bench = inline(listing('def loop(self): self.joint("J2").value = "left"')).start()
    with pytest.raises(ProgramError, match="takes a number, not 'left'"):
        bench.step()


def test_signals_and_sensors_are_reached_by_name() -> None:
    """A signal has value, unit and range; a sensor's readings are attributes."""
    bench = inline(
        listing(
            "def loop(self):\n"
            '    tilt = self.sensor("tilt")\n'
            '    self.signal("J3.target").value = tilt.x + tilt.y\n'
            "    tilt.noise = 0.25\n"
            '    angle = self.signal("arm/J2.angle")\n'
            "    self.log((angle.value, angle.unit, angle.lo, angle.hi))"
        )
    ).start()
    bench.state["tilt"][:] = 0.5, 0.125
    bench.step()
    assert bench.angle("arm/J3") == 0.625
    assert bench.state["noise"][0] == 0.25
    assert bench.logged[0][2] == "(0.0, 'rad', -1.0, 1.0)"


@pytest.mark.parametrize(
    ("line", "expected_text"),
    [
        ('self.joint("J9")', ["no joint named 'J9'", "arm/J1, arm/J2, arm/J3, cart/base"]),
        ('self.joint("base")', ["3 degrees of freedom", "base.x"]),
        ('self.joint("base.z")', ["no degree of freedom named 'z'"]),
        ('self.joint("lift").value = 1', ["no target", "actuator", "cart/lift.position"]),
        ('self.sensor("compass")', ["no sensor named 'compass'", "arm/tilt"]),
        ('self.sensor("tilt").z', ["no reading of sensor 'arm/tilt' named 'z'", "noise, x, y"]),
        ('self.sensor("tilt").x = 1', ["is measured"]),
        ('self.signal("heat")', ["no signal named 'heat'"]),
        ('self.signal("J2.angle").value = 1', ["is measured"]),
        ('self.signal("J2.target").value = 7', ["takes -1 to 1 rad, not 7"]),
        ('self.joint("J2").on_change(3)', ["needs a function", "not self.follow()"]),
        ('self.joint("J2").on_change(print, by=-1)', ["by must be 0 or more"]),
        ("self.every(0.015, print)", ["not a whole multiple", "0.02 s"]),
        ("self.after(-1, print)", ["time of 0 s or more"]),
        ("self.memory.speed", ["no memory slot named 'speed'", "self.memory("]),
        ("self.memory.speed = 'fast'", ["keeps a number"]),
        ("self.memory._x = 1", ["cannot be named '_x'"]),
        ("[self.memory(f'm{n}') for n in range(65)]", ["no free slot", "'m64'", "has 64"]),
        ("[self.after(1, print) for n in range(33)]", ["32 timers at once"]),
        ("self.time = 3", ["AttributeError"]),
        ("1 / 0", ["ZeroDivisionError: division by zero"]),
        ("import no_such_module", ["ModuleNotFoundError", "no_such_module"]),
        ("raise KeyError('x\\ny')", ["KeyError: 'x\\ny'"]),
        ("raise SystemExit(2)", ["it called exit(2)"]),
        ("self.loop(1)", ["TypeError", "takes 1 positional argument"]),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_exists(
    tmp_path: Path, line: str, expected_text: list[str]
) -> None:
    """Whatever goes wrong in a program becomes one error with file, line and source line."""
    text = "\n".join(
        ["class Control:", "    def loop(self):", "        pass", f"        {line}", ""]
    )
    bench, file = program_bench(tmp_path, text)
    bench.start()
    with pytest.raises(ProgramError) as caught:
        bench.step()
    message = str(caught.value)
    assert message.startswith(f"{file}:4: program 'follow': ")
    assert line in message
    for word in expected_text:
        assert word in message


def test_the_same_name_twice_asks_for_the_full_one() -> None:
    """Where two parts have a joint of one name, the error lists both; 'on' decides."""
    text = listing('def init(self): self.log(self.signal("J2.angle").name)')
    bench = SmallBench(("p", "program", {"source": text}))
    bench.signals.add("other/J2.angle", 0)
    with pytest.raises(ProgramError, match=r"2 signals are named 'J2.angle': arm/J2.angle, other"):
        bench.start()
    bench = SmallBench(("p", "program", {"source": text, "on": "arm"}))
    bench.signals.add("other/J2.angle", 0)
    bench.start()
    assert bench.logged[0][2] == "arm/J2.angle"


def test_the_deepest_line_of_the_users_file_is_named(tmp_path: Path) -> None:
    """An error inside a library is told at the user's line that led there."""
    bench, file = program_bench(
        tmp_path,
        "import json\n"
        "class Control:\n"
        "    def init(self):\n"
        "        self.read('{')\n"
        "    def read(self, text):\n"
        "        return json.loads(text)\n",
    )
    with pytest.raises(ProgramError, match="JSONDecodeError") as caught:
        bench.start()
    assert caught.value.origin is not None
    assert (caught.value.origin.file, caught.value.origin.line) == (str(file), 6)
    assert "return json.loads(text)" in str(caught.value)


def test_a_listener_that_takes_no_value_is_named_by_its_definition() -> None:
    """A call that fails before it reaches the user's code points at the function."""
    bench = inline(
        listing(
            'def init(self):\n    self.joint("J1").on_change(self.moved)\ndef moved(self): pass'
        )
    ).start()
    bench.turn("arm/J1", 1.0)
    with pytest.raises(ProgramError, match=r"<p>:4: .*moved\(\) takes 1 positional"):
        bench.step()


@pytest.mark.parametrize(
    ("text", "line", "expected_text"),
    [
        ("class Control:\n    def init(self)\n        pass\n", 2, "SyntaxError: expected ':'"),
        ("x = 1\n  y = 2\n", 2, "IndentationError"),
        ("import math\nmath.no_such\n", 2, "AttributeError"),
        ("x = 1\nclass Walker: pass\n", 0, "no class that extends Control. Classes in it: Walker"),
        (
            "from linkwork import Control\nclass A(Control): pass\nclass B(Control): pass\n",
            0,
            "defines 2 programs: A, B",
        ),
        (
            "import abc\nclass Control(abc.ABC):\n    @abc.abstractmethod\n    def go(self): ...\n",
            0,
            "TypeError: Can't instantiate abstract class",
        ),
        ("import sys\nsys.exit()\n", 2, "it called exit(None)"),
        ("raise BaseException('odd')\n", 1, "BaseException: odd"),
        ("def f(): f()\nf()\n", 1, "RecursionError"),
        ("class Bad(Exception):\n    def __str__(self): return 1/0\nraise Bad\n", 3, "Bad: (its"),
        ("(" * 500 + ")" * 500, 1, "too many nested parentheses"),
    ],
)
def test_a_file_that_cannot_be_loaded_says_why(
    tmp_path: Path, text: str, line: int, expected_text: str
) -> None:
    """Syntax errors, failing imports, and files with no program or several."""
    bench, file = program_bench(tmp_path, text)
    with pytest.raises(ProgramError) as caught:
        bench.start()
    place = f"{file}:{line}" if line else str(file)
    assert str(caught.value).startswith(f"{place}: program 'follow'")
    assert expected_text in str(caught.value)


def test_check_finds_a_syntax_error_without_running_anything(tmp_path: Path) -> None:
    """Before the run a finding names the line; a sound file has none and is not executed."""
    bench, file = program_bench(tmp_path, "x = 1\ny =\n")
    (finding,) = bench.agents[0].check()
    assert (finding.level, finding.origin.file, finding.origin.line) == ("error", str(file), 2)
    bench, _ = program_bench(tmp_path, "raise RuntimeError\n")
    assert bench.agents[0].check() == []


@pytest.mark.parametrize(
    ("params", "expected_text"),
    [
        ({}, "needs a 'file' or a 'source'"),
        ({"file": "gone.py"}, "cannot be read: No such file"),
        ({"file": "."}, "cannot be read: Is a directory"),
        ({"file": "a\0b"}, "cannot be read: embedded null byte"),
        ({"source": "", "period": 0.015}, "not a whole multiple of the step"),
        ({"source": "", "call_timeout": -1}, "call_timeout must be 0 s or more"),
        ({"source": "", "call_timeout": "soon"}, "call_timeout"),
        ({"source": "", "on": "leg"}, "no part named 'leg'. Available parts: arm, cart"),
        ({"source": "", "perod": 1}, "Did you mean 'period'?"),
        ({"source": 3}, "source"),
    ],
)
def test_bad_parameters_are_refused(params: dict, expected_text: str) -> None:
    """What a scene says of a program is checked before the run."""
    with pytest.raises(LinkworkError) as caught:
        SmallBench(("p", "program", params))
    assert expected_text in str(caught.value)


def test_a_failed_start_is_told_again_until_it_is_mended(tmp_path: Path) -> None:
    """A program whose init failed does not run on silently; a good reload starts it."""
    bench, file = program_bench(tmp_path, listing('def init(self): self.joint("J7")'))
    with pytest.raises(ProgramError, match="J7"):
        bench.start()
    with pytest.raises(ProgramError, match="J7"):
        bench.step()
    for text, expected_text in (
        ("import nowhere", "nowhere"),
        (listing("def init(self): 1/0"), "Zero"),
    ):
        with pytest.raises(ProgramError, match=expected_text):
            program(bench).reload(text)
        with pytest.raises(ProgramError):
            bench.step()
    file.write_text(FOLLOW)
    program(bench).reload()
    bench.turn("arm/J2", 0.5)
    bench.run(2)
    assert bench.angle("arm/J3") == 0.5


def test_an_error_in_the_loop_leaves_the_program_running() -> None:
    """After an error the next step calls the same object again."""
    bench = inline(
        listing(
            "n = 0\ndef loop(self):\n    self.n += 1\n    self.log(self.n)\n    assert self.n != 2"
        )
    ).start()
    bench.step()
    with pytest.raises(ProgramError, match="AssertionError"):
        bench.step()
    bench.step()
    assert [text for _, _, text in bench.logged] == ["1", "2", "3"]


COUNT = """\
class Control:
    def init(self):
        self.memory("count", 10)
        self.memory("{more}", 0.5)
    def loop(self):
        self.memory.count += {by}
        self.joint("J1").value = self.memory.count
    def exit(self):
        self.log("old ends")
"""


@pytest.mark.capability(51)
def test_reload_keeps_memory_of_the_same_names(tmp_path: Path) -> None:
    """A changed file replaces the program; named numbers go on from where they were."""
    bench, file = program_bench(tmp_path, COUNT.format(by=1, more="gain"))
    bench.start()
    bench.run(3)
    assert bench.angle("arm/J1") == 13
    assert program(bench).changed_on_disk() is None
    file.write_text(COUNT.format(by=100, more="another"))
    program(bench).reload(program(bench).changed_on_disk())
    assert program(bench).changed_on_disk() is None
    bench.step()
    assert bench.angle("arm/J1") == 113
    assert bench.logged == [("info", "follow", "old ends")]
    assert program(bench).source == file.read_text()


def test_a_change_on_disk_is_noticed_once(tmp_path: Path) -> None:
    """New text counts; a new date alone, an emptied and a vanished file do not."""
    bench, file = program_bench(tmp_path, FOLLOW)
    bench.start()
    os.utime(file, ns=(1, 1))
    assert program(bench).changed_on_disk() is None
    file.write_text("")
    assert program(bench).changed_on_disk() is None
    file.write_text(FOLLOW + "# more\n")
    assert program(bench).changed_on_disk() == FOLLOW + "# more\n"
    assert program(bench).changed_on_disk() is None
    file.write_bytes(b"\xff\xfe")
    assert program(bench).changed_on_disk() is None
    assert program(bench).changed_on_disk() is None
    ((level, _, text),) = bench.logged
    assert level == "warning"
    assert "not UTF-8" in text
    file.unlink()
    assert program(bench).changed_on_disk() is None
    with pytest.raises(ProgramError, match="No such file"):
        program(bench).reload()


def test_an_init_that_fails_has_set_nothing() -> None:
    """What init sets counts once it has come to its end."""
    bench = inline(listing('def init(self): self.joint("J1").value = 0.5')).start()
    bench.step()
    assert bench.angle("arm/J1") == 0.5
    with pytest.raises(ProgramError, match="Zero"):
        program(bench).reload(listing('def init(self): self.joint("J3").value = 0.5; 1/0'))
    bench.run(2)
    assert bench.angle("arm/J3") == 0.0
    with pytest.raises(ProgramError, match=r"<p>:3: .*is measured"):
        inline(listing('def init(self):\n    self.signal("J1.angle").value = 0.5')).start()


@pytest.mark.parametrize(
    ("text", "expected_text", "blinks"),
    [
        ("class Control:\n    def loop(self) pass\n", "SyntaxError", 2),
        ("import nowhere\n", "nowhere", 2),
        (listing('def __init__(self): self.joint("J2").on_change(print); 1/0'), "ZeroDiv", 1),
        (listing('def init(self): self.memory.count = 0; self.joint("J8")'), "J8", 1),
    ],
)
def test_a_failing_reload_keeps_the_old_program(text: str, expected_text: str, blinks: int) -> None:
    """Whether the text, an import or init fails, the old program goes on with its memory.

    Its timers go on too; where the new program got as far as init, they begin anew.
    """
    bench = inline(
        listing(
            'def init(self):\n    self.memory("count", 0)\n    self.tell()\n'
            "    self.every(0.02, self.blink)\n"
            'def tell(self): self.joint("J2").on_change(self.moved)\n'
            "def loop(self): self.memory.count += 1\n"
            'def blink(self): self.log("blink")\n'
            'def moved(self, angle): self.log(f"{angle} {self.memory.count}")'
        )
    ).start()
    bench.run(4)
    with pytest.raises(ProgramError, match=expected_text):
        program(bench).reload(text)
    assert expected_text not in program(bench).source
    bench.logged.clear()
    bench.turn("arm/J2", 0.5)
    bench.run(4)
    logged = [text for _, _, text in bench.logged]
    assert "0.5 5.0" in logged
    assert logged.count("blink") == blinks
    assert len(bench.listeners) == 1


def test_an_old_program_that_cannot_begin_again_is_told() -> None:
    """Where the new init and then the old one fail, both are told and nothing runs silently."""
    bench = inline(
        listing("def init(self):\n    if self.time: raise OSError('port is taken')")
    ).start()
    bench.step()
    with pytest.raises(ProgramError, match="ZeroDivisionError"):
        program(bench).reload(listing("def init(self): 1/0"))
    ((level, _, text),) = bench.logged
    assert level == "warning"
    assert "port is taken" in text
    with pytest.raises(ProgramError, match="port is taken"):
        bench.step()


def test_an_exit_that_fails_is_told_and_the_new_program_starts() -> None:
    """The old program cannot prevent its replacement."""
    bench = inline(listing("def exit(self): 1/0")).start()
    program(bench).reload(listing('def loop(self): self.joint("J1").value = 2'))
    bench.step()
    assert bench.angle("arm/J1") == 2
    ((level, source, text),) = bench.logged
    assert (level, source) == ("warning", "p")
    assert "ZeroDivisionError" in text


def test_reload_gives_up_listeners_ownership_and_modules() -> None:
    """Nothing of the old program is left behind."""
    loaded = {name for name in sys.modules if name.startswith("linkwork_program")}
    bench = inline(
        listing('def init(self): self.joint("J2").on_change(print)\n'
                'def loop(self): self.joint("J1").value = 1')
    ).start()  # fmt: skip
    bench.step()
    assert bench.signals.owners == {"arm/J1.target": "p"}
    for _ in range(3):
        program(bench).reload(listing("pass"))
    assert bench.listeners == []
    assert bench.signals.owners == {}
    bench.agents[0].close()
    assert {name for name in sys.modules if name.startswith("linkwork_program")} == loaded


def test_two_programs_do_not_share_a_joint() -> None:
    """The second program that sets a joint learns who owns it."""
    text = listing('def loop(self): self.joint("J1").value = 1')
    bench = SmallBench(("a", "program", {"source": text}), ("b", "program", {"source": text}))
    bench.start()
    with pytest.raises(ProgramError, match=r"'arm/J1\.target' is owned by 'a', not by 'b'"):
        bench.step()


def test_listeners_are_called_in_order_and_when_moved_far_enough() -> None:
    """Order of registration; ``by`` is the distance from the last call."""
    bench = inline(
        listing(
            "def init(self):\n"
            '    self.joint("J1").on_change(lambda v: self.log(f"a {v}"))\n'
            '    self.joint("J1").on_change(lambda v: self.log(f"b {v}"), by=0.25)\n'
            '    self.signal("J1.angle").on_change(lambda v: self.log(f"c {v}"))'
        )
    ).start()
    for target in (0.25, 0.5, 0.5, 0.625, 0.875):
        bench.turn("arm/J1", target)
        bench.step()
    logged = [text for _, _, text in bench.logged]
    assert logged == [
        "a 0.25", "c 0.25", "a 0.5", "b 0.5", "c 0.5", "a 0.625", "c 0.625", "a 0.875", "b 0.875",
        "c 0.875",
    ]  # fmt: skip


TIMED = listing(
    "def init(self):\n"
    "    self.every(0.03, self.tick)\n"
    '    self.after(0.05, lambda: self.log(f"once {self.time:.2f}"))\n'
    "    self.beat = self.every(0.02, self.twice)\n"
    "    self.memory('n')\n"
    "def tick(self):\n"
    '    self.log(f"tick {self.time:.2f} {self.random.uniform():.6f}")\n'
    "    self.after(0.01, self.echo)\n"
    'def echo(self): self.log(f"echo {self.time:.2f}")\n'
    "def twice(self):\n"
    "    self.memory.n += 1\n"
    '    self.log(f"beat {self.time:.2f} {self.random.normal():.6f}")\n'
    "    if self.memory.n == 4: self.beat.stop()"
)


def test_timers_call_at_the_right_steps_in_order() -> None:
    """Earliest first, then in the order they were set; a stopped one is silent."""
    bench = inline(TIMED).start()
    bench.run(11)
    logged = [" ".join(text.split()[:2]) for _, _, text in bench.logged]
    assert logged == [
        "beat 0.02", "tick 0.03", "beat 0.04", "echo 0.04", "once 0.05", "tick 0.06", "beat 0.06",
        "echo 0.07", "beat 0.08", "tick 0.09", "echo 0.10",
    ]  # fmt: skip


@pytest.mark.parametrize("at", [0, 1, 3, 5, 6])
def test_memory_timers_and_random_numbers_are_restored_with_the_state(at: int) -> None:
    """A run from a restored state says the same and ends in the same bits."""
    bench = inline(TIMED).start()
    bench.run(at)
    kept = bench.state.copy()
    bench.logged.clear()
    bench.run(12)
    logged, end = list(bench.logged), bench.state.copy()
    bench.state.restore(kept)
    bench.logged.clear()
    bench.run(12)
    assert bench.logged == logged
    assert bench.state.same(end), bench.state.difference(end)


def test_two_runs_are_bit_identical_and_names_give_other_numbers() -> None:
    """The same scene and seed repeat; a program of another name has its own numbers."""
    text = listing('def loop(self): self.joint("J1").value = self.random.uniform(-1, 1)')
    ends = []
    for name in ("a", "a", "b"):
        bench = SmallBench((name, "program", {"source": text})).start()
        bench.run(5)
        ends.append(bench.state.data.tobytes())
    assert ends[0] == ends[1] != ends[2]


def test_random_numbers_have_the_promised_distributions() -> None:
    """Mean and spread of uniform, normal and whole numbers, within four standard errors."""
    bench = inline(listing("def init(self): self.box = self.random")).start()
    control = program(bench)._control
    assert control is not None
    chance, n = control.random, 20000
    uniform = [chance.uniform(2.0, 4.0) for _ in range(n)]
    assert min(uniform) >= 2.0
    assert max(uniform) < 4.0
    assert abs(statistics.mean(uniform) - 3.0) < 4.0 * math.sqrt(4.0 / 12.0 / n)
    normal = [chance.normal(1.0, 3.0) for _ in range(n)]
    assert abs(statistics.mean(normal) - 1.0) < 4.0 * 3.0 / math.sqrt(n)
    assert abs(statistics.stdev(normal) / 3.0 - 1.0) < 4.0 / math.sqrt(2.0 * n)
    whole = [chance.integer(-1, 1) for _ in range(n)]
    assert set(whole) == {-1, 0, 1}
    assert abs(whole.count(0) / n - 1.0 / 3.0) < 4.0 * math.sqrt(2.0 / 9.0 / n)


def test_splitmix64_gives_its_published_numbers() -> None:
    """From the counter 1234567 the first outputs are those of the reference implementation."""
    chance = RandomStream(np.array([1234567], np.int64))
    assert [chance.bits() for _ in range(3)] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "line", "name"),
    [
        ("def loop(self):\n    while True:\n        pass", 4, "loop()"),
        ("def loop(self):\n    for _ in iter(int, 1):\n        pass", 3, "loop()"),
        (
            "def loop(self):\n    while True:\n        try:\n            while True: pass\n"
            "        except BaseException:\n            if self.time >= 0: raise",
            5,
            "loop()",
        ),
        ("def init(self):\n    self.after(0, self.hang)\n"
         "def hang(self):\n    while True:\n        self.time", 6, "hang()"),
    ],
)  # fmt: skip
def test_a_call_that_never_returns_is_stopped(
    tmp_path: Path, body: str, line: int, name: str
) -> None:
    """An endless loop ends in an error that names the function, the time and the line."""
    bench, file = program_bench(tmp_path, listing(body), call_timeout=0.1)
    bench.start()
    with pytest.raises(ProgramError) as caught:
        bench.run(2)
    assert f"{name} has not returned for 0.1 s" in str(caught.value)
    origin = caught.value.origin
    assert origin is not None
    assert origin.file == str(file)
    assert abs(origin.line - line) <= 1  # which line of the loop depends on the moment


def test_an_endless_init_a_listener_and_a_stubborn_loop_are_stopped_too() -> None:
    """Loading gets ten times the patience; who catches the first stop gets a second one."""
    bench = inline(listing("def init(self):\n    while True: pass"), call_timeout=0.02)
    with pytest.raises(ProgramError, match=r"init\(\) has not returned for 0\.2 s"):
        bench.start()
    bench = inline("while True: pass", call_timeout=0.02)
    with pytest.raises(ProgramError, match=r"has not returned for 0\.2 s"):
        bench.start()
    bench = inline(
        listing(
            'def init(self): self.joint("J1").on_change(self.hang)\n'
            "def hang(self, angle):\n"
            "    try: self.spin()\n"
            '    except BaseException: self.log("caught")\n'
            "    self.spin()\n"
            "def spin(self):\n"
            "    while True: pass"
        ),
        call_timeout=0.05,
    ).start()
    bench.turn("arm/J1", 1.0)
    with pytest.raises(ProgramError, match=r"<p>:8: .*hang\(\) has not returned"):
        bench.step()
    assert [text for _, _, text in bench.logged] == ["caught"]
    bench.step()


def test_the_guard_never_strikes_after_the_call() -> None:
    """Calls that end just as the patience does either fail or return, and nothing comes later."""
    watched = watchdog.CallWatchdog(0.02)

    def busy(until: float) -> str:
        while monotonic() < until:
            pass
        return "done"

    outcomes = set()
    for n in range(60):
        try:
            outcomes.add(watched.run(busy, monotonic() + 0.012 + 0.0006 * n))
        except watchdog.CallTimeout:
            outcomes.add("stopped")
        for _ in range(50):  # a late strike would land here
            busy(0.0)
    assert outcomes == {"done", "stopped"}


def test_a_guard_struck_within_itself_can_be_used_again() -> None:
    """An exception in the midst of the guard's own lock leaves it open."""
    watched = watchdog.CallWatchdog(0.0)
    with pytest.raises(watchdog.CallTimeout):
        watched.run(watched.interrupt_if_late, math.inf)
    assert watched.run(len, "ab") == 2


def test_the_watch_ends_with_its_last_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread is left once the programs are gone, and the next guard starts a new one."""
    monkeypatch.setattr(watchdog, "_thread", watchdog._WatchdogThread())
    for _ in range(2):
        before = set(threading.enumerate())
        one = watchdog.CallWatchdog(0.02)
        (thread,) = set(threading.enumerate()) - before
        assert one.run(len, "ab") == 2
        del one
        gc.collect()
        thread.join(5.0)
        assert not thread.is_alive()


def test_ctrl_c_in_a_program_is_not_its_mistake() -> None:
    """KeyboardInterrupt reaches whoever started the session."""
    bench = inline(listing("def loop(self): raise KeyboardInterrupt")).start()
    with pytest.raises(KeyboardInterrupt):
        bench.step()


def test_a_program_imports_its_neighbours_and_uses_dataclasses(tmp_path: Path) -> None:
    """Modules in the program's folder are found, and the search path stays as it was."""
    (tmp_path / "neighbour_of_follow.py").write_text("GOAL = 0.75\n")
    before = list(sys.path)
    bench, _ = program_bench(
        tmp_path,
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from neighbour_of_follow import GOAL\n"
        "@dataclass\n"
        "class Wish:\n    goal: float\n"
        "class Control:\n"
        '    def loop(self): self.joint("J1").value = Wish(GOAL).goal\n',
    )
    bench.start()
    bench.step()
    sys.modules.pop("neighbour_of_follow", None)
    assert bench.angle("arm/J1") == 0.75
    assert sys.path == before


def test_a_recorded_source_runs_without_its_file() -> None:
    """With file and source both given, the text counts and the file is only named."""
    text = listing("def loop(self): 1/0")
    bench = SmallBench(("p", "program", {"file": "gone.py", "source": text})).start()
    with pytest.raises(ProgramError, match=r"gone\.py:2: "):
        bench.step()


def test_starting_again_begins_anew_but_keeps_memory() -> None:
    """After a live edit init runs again; named numbers stay, timers start over."""
    bench = inline(
        listing(
            'def init(self): self.log(self.memory("n", 1)); self.every(0.02, self.up)\n'
            "def up(self): self.memory.n += 1"
        )
    ).start()
    bench.run(6)
    bench.start()
    assert [text for _, _, text in bench.logged] == ["1.0", "3.0"]
    bench.run(3)
    bench.start()
    assert bench.logged[-1][2] == "4.0"


def test_a_control_outside_a_session_says_so() -> None:
    """An object that nobody runs has no joints."""
    with pytest.raises(LinkworkError, match="not part of a session"):
        Control().joint("J1")


def test_thousands_of_passing_timers_do_not_pile_up() -> None:
    """Calls of timers that ended are forgotten in time."""
    bench = inline(
        listing("def loop(self):\n    for _ in range(30): self.after(0, lambda: None)")
    ).start()
    bench.run(200)
    assert len(program(bench)._timers._calls) < 2100
