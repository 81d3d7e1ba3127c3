"""The TCP part: joint angles and speeds in, joint angles out, by clients that know only lines."""

import math
import shutil
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus_fixture import block_of
from linkwork import LinkworkError, Session
from linkwork.buses.port_listing import port_lines
from linkwork.buses.tcp import lines
from linkwork.core.errors import FormatError, SessionError
from linkwork.session.messages import OverrideSignal
from part_fixture import COMMANDS, Controller, cell, endpoint, run_until

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 30.0


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), max_size=9))
def test_commands_come_back_as_they_were(values: list[float | None]) -> None:
    """Numbers cross as text without losing a bit."""
    line = lines.commands_line(values)
    if values:
        assert lines.parse_commands(line, len(values)) == values


@given(st.text(max_size=80), st.integers(0, 5))
def test_any_line_is_read_or_refused(text: str, count: int) -> None:
    """Nothing but a FormatError comes of a line that is none."""
    for parse in (
        lambda: lines.parse_commands(f"c {text}", count),
        lambda: lines.parse_sensors(text, count),
        lambda: lines.parse_item(text),
        lambda: lines.decoded(text.encode("utf-8", "surrogatepass")),
    ):
        try:
            parse()
        except FormatError:
            continue


@pytest.mark.capability(28)
def test_a_controller_outside_moves_the_arm(tmp_path: Path) -> None:
    """The part says what it takes and tells; wanted angles come in, angles go out."""
    with Session(cell(tmp_path)) as session:
        controller = Controller(endpoint(session))
        reported = [line.split(" ") for line in controller.described]
        assert [w[1] for w in reported if w[0] == "command"] == COMMANDS
        assert [w[1] for w in reported if w[0] == "sensor"] == ["J1.angle", "J2.angle"]
        assert reported[0][2] == "rad"
        assert [float(w) for w in reported[0][3:]] == pytest.approx(
            [math.radians(-40), math.radians(75)]
        )
        assert reported[-1] == ["period", "0.01", "real"]
        controller.send_text("c 0.6 - 0.3")
        run_until(session, lambda: abs(session["arm/J1.angle"] - 0.6) < 0.01)
        assert session.signals.owners["arm/J1.target"] == "part"
        assert session["arm/J2.target"] == pytest.approx(0.3)
        assert abs(controller.angles()[0] - 0.6) < 1.0
        controller.send_text("ping hello")
        run_until(session, lambda: session["part.lines_in"] >= 2)
        assert controller.until("pong") == "pong hello"
        controller.close()


def test_the_highest_speed_is_a_command(tmp_path: Path) -> None:
    """With a tenth of the speed the way takes longer."""
    with Session(cell(tmp_path)) as session:
        controller = Controller(endpoint(session))
        controller.send_text("c 0.7 0.2 -")
        run_until(session, lambda: session["arm/J1.target"] == 0.7)
        start = session["arm/J1.angle"]
        session.run(1.0)
        assert session["arm/J1.angle"] - start == pytest.approx(0.2, abs=0.03)
        controller.close()


def test_what_cannot_be_used_is_answered_and_changes_nothing(tmp_path: Path) -> None:
    """NaN, a wrong number of values, an unknown line: an error each; the next good line counts."""
    with Session(cell(tmp_path)) as session:
        controller = Controller(endpoint(session))
        before = session["arm/J1.target"]
        for line in ("c nan - -", "c 1 2", "c 1_0 - -", "jump", "c 1e999 - -", "\x01"):
            controller.send_text(line)
        run_until(session, lambda: session["part.bad_lines"] >= 6)
        assert session["arm/J1.target"] == before
        errors = [controller.until("error") for _ in range(6)]
        assert "not a finite number" in errors[0]
        assert "3 commands" in errors[1]
        controller.send_text("c 0.5 - -")
        run_until(session, lambda: session["arm/J1.target"] == 0.5)
        controller.close()


def test_a_line_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    """It is answered and counted, and the next one counts, however much of it there was."""
    with Session(cell(tmp_path)) as session:
        controller = Controller(endpoint(session))
        for size in (70_000, 300_000, lines.MAX_LINE):
            controller.send_text(f"c {'1' * size} - -")
        controller.send_text("c 0.5 - -")
        run_until(session, lambda: session["arm/J1.target"] == 0.5)
        run_until(session, lambda: session["part.bad_lines"] == 3)
        reported = [controller.until("error") for _ in range(3)]
        assert reported == [f"error a line is too long: {lines.MAX_LINE} bytes at most."] * 3
        controller.close()


