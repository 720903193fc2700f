"""Programs of which torch.export makes the same get the same findings: aliases, helpers, calls that do not matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint

HEAD = """\
import torch
from torch import Tensor, nn
"""

PAIRS = {
    "an alias of isinstance": (
        """
def picked(x):
    if isinstance(x, Tensor):
        return x
    return x.sum() > 0 and x

class Model(nn.Module):
    def forward(self, x: Tensor, y):
        given = [y, None][len(x.shape) > 2] if False else x
        if not torch.is_tensor(given):
            if given.any():
                return y
        return picked(given)
""",
        """
from torch import is_tensor as known
check = isinstance

def picked(x):
    if check(x, Tensor):
        return x
    return x.sum() > 0 and x

class Model(nn.Module):
    def forward(self, x: Tensor, y):
        given = [y, None][len(x.shape) > 2] if False else x
        if not known(given):
            if given.any():
                return y
        return picked(given)
""",
    ),
    "isinstance in a helper": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor, scale: float | Tensor):
        if not isinstance(scale, Tensor):
            if scale > 0:
                return x
        return x * scale
""",
        """
def is_number(value):
    return not isinstance(value, Tensor)

class Model(nn.Module):
    def forward(self, x: Tensor, scale: float | Tensor):
        if is_number(scale):
            if scale > 0:
                return x
        return x * scale
""",
    ),
    "a test for None in a helper": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor, mask: Tensor | None = None):
        if mask is not None and mask.any():
            return x
        if mask is None:
            return x * 2
        return x * mask
""",
        """
def exists(value):
    return value is not None

class Model(nn.Module):
    def forward(self, x: Tensor, mask: Tensor | None = None):
        if exists(mask) and mask.any():
            return x
        if not exists(mask):
            return x * 2
        return x * mask
""",
    ),
    "an alias of Tensor in a custom operator": (
        """
@torch.library.custom_op("mine::both", mutates_args=())
def both(x: Tensor) -> tuple[Tensor, Tensor]:
    return x + 1, x + 2

class Model(nn.Module):
    def forward(self, x: Tensor):
        a, b = both(x)
        if a.sum() > 0:
            return a
        return b
""",
        """
from torch import Tensor as T
from typing import Tuple as Pair

@torch.library.custom_op("mine::both", mutates_args=())
def both(x: T) -> Pair[T, T]:
    return x + 1, x + 2

class Model(nn.Module):
    def forward(self, x: Tensor):
        a, b = both(x)
        if a.sum() > 0:
            return a
        return b
""",
    ),
    "an alias of a helper that stands between two calls": (
        """
def kept(x):
    return x

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None
        self.count = 0

    def forward(self, x: Tensor):
        y = x if self.last is None else x + kept(self.last)
        self.last = kept(x)
        return y
""",
        """
def kept(x):
    return x

same = kept

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None
        self.count = 0

    def forward(self, x: Tensor):
        y = x if self.last is None else x + same(self.last)
        self.last = same(x)
        return y
""",
    ),
    "an alias of a helper that only counts": (
        """
def note(model):
    model.count = model.count + 1

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor):
        if self.count < 3:
            note(self)
        return x
""",
        """
def note(model):
    model.count = model.count + 1

log_it = note

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor):
        if self.count < 3:
            log_it(self)
        return x
""",
    ),
    "an assertion in a helper": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        assert x.sum().item() > 0
        return x
""",
        """
def total(x):
    return x.sum().item()

class Model(nn.Module):
    def forward(self, x: Tensor):
        assert total(x) > 0
        return x
""",
    ),
    "an assertion about a variable": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        assert x.sum().item() > 0
        return x
""",
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        number = x.sum().item()
        assert number > 0
        return x
""",
    ),
    "an alias of is_available": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        if torch.cuda.is_available():
            x = x.cuda()
        return x
""",
        """
from torch.cuda import is_available

class Model(nn.Module):
    def forward(self, x: Tensor):
        if is_available():
            x = x.cuda()
        return x
