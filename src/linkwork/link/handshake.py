"""Handshake that proves a shared key without sending it.

The session sends a random number, the peer answers with its own and a keyed hash
(HMAC-SHA256) over both, and the session answers with another, so that both are authenticated.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from dataclasses import replace

from linkwork.link.limits import LinkError, LinkLimits

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
        hello: Its first message.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._nonce = secrets.token_bytes(_NONCE)
        self._theirs = b""
        self.hello = MAGIC + self._nonce

    @staticmethod
    def plausible(start: bytes | bytearray) -> bool:
        """Whether bytes may be the start of an answer; else the caller is not a peer."""
        return bytes(start[: len(_FAMILY)]) == _FAMILY[: len(start)]

    def check(self, answer: bytes) -> bool:
        """Checks a peer's answer.

        Returns:
            Whether the peer receives snapshots.

        Raises:
            LinkError: If it has another version or another key.
        """
        magic, self._theirs, wants, proof = _ANSWER.unpack(answer)
        _check_version(magic, "peer")
        wanted = _hash(self._key, b"peer", self._nonce, self._theirs, bytes((wants,)))
        if not hmac.compare_digest(proof, wanted):
            raise LinkError("the key is wrong.")
        return bool(wants)

    def welcome(self, peer: int, limits: LinkLimits) -> bytes:
        """The session's last message."""
        terms = _TERMS.pack(peer, limits.message, limits.backlog)
        return _hash(self._key, b"session", self._theirs, self._nonce, terms) + terms


class PeerHandshake:
    """The peer's half.

    Args:
        key: The key of the session.
        hello: First message of the session.

    Raises:
        LinkError: If it is not from a session of this version.
    """

    def __init__(self, key: str, hello: bytes) -> None:
        if not hello.startswith(_FAMILY):
            raise LinkError("the other end is not a Linkwork session.")
        _check_version(hello[: len(MAGIC)], "session")
        self._key = key
        self._theirs = hello[len(MAGIC) :]
        self._nonce = secrets.token_bytes(_NONCE)

    def answer(self, *, snapshots: bool) -> bytes:
        """The peer's message."""
        wants = bytes((snapshots,))
        proof = _hash(self._key, b"peer", self._theirs, self._nonce, wants)
        return _ANSWER.pack(MAGIC, self._nonce, snapshots, proof)

    def check(self, welcome: bytes) -> tuple[int, LinkLimits]:
        """Checks the session's last message.

        Returns:
            The id of this peer and the session's limits.

        Raises:
            LinkError: The session does not have the key.
        """
        proof, terms = welcome[:32], welcome[32:]
        wanted = _hash(self._key, b"session", self._nonce, self._theirs, terms)
        if len(terms) != _TERMS.size or not hmac.compare_digest(proof, wanted):
            raise LinkError("the other end does not have the key.")
        peer, message, backlog = _TERMS.unpack(terms)
        return peer, replace(LinkLimits(), message=message, backlog=backlog)


def _check_version(magic: bytes, who: str) -> None:
    if magic != MAGIC:
        found = magic.removeprefix(_FAMILY).decode("ascii", "replace").strip()
        ours = MAGIC.removeprefix(_FAMILY).decode().strip()
        raise LinkError(
            f"the {who} has version {found} of the link and this process version {ours}.",
            hint="Run the same version of Linkwork at both ends.",
        )
