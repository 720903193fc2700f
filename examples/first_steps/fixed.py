"""The modules of a first tour of torch.export."""

import torch
from torch import Tensor, nn


class Gate(nn.Module):
    """Expects a tensor with one number."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x.reshape(()) > 0, x * 2, x)


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 1), nn.ReLU(), Gate())

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Sized(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        def true_fn(x):
            return x + 1

        def false_fn(x):
            return x - 1

        return torch.cond(x.shape[0] > 5, true_fn, false_fn, (x,))


class InPlace(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x += 1
        return x
