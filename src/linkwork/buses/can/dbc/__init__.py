"""DBC files: what the bits of each frame mean."""

from linkwork.buses.can.dbc.codec import decode, encode
from linkwork.buses.can.dbc.model import (
    Attribute,
    Database,
    DbcError,
    DbcMessage,
    DbcNode,
    DbcSignal,
)
from linkwork.buses.can.dbc.reader import parse_dbc, read_dbc
from linkwork.buses.can.dbc.symbols import symbol
from linkwork.buses.can.dbc.writer import dbc_text, write_dbc

__all__ = [
    "Attribute",
    "Database",
    "DbcError",
    "DbcMessage",
    "DbcNode",
    "DbcSignal",
    "dbc_text",
    "decode",
    "encode",
    "parse_dbc",
    "read_dbc",
    "symbol",
    "write_dbc",
]
