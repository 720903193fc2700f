"""A model that uses compiled functions, which acme-export describes to exportlint."""

import acme_ops
import torch
from torch import nn


class Head(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        acme_ops.synchronize()
        gated = acme_ops.gate(x)
        if gated.sum() > 0:
            gated = gated * 2
        return gated[: acme_ops.count_nonzero(x)]
