"""torchvision's multiscale vision transformer, with two small blocks."""

from torch import nn
from torchvision.models.video.mvit import MSBlockConfig, MViT


def model() -> nn.Module:
    kernel, stride = [3, 3, 3], [1, 2, 2]
    blocks = [
        MSBlockConfig(1, 8, 16, kernel, kernel, stride, stride),
        MSBlockConfig(2, 16, 16, kernel, kernel, [1, 1, 1], [1, 1, 1]),
    ]
    return MViT((32, 32), 4, blocks, True, False, True, True, num_classes=5).eval()
