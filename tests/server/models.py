"""Model files as people write them, of any length, for what has to be quick or to last."""

from __future__ import annotations

HEAD = '''\
"""Encoders of several sizes."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Config:
    width: int = 256
    heads: int = 8
    layers: int = 4
    dropout: float = 0.1
    vocabulary: int = 32_000
    causal: bool = False


def lengths_to_mask(lengths: Tensor, size: int) -> Tensor:
    """True where a sequence goes on."""
    return torch.arange(size, device=lengths.device)[None, :] < lengths[:, None]


def pooled(states: Tensor, mask: Tensor | None) -> Tensor:
    """The mean of what is not masked."""
    if mask is None:
        return states.mean(dim=1)
    weights = mask.to(states.dtype)[..., None]
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)
'''

PART = '''

class Attention{n}(nn.Module):
    """Attention over all places, with relative ones."""

    def __init__(self, config: Config):
        super().__init__()
        self.heads = config.heads
        self.size = config.width // config.heads
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(config.width, config.width)
        self.value = nn.Linear(config.width, config.width)
        self.out = nn.Linear(config.width, config.width)
        self.dropout = nn.Dropout(config.dropout)

    def split(self, states: Tensor) -> Tensor:
        batch, length, _ = states.shape
        return states.view(batch, length, self.heads, self.size).transpose(1, 2)

    def forward(self, states: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value = self.split(self.query(states)), self.split(self.key(states)), self.split(self.value(states))
        scores = query @ key.transpose(-1, -2) / math.sqrt(self.size)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        weights = self.dropout(F.softmax(scores, dim=-1))
        context = (weights @ value).transpose(1, 2)
        return self.out(context.reshape(states.shape))


class FeedForward{n}(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.wide = nn.Linear(config.width, 4 * config.width)
        self.narrow = nn.Linear(4 * config.width, config.width)

    def forward(self, states: Tensor) -> Tensor:
        hidden = self.wide(states)
        if {condition}:
            hidden = hidden * 0.5
        return self.narrow(F.gelu(hidden))


class Block{n}(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.attention = Attention{n}(config)
        self.forward_part = FeedForward{n}(config)
        self.first = nn.LayerNorm(config.width)
        self.second = nn.LayerNorm(config.width)

    def forward(self, states: Tensor, mask: Tensor | None = None) -> Tensor:
        states = states + self.attention(self.first(states), mask)
        return states + self.forward_part(self.second(states))


class Encoder{n}(nn.Module):
    """Embeds tokens and looks at all of them."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.places = nn.Parameter(torch.zeros(512, config.width))
        self.blocks = nn.ModuleList(Block{n}(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary)
        self.register_buffer("seen", torch.zeros(1))

    def embed(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        return self.tokens(tokens) + self.places[:length]

    def forward(self, tokens: Tensor, lengths: Tensor | None = None) -> dict[str, Tensor]:
        states = self.embed(tokens)
        mask = None if lengths is None else lengths_to_mask(lengths, tokens.shape[1])
        for block in self.blocks:
            states = block(states, mask)
        states = self.norm(states)
        return {{"logits": self.head(states), "pooled": pooled(states, mask)}}
'''

QUIET, FOUND = "self.training", "hidden.abs().max() > 6.0"


def model(lines: int) -> str:
    """A file of about so many lines, in which every fourth part has a finding."""
    text, n = HEAD, 0
    while text.count("\n") < lines:
        text += PART.format(n=n, condition=QUIET if n % 4 else FOUND)
        n += 1
    return text
