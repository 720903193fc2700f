"""Sizes that vary: in bounds, the same in two inputs, one computed from the other, and where a branch asks for them."""

from torch import Tensor, nn


class Tail(nn.Module):
    """Each row without its first two entries."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, 2:].relu()


class Product(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x @ y


class Shifted(nn.Module):
    """`y` is one longer than `x`."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y[1:]


class Strided(nn.Module):
    """With `n` numbers in the sum, `x` has `n + 1` and `y` has `3 * n + 1`."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x[1:] + y[1::3]


class Few(nn.Module):
    """Multiplies a few rows; many are left alone."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        if x.shape[0] <= 16:
            return x @ y[:, :16]
        return y
