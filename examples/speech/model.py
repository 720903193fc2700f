"""Speech recognition like Whisper: an encoder for spectrograms, and a text decoder with cross-attention."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(channels, channels)
        self.key = nn.Linear(channels, channels, bias=False)
        self.value = nn.Linear(channels, channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, tokens: Tensor, source: Tensor, causal: bool) -> Tensor:
        query, key, value = (
            part.unflatten(2, (self.heads, -1)).transpose(1, 2)
            for part in (self.query(tokens), self.key(source), self.value(source))
        )
        found = F.scaled_dot_product_attention(query, key, value, is_causal=causal)
        return self.out(found.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.attention = Attention(channels, heads)
        self.cross = Attention(channels, heads)
        self.mlp = nn.Sequential(nn.LayerNorm(channels), nn.Linear(channels, channels), nn.GELU())

    def forward(self, tokens: Tensor, audio: Tensor | None = None) -> Tensor:
        normed = self.norm(tokens)
        tokens = tokens + self.attention(normed, normed, causal=audio is not None)
        if audio is not None:
            tokens = tokens + self.cross(self.norm(tokens), audio, causal=False)
        return tokens + self.mlp(tokens)


class Encoder(nn.Module):
    def __init__(self, mels: int, channels: int, heads: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(mels, channels, 3, padding=1)
        self.conv2 = nn.Conv1d(channels, channels, 3, stride=2, padding=1)
        self.positions = nn.Parameter(torch.zeros(20, channels))
        self.block = Block(channels, heads)

    def forward(self, spectrogram: Tensor) -> Tensor:
        features = F.gelu(self.conv2(F.gelu(self.conv1(spectrogram))))
        return self.block(features.transpose(1, 2) + self.positions)


class SpeechToText(nn.Module):
    """Returns the next token's logits and the keys of the cross-attention, which align words with the audio."""

    def __init__(self, mels: int = 8, channels: int = 16, words: int = 30) -> None:
        super().__init__()
        self.encoder = Encoder(mels, channels, 2)
        self.embedding = nn.Embedding(words, channels)
        self.blocks = nn.ModuleList([Block(channels, 2), Block(channels, 2)])
        self.norm = nn.LayerNorm(channels)

    def forward(self, spectrogram: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        kept: list[Tensor] = []
        hooks = [block.cross.key.register_forward_hook(lambda *of: kept.append(of[2])) for block in self.blocks]
        audio = self.encoder(spectrogram)
        states = self.embedding(tokens)
        for block in self.blocks:
            states = block(states, audio)
        for hook in hooks:
            hook.remove()
        return self.norm(states) @ self.embedding.weight.T, torch.stack(kept)
