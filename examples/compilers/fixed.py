"""The same models for torch.export: the plain modules and functions, and one implementation for every compiler."""

import torch
from torch import Tensor, nn


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).relu()


def scaled(x: Tensor) -> Tensor:
    return torch.where(x.max() > 4, x / x.max(), x)


class Scaled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return scaled(x) + 1


class WithGate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()

    def forward(self, x: Tensor) -> Tensor:
        return self.gate(x) * 2


class Rounded(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(1.702 * x)
