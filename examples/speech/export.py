"""Exports the recogniser in strict mode, which was torch's default up to 2.6."""

import torch
from model import SpeechToText

model = SpeechToText().eval()
spectrogram, tokens = torch.randn(1, 8, 40), torch.tensor([[3, 3, 3, 3]])
program = torch.export.export(model, (spectrogram, tokens), strict=True)
print(program)