def test_who_sends_nothing_but_rubbish_is_sent_away(tmp_path: Path) -> None:
    """A thousand wrong lines in a row are no controller's; one good one between, and it is."""
    with Session(cell(tmp_path)) as session:
        controller = Controller(endpoint(session))
        controller.send_text("zz\n" * 900 + "ping x\n" + "zz\n" * 900 + "ping y")
        assert controller.until("pong y") == "pong y"
        controller.send_text("zz\n" * 999 + "zz")
        assert len(controller.file.readlines()) >= 1000  # its answers, and then the end
        run_until(session, lambda: session["part.clients"] == 0)
        controller.close()


def test_one_commands_and_the_others_look_on(tmp_path: Path) -> None:
    """A second master is told who commands; when the first leaves, it may."""
    with Session(cell(tmp_path)) as session:
        first, second = Controller(endpoint(session)), Controller(endpoint(session))
        first.send_text("c 0.5 - -")
        run_until(session, lambda: session["arm/J1.target"] == 0.5)
        second.send_text("c 0.1 - -")
        run_until(session, lambda: session["part.bad_lines"] >= 1)
        assert "commands this part" in second.until("error")
        assert session["arm/J1.target"] == 0.5
        first.close()
        run_until(session, lambda: session["part.clients"] == 1)
        second.send_text("c 0.1 - -")
        run_until(session, lambda: session["arm/J1.target"] == 0.1)
        second.close()


def controlled(folder: Path, delay: float) -> tuple[bytes, float]:
    """A run in lock-step with a controller that takes ``delay`` for each answer [s]."""
    with Session(cell(folder, "lockstep = true")) as session:
        port = endpoint(session)
        joined, over = threading.Event(), threading.Event()

        def control() -> None:
            controller = Controller(port)
            joined.set()
            for _ in range(40):
                angle = controller.angles()[0]
                time.sleep(delay)
                controller.send_text(f"c {0.3 + 0.5 * math.sin(3 * angle)!r} - -")
            over.wait(TIMEOUT)  # its leaving would be heard in the last period, or after it
            controller.close()

        thread = threading.Thread(target=control)
        thread.start()
        assert joined.wait(TIMEOUT)
        for _ in range(40):
            session.step(5)
        over.set()
        thread.join(TIMEOUT)
        moved = (session.state.q, session.state.v, session.state.pose, session.state.target)
        return b"".join(each.tobytes() for each in moved), session.time


def test_lockstep_is_the_same_however_slow_the_controller(tmp_path: Path) -> None:
    """Simulated time waits for the controller; three paces give the same bits."""
    states = {controlled(tmp_path, delay) for delay in (0.0, 0.003, 0.02)}
    assert len(states) == 1
    assert next(iter(states))[1] == pytest.approx(0.4)


def test_lines_are_counted_in_lockstep_too(tmp_path: Path) -> None:
    """With the turns, so that counters too are the same at every pace; also who was kept out."""
    hashes = set()
    for delay in (0.0, 0.01):
        with Session(cell(tmp_path, "lockstep = true")) as session:
            stranger = Controller(endpoint(session), join=False)
            stranger.send_text("hello")
            assert stranger.until("error")
            controller = Controller(endpoint(session))
            for line in ("c 0.3 - -", "zzz\nc 0.4 - -", "ping x\nc 0.5 - -"):
                time.sleep(delay)
                controller.send_text(line)
                session.step(5)
            names = block_of(session.cycle, "part").adapter.counters
            counts = {name: session[f"part.{name}"] for name in names}
            assert counts == {
                "lines_in": 5, "lines_out": 3, "bad_lines": 1, "skipped": 0, "dropped": 0,
                "rejections": 1, "invalid": 0,
            }  # fmt: skip
            hashes.add(session.state.hash())
            controller.close()
    assert len(hashes) == 1


def test_who_is_silent_in_lockstep_is_told_apart_from_who_has_left(tmp_path: Path) -> None:
    """The line is still open: nothing has left. Each return is told, the second one too."""
    more = 'lockstep = true\non_loss = "hold"\npatience = 0.2'
    with Session(cell(tmp_path, more)) as session:
        reported = session.outbox.events

        def received(text: str) -> int:
            return sum(text in event.text for event in reported)

        controller = Controller(endpoint(session))
        for times in (1, 2):
            controller.send_text("c 0.3 - -")
            run_until(session, lambda n=times: received("no answer for 0.2 s") >= n)
            controller.send_text("c 0.4 - -")
            run_until(session, lambda n=times: received("is back") >= n)
        assert not any("left" in event.text for event in reported)
        controller.close()


