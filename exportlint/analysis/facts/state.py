"""Facts about state that outlives a call, and about what a module should have registered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from exportlint.analysis.domain.values import Tensor
from exportlint.analysis.facts import Fact, Place, written_at

Held = Literal["nothing", "none", "tensor", "module", "other"]
"""What an attribute was before: not there, None, a tensor, a module (said of modules only), something else."""

Holder = Literal["module", "object", "class", "global", "default"]
"""What has an attribute or a variable that outlives the call."""


@dataclass(frozen=True, slots=True)
class StateChange(Fact):
    """Python state is changed by a call: an attribute, a global, a list or dict in one, the default of a parameter.

    `name` is how the code calls it. `carried`: what a call leaves in it decides what the next call computes.
    `holder` is what has it; `contents`: what it holds is changed, and not bound anew. `iterator`: how it is made, if it
    is an iterator that moves on. `is_module`: it is bound to a module or a parameter. `beside_tensors`: the exported
    module has the attribute, and the call reads tensors of its own.
    """

    name: str
    holder: Holder
    carried: bool
    contents: bool
    is_tensor: bool
    before: Held
    iterator: str = ""
    is_module: bool = False
    beside_tensors: bool = False

    @property
    def met_at(self) -> Place:
        """The write, which several kinds of facts can be about."""
        return written_at(self.site)


@dataclass(frozen=True, slots=True)
class BufferWrite(Fact):
    """A registered buffer is bound to another tensor, or registered, by a call. `name` is the code's.

    `before` is what the buffer was; `at_root`: it is the exported module's own; `changes` is what differs for sure from
    the tensor that was there. `varies`: so do its values, by the inputs of the call or by what they were before.
    `restored`: at the end of the call it is bound to what it was bound to when the call began. `as_given`: it is then
    bound to an input as it was given, or to what another buffer was bound to.
    """

    name: str
    before: Held
    at_root: bool
    changes: Literal["nothing", "dtype", "shape", "presence"]
    varies: bool
    restored: bool = False
    as_given: bool = False

    @property
    def met_at(self) -> Place:
        """The write, which several kinds of facts can be about."""
        return written_at(self.site)


@dataclass(frozen=True, slots=True)
class PlainTensorWrite(Fact):
    """A tensor that is not a buffer is changed in place, by something that is not data of the call.

    It matters for what calls compute, and doing it twice is not doing it once.
    """

    name: str
    target: Tensor

    @property
    def met_at(self) -> Place:
        """The write, which several kinds of facts can be about."""
        return written_at(self.site)


@dataclass(frozen=True, slots=True)
class ParametersMade(Fact):
    """A call makes a parameter, or a module that has some. `trained`: they may get gradients."""

    api: str
    trained: bool


@dataclass(frozen=True, slots=True)
class Unregistered(Fact):
    """A call uses parameters that no module has registered.

    `name` is what holds them, `holder` what kind of thing that is. `modules`: they are those of modules. `trained`:
    they may get gradients.
    """

    name: str
    holder: Literal["list", "dict", "object", "class", "global"]
    modules: bool
    trained: bool


@dataclass(frozen=True, slots=True)
class Resize(Fact):
    """A tensor that the call made gets other sizes in place: by `out=`, as it has no elements."""

    api: str
