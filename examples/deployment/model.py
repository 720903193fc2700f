"""The model to deploy."""

from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).softmax(dim=-1)
