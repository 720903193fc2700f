"""What user code prints, of which the beginning and the end are kept."""

from __future__ import annotations

_KEPT = 1 << 15
"""Bytes of the beginning, and as many of the end."""


class Output:
    """Bytes as they come in."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Add some; never holds more than a few times what is kept."""
        room = _KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 4 * _KEPT:
            self._dropped += len(self._tail) - _KEPT
            del self._tail[:-_KEPT]

    def ends_with(self, mark: bytes) -> bool:
        """Whether `mark` was the last that came."""
        return (self._head + self._tail[-len(mark) :] if len(self._tail) < len(mark) else self._tail).endswith(mark)

    def take(self, mark: bytes = b"") -> str:
        """All that came, but for `mark` at its end, as text; the next begins anew."""
        dropped, tail = self._dropped, bytes(self._tail)
        if len(tail) > _KEPT + len(mark):
            cut = len(tail) - _KEPT - len(mark)
            dropped, tail = dropped + cut, tail[cut:]
        left_out = f"\n... {dropped} bytes are left out ...\n".encode() if dropped else b""
        text = (bytes(self._head) + left_out + tail).removesuffix(mark).decode(errors="replace")
        self.__init__()  # type: ignore[misc]
        return text