def test_a_dead_controller_ends_by_the_policy(tmp_path: Path) -> None:
    """In lock-step its leaving pauses the session, with a message."""
    with Session(cell(tmp_path, 'lockstep = true\non_loss = "pause"')) as session:
        controller = Controller(endpoint(session))
        controller.send_text("c 0.4 - -")
        session.step(5)
        controller.close()
        with pytest.raises(SessionError, match="bus 'part' has lost its controller"):
            session.run()
        assert not session.running
        assert session.time == pytest.approx(0.01)
        assert any("left" in event.text for event in session.outbox.events)


def test_who_does_not_know_the_token_stays_out(tmp_path: Path) -> None:
    """A wrong token is told late and sent away; the right one is let in."""
    with Session(cell(tmp_path, 'token = "sesame"')) as session:
        wrong = Controller(endpoint(session), join=False)
        wrong.send_text("join open")
        assert wrong.read() == "error the token is wrong."
        assert wrong.read() == ""
        for line, why in (
            ("join", "this part has a token: join and the token."),
            ("hello", "the first line must be: join and the token."),
        ):
            other = Controller(endpoint(session), join=False)
            other.send_text(line)
            assert other.read() == f"error {why}"
            assert other.read() == ""
        right = Controller(endpoint(session), token="sesame")
        right.send_text("c 0.5 - -")
        run_until(session, lambda: session["arm/J1.target"] == 0.5)
        right.close()


def test_open_to_others_only_with_a_token(tmp_path: Path) -> None:
    """A host that others can reach gets a token that nobody guesses, and says it."""
    with Session(cell(tmp_path, 'host = "0.0.0.0"'), allow=["network"]) as session:
        assert session.bus_processes is not None
        line = session.bus_processes["part"].endpoints[0]
        token = line.rpartition(" token ")[2]
        assert len(token) >= 12
        Controller(endpoint(session), token=token).close()


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine, and its key."""
    made, key = folder / "part.pem", folder / "part.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-keyout", str(key), "-out", str(made)],
        check=True, capture_output=True,
    )  # fmt: skip
    return made, key


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_the_line_can_be_encrypted(tmp_path: Path) -> None:
    """With TLS a controller that trusts the certificate is served; one that does not goes away."""
    made, key = certified(tmp_path)
    more = f'tls = true\ncertificate = "{made}"\nkey = "{key}"'
    with Session(cell(tmp_path, more)) as session:
        with pytest.raises(ssl.SSLError):
            Controller(endpoint(session), tls=ssl.create_default_context())
        controller = Controller(endpoint(session), tls=ssl.create_default_context(cafile=str(made)))
        controller.send_text("c 0.5 - -")
        run_until(session, lambda: session["arm/J1.target"] == 0.5)
        controller.close()


@pytest.mark.capability(26, 27)
@pytest.mark.parametrize("plant", ['plant = "both"\ncloses = "real"', 'plant = "real"'])
def test_real_and_virtual_are_driven_at_once(tmp_path: Path, plant: str) -> None:
    """One line of the file swaps the hardware end; with "both" the real one may close the loop.

    Another session stands in for the hardware: its part is all that the first one sees.
    """
    (tmp_path / "hardware").mkdir()
    with Session(cell(tmp_path / "hardware")) as hardware:
        run = threading.Thread(target=hardware.run, kwargs={"clock": "real"})
        run.start()
        try:
            more = f'{plant}\nconnect = "127.0.0.1:{endpoint(hardware)}"'
            with Session(cell(tmp_path, more)) as session:
                session["part/J1.target"] = 0.7
                run_until(session, lambda: session["part.clients"] == 1)
                run_until(session, lambda: abs(session["part/J1.angle"] - 0.7) < 0.02)
                assert hardware["arm/J1.angle"] == pytest.approx(0.7, abs=0.05)
                run_until(session, lambda: abs(session["arm/J1.angle"] - 0.7) < 0.05)
        finally:
            hardware.stop()
            run.join(TIMEOUT)


@pytest.mark.parametrize(
    ("more", "logged"),
    [
        ('connect = "there:1"', 'write plant = "real" or "both"'),
        ('plant = "real"', "needs its address"),
        ("tls = true", "certificate and key"),
        ("host = 7", "host"),
        ('token = "two words"', "token|pattern"),
        ('connect = "nowhere"', "pattern|connect"),
        ("prot = 7", "prot"),
    ],
)
def test_a_wrong_parameter_is_told_with_its_line(tmp_path: Path, more: str, logged: str) -> None:
    """Before anything runs, with file and line."""
    with pytest.raises(LinkworkError, match=logged) as error:
        Session(cell(tmp_path, more))
    assert "cell.toml:" in str(error.value)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.capability(28)
def test_ten_lines_of_c_are_a_controller(tmp_path: Path) -> None:
    """The example in C is compiled, joins and brings the first joint where it says."""
    program = tmp_path / "controller"
    source = ROOT / "examples" / "11_tcp_controller.c"
    subprocess.run(["cc", "-Wall", "-Werror", "-o", program, source, "-lm"], check=True)
    with Session(cell(tmp_path)) as session:
        with subprocess.Popen(
            [program, "127.0.0.1", str(endpoint(session))], stdout=subprocess.PIPE, text=True
        ) as controller:
            run_until(session, lambda: controller.poll() is not None, most=60.0)
            out, _ = controller.communicate()
        assert controller.returncode == 0
        angle = float(out.split()[3])
        assert angle == pytest.approx(0.5 * math.sin(4.0), abs=0.021), out


def test_the_process_stays_light(tmp_path: Path) -> None:
    """The part's process never imports numba."""
    code = "import sys, linkwork.buses.tcp; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def controllers(folder: Path) -> Iterator[list[str]]:
    """The examples, ready to run: in Python, and in C where there is a compiler."""
    examples = ROOT / "examples"
    yield [sys.executable, str(examples / "11_tcp_controller.py")]
    if shutil.which("cc") is not None:
        program = folder / "controller"
        source = examples / "11_tcp_controller.c"
        subprocess.run(["cc", "-Wall", "-Werror", "-o", program, source, "-lm"], check=True)
        yield [str(program)]


