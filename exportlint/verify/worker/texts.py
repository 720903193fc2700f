"""What exceptions say, whatever they do when they are asked."""

from __future__ import annotations

import re
import traceback
from typing import Any


def with_article(value: Any) -> str:
    """The type of a value, as it stands in a sentence."""
    name = type(value).__name__
    return f"an {name}" if name[:1] in "aeiouAEIOU" else f"a {name}"


_REFUSALS = re.compile(
    r"Guard failed|[Rr]untime assertion failed|Expected input at|input tree spec|Trying to flatten|keyword mismatch"
    r"|positional argument|unexpected keyword|Expecting .* input|specializ|is outside of (?:specified|supported)"
    r"|Invalid value range|data-dependent expression|Runtime assertion"
)


def is_refusal(error: BaseException) -> bool:
    """Whether a program refuses its inputs by what torch put there, rather than by going wrong."""
    frames = traceback.extract_tb(error.__traceback__)
    raised_in = frames[-1].filename if frames else ""
    if re.search(r"torch[\\/]_subclasses[\\/]", raised_in):  # a fake tensor has come into it, with any inputs
        return False
    if isinstance(error, AssertionError) or _REFUSALS.search(text_of(error)):
        return True
    return re.search(r"torch[\\/]_?export[\\/]", raised_in) is not None


_NO_MEMORY = re.compile(r"[Cc]an't allocate memory|(?:not enough|out of|no more) memory|bad_alloc")


def is_of_memory(error: BaseException | None) -> bool:
    """Whether something was raised because there is no more memory."""
    return error is not None and (isinstance(error, MemoryError) or _NO_MEMORY.search(text_of(error)) is not None)


def text_of(error: BaseException, limit: int = 4000) -> str:
    """What an exception says. Those of users may raise when they are asked."""
    try:
        text = str(error)
    except BaseException as another:
        return f"(its text raises {type(another).__name__})"
    if not text and isinstance(error, MemoryError):
        return "no more memory may be taken"
    return text if len(text) <= limit else f"{text[:limit]} ..."


def first_line(text: str, limit: int = 300) -> str:
    """The first line that says something."""
    return next((line.strip()[:limit] for line in text.splitlines() if line.strip()), "")


def short(value: Any, limit: int = 80) -> str:
    """A value as one would write it, in a few words."""
    try:
        text = repr(value)
    except BaseException:
        return with_article(value)
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."
