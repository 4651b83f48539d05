"""Splitting a stream of bytes into log lines."""

from collections.abc import Iterator


class LineSplitter:
    """Makes lines of what a stream delivers: each is (bytes without the newline, continued).

    A line over `limit` bytes comes in parts, all but the last with continued = True; no part ends
    inside a UTF-8 sequence. Never holds more than `limit` bytes from one call to the next.
    """

    def __init__(self, limit: int) -> None:
        self._limit = max(limit, 4)
        self._rest = b""

    def feed(self, data: bytes) -> "Iterator[tuple[bytes, bool]]":
        """The lines, and parts of lines, that `data` completes."""
        limit = self._limit
        pieces = data.split(b"\n")
        pieces[0] = self._rest + pieces[0]
        rest = pieces.pop()
        self._rest = b""
        for piece in pieces:
            while len(piece) > limit:
                cut = self._cut(piece)
                yield piece[:cut], True
                piece = piece[cut:]
            yield piece, False
        start = 0
        while len(rest) - start > limit:
            cut = self._cut(rest, start)
            yield rest[start:cut], True
            start = cut
        self._rest = rest[start:] if start else rest

    def end(self) -> "Iterator[tuple[bytes, bool]]":
        """The last line, where the stream ended without a newline."""
        if self._rest:
            yield self._rest, False
            self._rest = b""

    def _cut(self, piece: bytes, start: int = 0) -> int:
        """Where to cut: `limit` bytes on, or up to 3 before, so that no character is cut in two."""
        end = cut = start + self._limit
        while cut > end - 4 and piece[cut] & 0xC0 == 0x80:
            cut -= 1
        return cut if cut > end - 4 else end


def text_of(line: bytes) -> str:
    """A line as text that any JSON reader and any database takes: no lone surrogates, no NUL."""
    return line.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