def test_the_examples_say_what_a_part_with_a_token_wants(tmp_path: Path) -> None:
    """Without the token they pass on the part's words and fail; with it they are let in."""
    with Session(cell(tmp_path, 'token = "sesame"')) as session:
        for words in controllers(tmp_path):
            line = [*words, "127.0.0.1", str(endpoint(session))]
            for given, why in (([], "this part has a token"), (["open"], "the token is wrong")):
                done = subprocess.run(
                    [*line, *given], capture_output=True, text=True, timeout=60, check=False
                )
                assert done.returncode == 1
                assert done.stdout == ""
                assert done.stderr.startswith(f"error {why}")
            before = session["part.lines_in"]
            with subprocess.Popen([*line, "sesame"], stdout=subprocess.PIPE) as controller:
                run_until(session, lambda before=before: session["part.lines_in"] > before, most=60)
                controller.kill()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_certificate_and_key_are_found_beside_the_scene(tmp_path: Path) -> None:
    """As every file that a scene names, wherever the command is called from."""
    certified(tmp_path)
    more = 'tls = true\ncertificate = "part.pem"\nkey = "part.key"'
    with Session(cell(tmp_path, more)) as session:
        assert session.bus_processes is not None
        assert "with TLS" in session.bus_processes["part"].endpoints[0]
    with Session(cell(tmp_path, more.replace("part.pem", "nix.pem"))) as session:
        assert session.bus_processes is not None
        assert str(tmp_path / "nix.pem") in str(session.bus_processes["part"].error)


@pytest.mark.capability(29, 30, 31)
def test_a_part_has_the_shape_of_mca2s_modules(tmp_path: Path) -> None:
    """Controller in, sensor out, parameters and groups: told to who joins, inspected, adjusted."""
    scene = cell(tmp_path)
    scene.port("gains", group="arm/drives", parameters=["arm/J1.kp"])
    with Session(scene) as session:
        controller = Controller(endpoint(session))
        roles = {tuple(line.split(" ")[:2]) for line in controller.described}
        assert {("command", "J1.target"), ("sensor", "J1.angle"), ("command", "gains.kp")} <= roles
        lines = {line.name: line for line in port_lines(session.cycle)}
        assert lines["part/gains.kp"].group == "arm/drives"
        assert [lines[f"part/{name}"].role for name in ("J1.target", "J1.angle", "gains.kp")] == [
            "command", "sensor", "parameter",
        ]  # fmt: skip
        controller.send_text("c 0.5 - - 55")
        run_until(session, lambda: session["arm/J1.kp"] == 55.0)
        run_until(session, lambda: session["arm/J1.target"] == 0.5)
        session.send(
            OverrideSignal("part/J1.target", 0.25)
        )  # an inner value, changed while it runs
        run_until(session, lambda: session["arm/J1.target"] == 0.25)
        controller.close()
