"""Dtype and rank of a tensor, next to those of the operands of the function that an operator runs.

What an operand itself is like is seldom known; what `x.sum(0)` or `x.double()` is like compared to `x` often is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from exportlint.analysis.domain.immutable import immutable

SAME = ""
"""The dtype of the operand, whatever that is."""

DELIBERATE = frozenset({"bool", "uint8", "int8", "int16", "int32", "float16", "bfloat16", "float64"})
"""Dtypes that an operand does not have if the code casts it to them; to others it is often cast to be sure."""


@immutable
class Form:
    """What a tensor that is made of one operand is like.

    `rank` is how many dimensions more than the operand it has; None if all or all but one were collapsed: then it has
    `collapsed[0]` of them, and had `collapsed[1]` more than the operand before. `dtype` is None where it is not known.
    `cast`: nothing but its dtype differs from the operand's, if that. `resized`: it has as many dimensions as the
    operand, but not of the same sizes.
    """

    operand: int
    rank: int | None = 0
    collapsed: tuple[int, int] = (0, 0)
    dtype: str | None = SAME
    cast: bool = False
    resized: bool = False

    def deeper(self, by: int) -> Form | None:
        """With `by` more dimensions."""
        return None if self.rank is None else replace(self, rank=self.rank + by, cast=False)

    def collapse(self, to: int) -> Form | None:
        """With `to` dimensions, where the code would make no sense if there were not more before."""
        if self.rank is None:
            return None
        return replace(self, rank=None, collapsed=(to, self.rank), cast=False, resized=False)

    def resize(self) -> Form | None:
        """With other sizes."""
        return None if self.resized or self.rank is None else replace(self, resized=True, cast=False)

    def converted(self, dtype: str | None) -> Form:
        """Cast to a dtype."""
        is_operand = self == Form(self.operand)
        return replace(self, dtype=dtype, cast=is_operand)

    def computed(self, *, keeps_dtype: bool) -> Form:
        """The result of an operator on each element."""
        return replace(self, dtype=self.dtype if keeps_dtype else None, cast=False)


def combined(forms: Iterable[Form | None], *, keeps_dtype: bool) -> Form | None:
    """The form of an elementwise operator's result; None if the operands are not all made of the same one."""
    found: Form | None = None
    for form in forms:
        if form is None:
            return None
        form = form.computed(keeps_dtype=keeps_dtype)
        if found is None or form == found:
            found = form
        elif form.operand != found.operand or form.resized != found.resized:
            return None
        else:
            dtype = found.dtype if found.dtype == form.dtype else None
            scalar, other = (found, form) if found.rank is None else (form, found)
            if scalar.rank is None and scalar.collapsed[0] == 0:
                found = replace(other, dtype=dtype)
            elif found.rank is None or form.rank is None:
                return None
            else:
                found = replace(found, dtype=dtype, rank=max(found.rank, form.rank))
    return found


def dtypes_differ(one: Form, other: Form) -> bool:
    """Whether two tensors surely differ in dtype, or one of them is the operand itself, which is no better."""
    if one.dtype is None or other.dtype is None or one.dtype == other.dtype:
        return False
    if SAME not in (one.dtype, other.dtype):
        return True
    converted = one if other.dtype == SAME else other
    return one.operand == other.operand and (converted.cast or converted.dtype in DELIBERATE)


def ranks_differ(one: Form, other: Form) -> bool:
    """Whether two tensors surely differ in the number of their dimensions."""
    if one.operand != other.operand:
        return False
    if one.rank is not None and other.rank is not None:
        return one.rank != other.rank
    if one.rank is None and other.rank is None:
        return one.collapsed[0] != other.collapsed[0]
    flat, full = (one, other) if one.rank is None else (other, one)
    assert full.rank is not None
    return full.rank >= flat.collapsed[1]