""",
    ),
    "is_available in a helper": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        if torch.cuda.is_available():
            x = x.cuda()
        return x
""",
        """
def has_gpu():
    return torch.cuda.is_available()

class Model(nn.Module):
    def forward(self, x: Tensor):
        on_gpu = has_gpu()
        if on_gpu:
            x = x.cuda()
        return x
""",
    ),
    "a dtype that hinges on the example": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        if x.dtype == torch.float16 and x.isinf().any():
            return x.clamp(max=1)
        return x
""",
        """
def is_half(x):
    return x.dtype == torch.float16

class Model(nn.Module):
    def forward(self, x: Tensor):
        if is_half(x) and x.isinf().any():
            return x.clamp(max=1)
        return x
""",
    ),
    "an alias of a type that a module defines": (
        """
from typing import Optional
Mask = Optional[Tensor]

class Model(nn.Module):
    def forward(self, x: Tensor, mask: Optional[Tensor]):
        if mask is not None and mask.any():
            return x
        return x * 2
""",
        """
from typing import Optional
Mask = Optional[Tensor]

class Model(nn.Module):
    def forward(self, x: Tensor, mask: Mask):
        if mask is not None and mask.any():
            return x
        return x * 2
""",
    ),
    "an alias of a logging function": (
        """
import logging

class Model(nn.Module):
    def forward(self, x: Tensor):
        if torch.get_default_dtype() == torch.float64:
            logging.warning("double")
        return x
""",
        """
from logging import warning as tell

class Model(nn.Module):
    def forward(self, x: Tensor):
        if torch.get_default_dtype() == torch.float64:
            tell("double")
        return x
""",
    ),
    "a count that a helper computes": (
        """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor):
        self.count = self.count + 1
        return x * self.count
""",
        """
def bumped(count):
    return count + 1

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor):
        self.count = bumped(self.count)
        return x * self.count
""",
    ),
    "a count that a method computes": (
        """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor):
        self.count += 1
        return x * self.count
""",
        """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def bump(self):
        return self.count + 1

    def forward(self, x: Tensor):
        self.count = self.bump()
        return x * self.count
""",
    ),
    "a state that is only logged by a helper": (
        """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor):
        print(self.count)
        self.count += 1
        return x
""",
        """
def tell(value):
    print(value)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor):
        tell(self.count)
        self.count += 1
        return x
""",
    ),
    "a state that a method makes of another": (
        """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x: Tensor):
        if self.last is None:
            self.last = torch.zeros(3)
        self.last = self.last * 0.9
        return x + self.last
""",
        """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def decayed(self, value):
        return value * 0.9

    def forward(self, x: Tensor):
        if self.last is None:
            self.last = torch.zeros(3)
        shrink = self.decayed
        self.last = shrink(self.last)
        return x + self.last
""",
    ),
    "a tuple of exceptions in a variable": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        try:
            if x.sum() > 0:
                return x
        except (RuntimeError, ValueError):
            pass
        return -x
""",
        """
ERRORS = (RuntimeError, ValueError)

class Model(nn.Module):
    def forward(self, x: Tensor):
        try:
            if x.sum() > 0:
                return x
        except ERRORS:
            pass
        return -x
""",
    ),
    "an alias of suppress": (
        """
import contextlib

class Model(nn.Module):
    def forward(self, x: Tensor):
        with contextlib.suppress(RuntimeError):
            if x.sum() > 0:
                return x
        return -x
""",
        """
from contextlib import suppress as quiet

class Model(nn.Module):
    def forward(self, x: Tensor):
        guard = quiet(RuntimeError)
        with guard:
            if x.sum() > 0:
                return x
        return -x
""",
    ),
    "a default that a helper makes": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor, seen={}):
        seen["n"] = x
        return x * seen["n"]
""",
        """
def empty():
    return dict()

class Model(nn.Module):
    def forward(self, x: Tensor, seen=empty()):
        seen["n"] = x
        return x * seen["n"]
