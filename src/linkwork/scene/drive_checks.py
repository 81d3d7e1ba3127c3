"""Drive checks: what a placement may say of the drives of its part."""

from __future__ import annotations

from typing import Any

from linkwork.errors import Origin, SceneError
from linkwork.parts import Spec


def check_drives(drives: Any, part: str, *, origin: Origin | None = None) -> dict[str, Spec]:
    """The drives, if they are specs of actuators by joint or pattern.

    Raises:
        SceneError: If they are no such table, or one says a name or a joint: the table does.
    """
    where = f"part {part!r}: drives"
    hint = "{'neck': Spec('actuator', 'smart_servo', params={'model': 'AX-12'})}"
    if not isinstance(drives, dict):
        raise SceneError(f"{where} are a table, {hint}, not {drives!r}.", origin=origin)
    for name, spec in drives.items():
        if not isinstance(name, str) or not isinstance(spec, Spec) or spec.kind != "actuator":
            raise SceneError(
                f"{where}: {name!r} has {spec!r}, and no actuator.", origin=origin, hint=hint
            )
        if spec.name:
            raise SceneError(
                f"{where}: {name!r} has a drive with the name {spec.name!r}; it goes by its joint.",
                origin=spec.origin,
            )
        if "joint" in spec.params:
            raise SceneError(
                f"{where}: {name!r} says a joint, {spec.params['joint']!r}, beside its own.",
                origin=spec.at("joint"),
                hint="Leave joint out: the table names it.",
            )
    return drives
