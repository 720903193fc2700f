"""Exports the recogniser in non-strict mode, the default since torch 2.7."""

import torch
from model import SpeechToText

model = SpeechToText().eval()
spectrogram, tokens = torch.randn(1, 8, 40), torch.tensor([[3, 3, 3, 3]])
program = torch.export.export(model, (spectrogram, tokens))
print(program)
