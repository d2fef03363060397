"""Bytes that are no longer what they were."""

from __future__ import annotations

import numpy as np

_TOKENS = (
    b"\0", b"\xff\xff\xff\xff", b"nan", b"inf", b"1e999", b"-", b'"', b"'", b",", b"\n", b"\r", b"=",
    b"%", b"9" * 40, b"\x1b[31m", b"\xe2\x80\xae", b"PK\x03\x04", b"{", b"}", b"../", b"\x93NUMPY",
    b"\x80\x02",
)  # fmt: skip


def mutate(content: bytes, rng: np.random.Generator) -> bytes:
    """The same bytes but for one to four changes of any kind."""
    for _ in range(int(rng.integers(1, 5))):
        content = _KINDS[rng.integers(len(_KINDS))](content, rng)
    return content


def _place(content: bytes, rng: np.random.Generator) -> int:
    # Heads and tables of contents are where parsers stumble.
    size = len(content)
    where = rng.integers(3)
    low, high = ((0, size), (0, min(size, 512)), (max(size - 512, 0), size))[where]
    return int(rng.integers(low, max(high, low + 1)))


def _flip(content: bytes, rng: np.random.Generator) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    changed[min(_place(content, rng), len(content) - 1)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: _place(content, rng)]


def _drop(content: bytes, rng: np.random.Generator) -> bytes:
    place = _place(content, rng)
    return content[:place] + content[place + int(rng.integers(1, 64)) :]


def _repeat(content: bytes, rng: np.random.Generator) -> bytes:
    place = _place(content, rng)
    return content[:place] + content[place : place + int(rng.integers(1, 256))] + content[place:]


def _insert(content: bytes, rng: np.random.Generator) -> bytes:
    place, token = _place(content, rng), _TOKENS[rng.integers(len(_TOKENS))]
    return content[:place] + token + content[place:]


def _overwrite(content: bytes, rng: np.random.Generator) -> bytes:
    place, token = _place(content, rng), _TOKENS[rng.integers(len(_TOKENS))]
    return content[:place] + token + content[place + len(token) :]


def _randomise(content: bytes, rng: np.random.Generator) -> bytes:
    place, size = _place(content, rng), int(rng.integers(1, 9))
    return content[:place] + rng.bytes(size) + content[place + size :]


_KINDS = (_flip, _flip, _cut, _drop, _repeat, _insert, _overwrite, _randomise)
