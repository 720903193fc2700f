"""The captioner takes tokens, which the caller makes."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Tokenizer:
    """One token per letter. A caption replaces the first token by its own."""

    pad, start, caption, size = 0, 1, 2, 30

    def __call__(self, texts: list[str]) -> Tensor:
        rows = [[self.start] + [3 + ord(letter) % 27 for letter in text] for text in texts]
        longest = max(len(row) for row in rows)
        ids = torch.tensor([row + [self.pad] * (longest - len(row)) for row in rows])
        ids[:, 0] = self.caption
        return ids


class Decoder(nn.Module):
    def __init__(self, words: int, channels: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, channels)
        self.head = nn.Linear(channels, words)

    def forward(self, ids: Tensor, padding: Tensor, image: Tensor) -> Tensor:
        length = ids.shape[1]
        seen = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril() & ~padding[:, None]
        states = self.embedding(ids)
        states = states + F.scaled_dot_product_attention(states, states, states, seen)
        return self.head(states + F.scaled_dot_product_attention(states, image, image))


class Captioner(nn.Module):
    """The loss of one caption for each image."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.image = nn.Conv2d(3, channels, 8, stride=8)
        self.decoder = Decoder(Tokenizer.size, channels)

    def forward(self, images: Tensor, ids: Tensor) -> Tensor:
        states = self.image(images).flatten(2).transpose(1, 2)
        padding = ids == Tokenizer.pad
        targets = ids.masked_fill(padding, -100)
        logits = self.decoder(ids, padding, states)
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())