""",
    ),
    "a cast that a helper returns early": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        if x.dtype == torch.float16:
            x = x.float()
        return x * 2
""",
        """
def widened(x):
    if x.dtype == torch.float16:
        return x.float()
    return x

class Model(nn.Module):
    def forward(self, x: Tensor):
        return widened(x) * 2
""",
    ),
    "a computation that a helper returns early": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        y = x - 1
        if x.dtype == torch.float16:
            y = x.float() * 3
        return y * 2
""",
        """
def changed(x, y):
    if x.dtype == torch.float16:
        return x.float() * 3
    return y

class Model(nn.Module):
    def forward(self, x: Tensor):
        y = x - 1
        return changed(x, y) * 2
""",
    ),
    "a warning that a helper gives once": (
        """
import warnings

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.warned = False

    def forward(self, x: Tensor):
        if not self.warned:
            warnings.warn("once")
            self.warned = True
        return x
""",
        """
from warnings import warn as tell

def once(model):
    tell("once")
    model.warned = True

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.warned = False

    def forward(self, x: Tensor):
        seen = self.warned
        if not seen:
            once(self)
        return x
""",
    ),
    "an earlier call that finds other state": (
        """
class Model(nn.Module):
    def flag(self):
        return self.mark

    def forward(self, x: Tensor):
        self.mark = x.max()
        if self.flag():
            x = x - 1
        return x
""",
        """
class Model(nn.Module):
    def flag(self):
        return self.mark

    def forward(self, x: Tensor):
        self.mark = "first"
        if self.flag():
            x = x * 3
        self.mark = x.max()
        if self.flag():
            x = x - 1
        return x
""",
    ),
    "an earlier call that has nothing to do with it": (
        """
def doubled(t):
    return t + t

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = None

    def forward(self, x: Tensor):
        y = x if self.held is None else x - self.held
        self.held = doubled(x.mean(0))
        return y
""",
        """
def doubled(t):
    return t + t

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = None

    def forward(self, x: Tensor):
        y = x if self.held is None else x - self.held
        other = doubled(torch.ones(4))
        self.held = doubled(x.mean(0))
        return y - other.sum()
""",
    ),
    "two calls of a helper in another order": (
        """
def cut(x, n):
    if x.shape[0] == n:
        return x - 1
    return x

class Model(nn.Module):
    def forward(self, x: Tensor):
        return cut(x, 1) - cut(x, 7)
""",
        """
def cut(x, n):
    if x.shape[0] == n:
        return x - 1
    return x

class Model(nn.Module):
    def forward(self, x: Tensor):
        return cut(x, 7) - cut(x, 1)
""",
    ),
    "an alternative more than a value keeps": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor, way: int):
        if way == 1:
            found = x.max()
        elif way == 2:
            found = [x, x]
        elif way == 3:
            found = {"y": x}
        else:
            found = "none"
        if found:
            return x
        return x - 1
""",
        """
class Model(nn.Module):
    def forward(self, x: Tensor, way: int):
        if way == 1:
            found = x.max()
        elif way == 2:
            found = [x, x]
        elif way == 3:
            found = {"y": x}
        elif way == 4:
            found = (x,)
        elif way == 5:
            found = 1.5
        else:
            found = "none"
        if found:
            return x
        return x - 1
""",
    ),
    "an operator that is a function and a method": (
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        if torch.numel(x) > 64 or torch.is_nonzero(x.min()):
            return torch.squeeze(x)
        return x
""",
        """
class Model(nn.Module):
    def forward(self, x: Tensor):
        if x.numel() > 64 or x.min().is_nonzero():
            return x.squeeze()
        return x
""",
    ),
}
"""Two programs each, by what differs between them."""


def findings(text: str) -> list[tuple[str, str]]:
    path = Path("/nowhere/model.py")
    settings = combine([Layer(path.parent, {"torch-version": (2, 13)})], path.parent)
    task = Task(path, settings, data=(HEAD + text).encode())
    return sorted((finding.code, finding.severity.value) for finding in lint([task]).findings)


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_is_found(name: str) -> None:
    one, other = PAIRS[name]
    assert findings(one) == findings(other)
