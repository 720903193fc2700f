"""Texts that are hard to count in."""

from __future__ import annotations

from hypothesis import strategies as st

CHARS = ["a", "#", " ", "\t", "\n", "\r", "\r\n", "\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"]
CHARS += ["é", "e\u0301", "\u200d", "字", "😀", "\U0010ffff", "\ufeff", "\ud83d", "\udc00"]


def texts(max_size: int = 40) -> st.SearchStrategy[str]:
    """Line ends of Python and of others, combining, wide and astral characters, halves of surrogate pairs."""
    return st.lists(st.sampled_from(CHARS) | st.characters(), max_size=max_size).map("".join)
