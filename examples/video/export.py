"""Exports the classifier for two clips, and gives it four."""

import torch
from model import VideoClassifier

model = VideoClassifier().eval()
clips = torch.randn(2, 4, 32, 32, 3).permute(0, 4, 1, 2, 3)
program = torch.export.export(model, (clips,))
print(program.module()(clips))
print(program.module()(torch.randn(4, 3, 4, 32, 32)))
