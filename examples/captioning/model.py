"""An image captioner like BLIP that takes text: `forward` calls the tokenizer."""

from types import SimpleNamespace

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Tokenizer:
    """One token per letter. A caption replaces the first token by its own."""

    pad, start, caption, size = 0, 1, 2, 30

    def __call__(self, texts: list[str]) -> SimpleNamespace:
        rows = [[self.start] + [3 + ord(letter) % 27 for letter in text] for text in texts]
        longest = max(len(row) for row in rows)
        ids = torch.tensor([row + [self.pad] * (longest - len(row)) for row in rows])
        return SimpleNamespace(input_ids=ids, attention_mask=ids != self.pad)


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

    def __init__(self, channels: int = 16, prompt: str = "a picture of ") -> None:
        super().__init__()
        self.tokenizer = Tokenizer()
        self.prompt = prompt
        self.image = nn.Conv2d(3, channels, 8, stride=8)
        self.decoder = Decoder(Tokenizer.size, channels)

    def forward(self, images: Tensor, caption: str) -> Tensor:
        states = self.image(images).flatten(2).transpose(1, 2)
        text = self.tokenizer([self.prompt + caption])
        text.input_ids[:, 0] = self.tokenizer.caption
        ids = text.input_ids.expand(images.shape[0], -1)
        targets = ids.masked_fill(ids == self.tokenizer.pad, -100)
        logits = self.decoder(ids, ~text.attention_mask.expand(images.shape[0], -1), states)
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())


def other_captions() -> list[tuple[Tensor, str]]:
    return [(torch.randn(2, 3, 32, 32), "a dog")]
