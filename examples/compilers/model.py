"""Models with parts that TorchScript or torch.compile compiles before torch.export sees them."""

import torch
from torch import Tensor, nn


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).relu()


@torch.jit.script
def scaled(x: Tensor) -> Tensor:
    if bool(x.max() > 4):
        x = x / x.max()
    return x


class Scaled(nn.Module):
    """Calls a scripted function that branches on data."""

    def forward(self, x: Tensor) -> Tensor:
        return scaled(x) + 1


class WithScripted(nn.Module):
    """Has a part that TorchScript compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = torch.jit.script(Gate())

    def forward(self, x: Tensor) -> Tensor:
        return self.gate(x) * 2


class WithCompiled(nn.Module):
    """Has a part that torch.compile compiles."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = torch.compile(Gate(), backend="eager")

    def forward(self, x: Tensor) -> Tensor:
        return self.gate(x) * 2


class Rounded(nn.Module):
    """GELU by a sigmoid, less precise if it is compiled; torch.export counts as compiling."""

    def forward(self, x: Tensor) -> Tensor:
        if torch.compiler.is_compiling():
            return x * torch.sigmoid(1.7 * x)
        return x * torch.sigmoid(1.702 * x)


def scripted() -> nn.Module:
    return torch.jit.script(Gate())


def traced() -> nn.Module:
    return torch.jit.trace(Gate().eval(), torch.ones(2, 4))


def compiled() -> nn.Module:
    return torch.compile(Gate(), backend="eager")
