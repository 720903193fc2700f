"""Dynamic sizes: with bounds, shared by two inputs, computed from another size, and in a branch."""

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram, export


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
    """`x` has `n + 1` elements and `y` has `3 * n + 1`, for some `n`."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x[1:] + y[1::3]


class Few(nn.Module):
    """Multiplies `x` and `y` if there are few rows."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        if x.shape[0] <= 16:
            return x @ y[:, :16]
        return y


def bounded() -> ExportedProgram:
    rows, columns = Dim("rows"), Dim("columns", min=11, max=18)
    return export(Tail(), (torch.randn(10, 10),), dynamic_shapes={"x": {0: rows, 1: columns}})


def shared() -> ExportedProgram:
    inner = Dim("inner")
    x, y = torch.randn(4, 8), torch.randn(8, 2)
    return export(Product(), (x, y), dynamic_shapes={"x": {1: inner}, "weights": {0: inner}})


def derived() -> ExportedProgram:
    n = Dim("n", min=3, max=6)
    return export(Strided(), (torch.randn(4), torch.randn(10)), dynamic_shapes=({0: n + 1}, {0: 3 * n + 1}))


def branched() -> ExportedProgram:
    x, y = torch.randn(8, 16), torch.randn(16, 32)
    shapes = {name: {i: Dim(f"{name}{i}") for i in range(2)} for name in ("x", "y")}
    return export(Few(), (x, y), dynamic_shapes=shapes)
