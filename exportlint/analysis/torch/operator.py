"""The record of an operator of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from exportlint.findings import TorchVersion

if TYPE_CHECKING:
    from typing_extensions import Unpack

ShapeRule = Literal[
    "same", "elementwise", "first", "reduced", "swapped", "transposed", "reversed", "mirrored", "permuted",
    "unsqueezed", "squeezed", "flattened", "sized", "filled", "drawn", "counted", "squared", "viewed", "expanded",
    "repeated", "like", "joined", "stacked", "selected", "narrowed", "picked", "divided", "topmost", "spaced", "listed",
    "indexed", "unflattened", "multiplied", "transformed", "padded", "moved", "outer", "grid", "contracted", "resized",
    "windowed", "abreast", "atop", "behind", "interleaved", "batched", "paired", "tiled", "aligned", "signal", "image",
    "volume",
]  # fmt: skip
"""How the shape of the result follows from the first tensor and the arguments.

same: that of the first tensor. elementwise: that of all tensors, broadcast. first: the first dimension is that of the
first tensor, the others are not known. reduced: without the dimensions `dim`, or with size 1 there under `keepdim`.
swapped, transposed, reversed, mirrored, permuted: with its dimensions in another order, mirrored with the last two
swapped, and reversed only if it is known how many there are.
unsqueezed, squeezed: with one of size 1 more, or without those. flattened: several dimensions become one. sized: as the
arguments say. filled: as the first argument says. drawn: as the last argument says. counted: one dimension, as long as
the arguments say. squared: likewise, two. viewed, expanded: as the arguments say, -1 for what follows. repeated: each
size as many times as the arguments say. like: that of the second tensor. joined: the tensors one behind the other.
stacked: likewise, in a new dimension. selected: other only in the dimension `dim`, where the index is as long.
narrowed: where the argument `length` is. picked: without the dimension `dim`. divided: several tensors that are shorter
in the dimension `dim`. topmost: in the dimension `dim`, the last by default, as long as `k` says. spaced: one
dimension, as long as the argument `steps` says. listed: that of the Python data. indexed: that of the argument `index`.
unflattened: one dimension becomes several. multiplied: the product of two tensors, as of matrices. transformed: in the
last dimension, as long as the first of the second tensor. padded: the last dimensions longer by what the argument `pad`
says. moved: with some of its dimensions in other places. outer: as long as the first tensor, and as the second. grid:
as long as each of the tensors. contracted: as an equation says. resized: other only in one dimension, the last by
default. windowed: likewise, with one more at the end. abreast, atop, behind: the tensors joined in the second, the
first, the third dimension, of which they have as many at least (abreast: or one alone). interleaved: each element of
the dimension `dim` as many times as the argument `repeats` says. batched: the first dimension is that of the first
tensor, if there are several. paired: the last dimension as long as the second tensor has rows. tiled: repeated, of the
last dimensions if there are fewer numbers. aligned: the tensors in a new dimension, as long as the longest. signal,
image, volume: as many rows as the first tensor, then channels and
one, two or three dimensions.
"""

Storage = Literal["new", "view", "contiguous", "unchanged"]
"""Whose memory the result has.

new: its own. view: that of the first tensor. contiguous: that of the first tensor if it is laid out as the result is.
unchanged: the result is the first tensor itself if there is nothing to convert.
"""

SizeNeed = Literal["every", "nonempty", "several", "unlike", "divided", "keys", "weights"]
"""The sizes that may not come from data.

every: all of the first tensor. nonempty: those of it that may be 0. several: those of it that may be 0 or 1. unlike:
those that may be 0 or 1, and that the second tensor does not have from data as well. divided: the one that is divided.
keys: the number of keys, if it may be 0. weights: the number of weights of classes.
"""

SymbolicSizes = Literal["fixed", "refused"]
"""What becomes of sizes of its tensors that vary.

fixed: it makes plain numbers of all of them. refused: torch.export cannot trace it with them, only with known sizes.
"""

EqualRows = Literal["equal", "broadcast"]
"""The rows that the first two tensors of an operator have, or those that it joins.

