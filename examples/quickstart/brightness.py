"""A helper of model.py."""

from torch import Tensor


def is_dark(images: Tensor, limit: float = 0.1) -> Tensor:
    return images.abs().mean() < limit
