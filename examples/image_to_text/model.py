"""Image captioning: a vision transformer encodes the image, and a GPT-2 decoder writes the tokens one by one."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, channels: int, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(channels, channels)
        self.keys = nn.Linear(channels, 2 * channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, tokens: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        query = self.query(tokens).unflatten(2, (self.heads, -1)).transpose(1, 2)
        key, value = (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in self.keys(source).chunk(2, dim=2))
        return self.out(F.scaled_dot_product_attention(query, key, value, mask).transpose(1, 2).flatten(2))


class Encoder(nn.Module):
    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, channels, 8, stride=8)
        self.positions = nn.Parameter(torch.zeros(1, 16, channels))
        self.norm = nn.LayerNorm(channels)
        self.attention = Attention(channels)

    def forward(self, images: Tensor) -> Tensor:
        tokens = self.patches(images).flatten(2).transpose(1, 2) + self.positions
        normed = self.norm(tokens)
        return tokens + self.attention(normed, normed)


class Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.attention = Attention(channels)
        self.cross = Attention(channels)

    def forward(self, states: Tensor, images: Tensor, mask: Tensor, image_mask: Tensor) -> Tensor:
        normed = self.norm(states)
        states = states + self.attention(normed, normed, mask)
        return states + self.cross(self.norm(states), images, image_mask)


class Decoder(nn.Module):
    """Creates inputs that are not given, like GPT-2 in transformers: positions, the causal mask, the image mask."""

    def __init__(self, channels: int = 16, words: int = 60, longest: int = 32) -> None:
        super().__init__()
        self.tokens = nn.Embedding(words, channels)
        self.positions = nn.Embedding(longest, channels)
        self.block = Block(channels)
        self.head = nn.Linear(channels, words)

    def forward(self, ids: Tensor, images: Tensor) -> Tensor:
        length = ids.shape[1]
        places = torch.arange(length, device=ids.device)
        embedded = self.tokens(ids)
        states = embedded + self.positions(places).to(embedded.device)
        causal = places[:, None] >= places
        everything = torch.ones(1, 1, 1, images.shape[1], dtype=torch.bool, device=images.device)
        return self.head(self.block(states, images, causal, everything))
