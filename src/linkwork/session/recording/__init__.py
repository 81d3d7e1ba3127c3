"""Recordings: append-only files of sessions."""

from linkwork.session.recording.damage import Damage, list_damage
from linkwork.session.recording.export import export_csv, export_html
from linkwork.session.recording.header import (
    Header,
    RecordedWorld,
    SignalColumn,
    installed_versions,
)
from linkwork.session.recording.reader import NOT_CHECKED, RecordedEvent, Recording
from linkwork.session.recording.repair import repair
from linkwork.session.recording.segment import Segment
from linkwork.session.recording.writer import RecordingWriter

__all__ = [
    "NOT_CHECKED",
    "Damage",
    "Header",
    "RecordedEvent",
    "RecordedWorld",
    "Recording",
    "RecordingWriter",
    "Segment",
    "SignalColumn",
    "export_csv",
    "export_html",
    "installed_versions",
    "list_damage",
    "repair",
]
