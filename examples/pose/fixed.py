"""The head of a YOLO pose model: boxes, classes and keypoints from feature maps at three scales."""

import torch
from torch import Tensor, nn


class PoseHead(nn.Module):
    def __init__(self, channels: tuple[int, ...] = (8, 16, 16), classes: int = 1, keypoints: int = 3) -> None:
        super().__init__()
        self.keypoints = keypoints
        self.register_buffer("stride", torch.tensor([8.0, 16.0, 32.0]))
        self.boxes = nn.ModuleList(nn.Conv2d(width, 4 + classes, 1) for width in channels)
        self.points = nn.ModuleList(nn.Conv2d(width, 3 * keypoints, 1) for width in channels)

    def forward(self, maps: list[Tensor]) -> Tensor:
        anchors, strides = make_anchors(maps, self.stride)
        found = torch.cat([layer(x).flatten(2) for layer, x in zip(self.boxes, maps, strict=True)], dim=2)
        offsets, scores = found.split((4, found.shape[1] - 4), dim=1)
        low = anchors - offsets[:, :2]
        high = anchors + offsets[:, 2:]
        boxes = torch.cat([(low + high) / 2, high - low], dim=1) * strides
        return torch.cat([boxes, scores.sigmoid(), self.decode(maps, anchors, strides)], dim=1)

    def decode(self, maps: list[Tensor], anchors: Tensor, strides: Tensor) -> Tensor:
        """Returns the keypoints: x, y and visibility."""
        points = torch.cat([layer(x).flatten(2) for layer, x in zip(self.points, maps, strict=True)], dim=2)
        points[:, 2::3] = points[:, 2::3].sigmoid()
        points[:, 0::3] = (points[:, 0::3] * 2 + (anchors[0] - 0.5)) * strides
        points[:, 1::3] = (points[:, 1::3] * 2 + (anchors[1] - 0.5)) * strides
        return points


def make_anchors(maps: list[Tensor], stride: Tensor) -> tuple[Tensor, Tensor]:
    """The center of each cell of each map, and the cell size in pixels."""
    anchors, strides = [], []
    for level, x in enumerate(maps):
        height, width = x.shape[2:]
        rows = torch.arange(height, dtype=x.dtype, device=x.device) + 0.5
        columns = torch.arange(width, dtype=x.dtype, device=x.device) + 0.5
        rows, columns = torch.meshgrid(rows, columns, indexing="ij")
        anchors.append(torch.stack([columns, rows]).flatten(1))
        strides.append(torch.full((1, height * width), stride[level], dtype=x.dtype, device=x.device))
    return torch.cat(anchors, dim=1), torch.cat(strides, dim=1)


def warm() -> PoseHead:
    """A head that has already run on an image, which sets its strides."""
    head = PoseHead().eval()
    with torch.no_grad():
        head([torch.randn(2, 8, 8, 12), torch.randn(2, 16, 4, 6), torch.randn(2, 16, 2, 3)])
    return head