equal: equally many, whatever their ranks. broadcast: equally many if they have the same rank.
"""

Tells = Literal["dtype", "layout", "gradient"]
"""What a program that is exported with one input takes for granted of the next."""


Backward = Literal["untraced"]
"""What non-strict export does with a gradient that `forward` takes through it.

untraced: the gradient reads a tensor that the trace does not hold, the result itself (`exp`) or one made inside of the
operator (`linear`), and export fails.
"""

Host = Literal["memory", "address", "array"]
"""What of a tensor leaves the graph: its memory; its address, for which non-strict export puts 0; an array of numpy."""


class Traits(TypedDict, total=False):
    """The fields of a record but its names."""

    shape: ShapeRule
    storage: Storage
    dtype: str
    converts: bool
    tells: tuple[Tells, str]
    needs: SizeNeed
    varying: SymbolicSizes
    rows: EqualRows
    plain: tuple[str, ...]
    compared: tuple[str, ...]
    read: tuple[str, ...]
    unset: tuple[str, int]
    runs_on_constants: bool
    acts: bool
    strict: Literal["refuses"]
    traced_from: TorchVersion
    backward: Backward
    host: Host
    reads_before: TorchVersion


@dataclass(frozen=True, slots=True)
class Operator:
    """What an operator does, under each of its names and however it is called: `torch.sum(x)`, `x.sum()`, `x.add_(y)`.

    A name without a dot is one in `torch`, of a method, in `torch.nn.functional` and in `torch.special`, where these
    have it; a name with dots stands for itself, behind `torch.` (`.embedding` is `torch.embedding` alone).

    `shape` is None where nothing is said of it. `dtype` is the one that a cast gives, empty where the table says
    enough. `converts`: the result has the same values, in another dtype, layout or place, and converting twice is
    converting once. `tells`: what it asks a tensor about, and the name of that for messages. `needs`: the sizes that it
    must know. `varying`: what becomes of sizes that vary, None where they stay symbols. `rows`: how many rows its
    tensors have. `plain`: parameters that have no symbolic form, `compared`: those that it compares with numbers, so
    that a size can be one but a number read from a tensor cannot, `read`: those whose number TorchDynamo reads if a
    tensor is given. `unset`: a parameter, and the number that stands for leaving it out. `runs_on_constants`: in place
    on constant tensors alone, it changes the first one while non-strict export traces (measured on 2.13). `acts`: it is
    called for something that is not a result. `host`: what of a tensor it takes out of the graph. `reads_before`: the
    first torch in which it no longer asks its operands for their values. `strict`: TorchDynamo refuses to call it,
    measured on 2.13 by a module that calls nothing else; `traced_from` is the first torch whose TorchDynamo traces it
    after all. `backward`: what becomes of gradients through it, measured on 2.13 likewise.
    """

    names: tuple[str, ...]
    shape: ShapeRule | None = None
    storage: Storage = "new"
    dtype: str = ""
    converts: bool = False
    tells: tuple[Tells, str] | None = None
    needs: SizeNeed | None = None
    varying: SymbolicSizes | None = None
    rows: EqualRows | None = None
    plain: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    unset: tuple[str, int] | None = None
    runs_on_constants: bool = False
    acts: bool = False
    strict: Literal["refuses"] | None = None
    traced_from: TorchVersion | None = None
    backward: Backward | None = None
    host: Host | None = None
    reads_before: TorchVersion | None = None

    @property
    def name(self) -> str:
        """The name that stands for all of them."""
        return self.names[0]


def operator(names: str, **traits: Unpack[Traits]) -> Operator:
    """The record of one operator, whose names stand in a text."""
    return Operator(tuple(names.split()), **traits)


def each(names: str, **traits: Unpack[Traits]) -> tuple[Operator, ...]:
    """Records of operators that differ in nothing but their names."""
    return tuple([Operator((name,), **traits) for name in names.split()])
