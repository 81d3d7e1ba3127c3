"""ISO 15765-2 over one pair of identifiers: long messages cut into frames, with flow control."""

from linkwork.buses.can.isotp.channel import IsoTp
from linkwork.buses.can.isotp.settings import IsoTpSettings

__all__ = ["IsoTp", "IsoTpSettings"]
