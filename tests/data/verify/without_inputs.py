"""Models about whose inputs nothing is written down; the first line of each says what is found."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Perceptron(nn.Module):
    """x: float32[batch, 12]"""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 2))

    def forward(self, x):
        return self.layers(x)


class Images(nn.Module):
    """x: float32[batch, 1, 28, 28]"""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc = nn.Linear(256, 10)

    def forward(self, x):
        x = functional.max_pool2d(self.conv1(x).relu(), 2)
        x = functional.max_pool2d(self.conv2(x).relu(), 2)
        return self.fc(x.view(-1, 256))


class Patches(nn.Module):
    """image: float32[batch, 3, 64, 64]"""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 24, 16, 16)
        self.position = nn.Parameter(torch.zeros(1, 16, 24))

    def forward(self, image):
        return self.patches(image).flatten(2).transpose(1, 2) + self.position


class Words(nn.Module):
    """tokens: int64[batch, 8]; lengths: int64[batch]"""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 12)
        self.lstm = nn.LSTM(12, 7, batch_first=True)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embedding(tokens), lengths, batch_first=True)
        return self.lstm(packed)[1]


class Conditioned(nn.Module):
    """x: float32[batch, 6]; kwargs: {labels: float32[batch, 4]}"""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(6, 3), nn.Linear(4, 3)

    def forward(self, x, **kwargs):
        return self.one(x) + self.two(kwargs["labels"].float())


class OwnWeights(nn.Module):
    """signal: float32[batch, 4, 8]"""

    def __init__(self) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(6, 4, 3))

    def forward(self, signal):
        _batch, _channels, _length = signal.shape
        return functional.conv1d(signal, self.kernel)


class Batch(nn.Module):
    """batch: {x: float32[batch, 5], scale: float32[batch, 5]}"""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(5, 5)

    def forward(self, batch):
        return self.fc(batch["x"]) * batch["scale"]


class Pyramid(nn.Module):
    """features: [float32[batch, 8, 32, 32], float32[batch, 16, 32, 32]]"""

    def __init__(self) -> None:
        super().__init__()
        self.fine, self.coarse = nn.Conv2d(8, 4, 1), nn.Conv2d(16, 4, 1)

    def forward(self, features):
        fine, coarse = features
        return self.fine(fine) + functional.interpolate(self.coarse(coarse), size=fine.shape[-2:])


class Steps(nn.Module):
    """x: float32[batch, 6]; n: 2"""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x, n):
        for _ in range(n):
            x = self.fc(x)
        return x


class Graph(nn.Module):
    """x: float32[batch, 10]; adjacency: float32[batch, batch]"""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(10, 4))

    def forward(self, x, adjacency):
        return torch.mm(adjacency, torch.mm(x, self.weight))


class NeedsItsMask(nn.Module):
    """x: float32[batch, 3, 32, 32]; mask: bool[batch, 3, 32, 32]"""

    def forward(self, x, mask=None):
        return x * mask.sum(1, keepdim=True)


class ByOneComment(nn.Module):
    """points: float32[batch, 4, 3]; weights: float32[batch, 4]"""

    def forward(self, points, weights):
        # points: (B, N, 3)
        # weights: (B, N)
        return torch.einsum("bnd,bn->bd", points, weights)


class Refuses(nn.Module):
    """x: float32[batch, 3, 32, 32]"""

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() != 4 or x.shape[1] != 3:
            raise ValueError(f"expected 4D images of 3 channels, got {tuple(x.shape)}")
        return x


class Several(nn.Module):
    """inputs: (float32[batch, 4], float32[batch, 4])"""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, *inputs):
        first, second = inputs
        return self.fc(first) + second


class Fixed(nn.Module):
    """x: float32[2, 16]"""

    def __init__(self) -> None:
        super().__init__()
        self.offsets = nn.Parameter(torch.zeros(2, 16))

    def forward(self, x):
        assert x.shape == self.offsets.shape
        return x + self.offsets


class Positions(nn.Module):
    """x: float32[batch, 7, 16]"""

    def __init__(self) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(1, 7, 16))

    def forward(self, x):
        assert x.ndim == 3
        return x + self.positions


class Counts(nn.Module):
    """x: float32[batch, 3]"""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("calls", torch.zeros(()))
        self.seen: list[int] = []

    def forward(self, x):
        self.calls += 1
        self.seen.append(len(x))
        self.fc.weight.mul_(0.5)
        return self.fc(x)


CALLS = []


class Marks(nn.Module):
    """x: float32[batch, 7, 7]; mark: float32[batch, 7, 4]"""

    def __init__(self):
        super().__init__()
        self.values = nn.Conv1d(7, 16, 3, padding=1)
        self.marks = nn.Linear(4, 16)

    def forward(self, x, mark):
        return self.values(x.permute(0, 2, 1)).transpose(1, 2) + self.marks(mark)


class Chooses(nn.Module):
    """x: float32[batch, 5]"""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 7)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.layer(x) + 1, lambda x: self.layer(-x), (x,))


class Repeats(nn.Module):
    """count: float32[]; x: float32[]"""

    def forward(self, count, x):
        return torch._higher_order_ops.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2), (count, x))


class Broken(nn.Module):
    def forward(self, x):
        CALLS.append(1)
        return undefined(x)  # noqa: F821


class OwnObject(nn.Module):
    def forward(self, x):
        CALLS.append(1)
        return x.tensors + x.mask


class Impossible(nn.Module):
    def forward(self, x):
        raise ValueError(f"no shape like {tuple(x.shape)}, please")


class Hog(nn.Module):
    def forward(self, x):
        raise MemoryError


class Endless(nn.Module):
    def forward(self, x):
        while True:
            x = x + 1
