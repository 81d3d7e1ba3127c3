"""How two ends prove to each other that they have the same key, without sending it.

The session says hello with a random number, the peer answers with its own and a keyed hash
(HMAC-SHA256) over both, the session welcomes it with another, so that neither talks to a stranger.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from dataclasses import replace

from linkwork.session.link.limits import Limits, LinkError

_FAMILY = b"linkwork link "
MAGIC = _FAMILY + b"1\n"
_NONCE = 32
_ANSWER = struct.Struct(f"<{len(MAGIC)}s{_NONCE}sB32s")  # magic, nonce, wants snapshots, hash
_TERMS = struct.Struct("<IIQ")  # id of the peer, Limits.message, Limits.backlog

HELLO_SIZE = len(MAGIC) + _NONCE
ANSWER_SIZE = _ANSWER.size
WELCOME_SIZE = 32 + _TERMS.size


def _hash(key: str, role: bytes, *parts: bytes) -> bytes:
    return hmac.new(key.encode(), b"\0".join((role, *parts)), hashlib.sha256).digest()


class SessionHandshake:
    """The session's half.

    Attributes:
        hello: What it says first.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._nonce = secrets.token_bytes(_NONCE)
        self._theirs = b""
        self.hello = MAGIC + self._nonce

    @staticmethod
    def plausible(start: bytes | bytearray) -> bool:
        """Whether bytes may be the start of an answer; else the caller is no peer at all."""
        return bytes(start[: len(_FAMILY)]) == _FAMILY[: len(start)]

    def check(self, answer: bytes) -> bool:
        """Checks a peer's answer.

        Returns:
            Whether the peer wants snapshots.

        Raises:
            LinkError: It speaks another version or has another key.
        """
        magic, self._theirs, wants, proof = _ANSWER.unpack(answer)
        _check_version(magic, "peer")
        wanted = _hash(self._key, b"peer", self._nonce, self._theirs, bytes((wants,)))
        if not hmac.compare_digest(proof, wanted):
            raise LinkError("the key is wrong.")
        return bool(wants)

    def welcome(self, peer: int, limits: Limits) -> bytes:
        """What it says last."""
        terms = _TERMS.pack(peer, limits.message, limits.backlog)
        return _hash(self._key, b"session", self._theirs, self._nonce, terms) + terms


class PeerHandshake:
    """The peer's half.

    Args:
        key: The key of the session.
        hello: What the session said first.

    Raises:
        LinkError: No session of this version said it.
    """

    def __init__(self, key: str, hello: bytes) -> None:
        if not hello.startswith(_FAMILY):
            raise LinkError("what answers is not a Linkwork session.")
        _check_version(hello[: len(MAGIC)], "session")
        self._key = key
        self._theirs = hello[len(MAGIC) :]
        self._nonce = secrets.token_bytes(_NONCE)

    def answer(self, *, snapshots: bool) -> bytes:
        """What the peer says."""
        wants = bytes((snapshots,))
        proof = _hash(self._key, b"peer", self._theirs, self._nonce, wants)
        return _ANSWER.pack(MAGIC, self._nonce, snapshots, proof)

    def check(self, welcome: bytes) -> tuple[int, Limits]:
        """Checks the session's last word.

        Returns:
            The id of this peer and the session's limits.

        Raises:
            LinkError: The session does not have the key.
        """
        proof, terms = welcome[:32], welcome[32:]
        wanted = _hash(self._key, b"session", self._nonce, self._theirs, terms)
        if len(terms) != _TERMS.size or not hmac.compare_digest(proof, wanted):
            raise LinkError("what answers does not have the key.")
        peer, message, backlog = _TERMS.unpack(terms)
        return peer, replace(Limits(), message=message, backlog=backlog)


def _check_version(magic: bytes, who: str) -> None:
    if magic != MAGIC:
        found = magic.removeprefix(_FAMILY).decode("ascii", "replace").strip()
        ours = MAGIC.removeprefix(_FAMILY).decode().strip()
        raise LinkError(
            f"the {who} speaks version {found} of the link and this process version {ours}.",
            hint="Run the same version of Linkwork at both ends.",
        )
