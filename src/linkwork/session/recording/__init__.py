"""Recordings: append-only files of sessions, to look at and to replay bit for bit."""

from linkwork.session.recording.export import export_csv
from linkwork.session.recording.header import Header, installed_versions
from linkwork.session.recording.outline import Outline, SignalColumn
from linkwork.session.recording.page import export_html
from linkwork.session.recording.reader import Event, Recording
from linkwork.session.recording.repair import repair
from linkwork.session.recording.segment import Segment
from linkwork.session.recording.writer import Recorder

__all__ = [
    "Event",
    "Header",
    "Outline",
    "Recorder",
    "Recording",
    "Segment",
    "SignalColumn",
    "export_csv",
    "export_html",
    "installed_versions",
    "repair",
]
