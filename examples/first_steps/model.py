"""The modules of a first tour of torch.export."""

from torch import Tensor, nn


class Gate(nn.Module):
    """Expects a tensor with one number."""

    def forward(self, x: Tensor) -> Tensor:
        if x.item() > 0:
            return x * 2
        return x


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 1), nn.ReLU(), Gate())

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Sized(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > 5:
            return x + 1
        return x - 1


class InPlace(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x += 1
        return x
