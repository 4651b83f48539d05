"""Media types of files, by their names."""

from __future__ import annotations

import mimetypes

__all__ = ["media_type_of"]


def media_type_of(name: str) -> str | None:
    """Return the media type that a file with this name has; None if it isn't known."""
    if name.lower().endswith(".parquet"):
        return "application/vnd.apache.parquet"  # registered, but not known to older Pythons
    guessed, compressed = mimetypes.guess_type(name)
    # A compressed table isn't text.
    return None if compressed else guessed
