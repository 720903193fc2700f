"""Promptable segmentation as SAM2 has it: a plain object keeps the image's features, and points ask for masks."""

import torch
from torch import Tensor, nn


class SegmentationModel(nn.Module):
    def __init__(self, channels: int = 8, masks: int = 3) -> None:
        super().__init__()
        self.image_encoder = nn.Conv2d(3, channels, 4, stride=4)
        self.point_encoder = nn.Linear(2, channels)
        self.labels = nn.Embedding(2, channels)
        self.mask_tokens = nn.Embedding(masks, channels)
        self.scores = nn.Linear(channels, 1)

    def forward(self, features: Tensor, points: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        prompt = (self.point_encoder(points) + self.labels(labels)).mean(dim=1, keepdim=True)
        tokens = self.mask_tokens.weight + prompt
        masks = torch.einsum("bmc,bchw->bmhw", tokens, features.expand(tokens.shape[0], -1, -1, -1))
        return masks, self.scores(tokens).squeeze(-1)


class Predictor:
    """A plain class that holds a module."""

    def __init__(self, model: SegmentationModel, threshold: float = 0.0) -> None:
        self.model = model
        self.threshold = threshold
        self.features: Tensor | None = None

    def set_image(self, image: Tensor) -> None:
        with torch.no_grad():
            self.features = self.model.image_encoder(image)

    @torch.no_grad()
    def predict(self, points: Tensor, labels: Tensor, return_logits: bool = False) -> tuple[Tensor, Tensor]:
        assert self.features is not None, "set an image first"
        masks, scores = self.model(self.features, points, labels)
        return (masks if return_logits else masks > self.threshold), scores

    def export(self, points: Tensor, labels: Tensor) -> torch.export.ExportedProgram:
        return torch.export.export(self.predict, (points, labels))


def predictor() -> Predictor:
    """A predictor that has already seen an image."""
    torch.manual_seed(0)
    made = Predictor(SegmentationModel().eval())
    made.set_image(torch.randn(1, 3, 32, 32))
    return made


def arguments() -> list[Predictor]:
    return [predictor()]


def method() -> object:
    return predictor().predict


def exported() -> torch.export.ExportedProgram:
    return predictor().export(torch.randn(2, 2, 2), torch.tensor([[0, 1], [1, 1]]))
