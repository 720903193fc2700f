"""Moves the decoder's program to a GPU, with the tensors that it creates."""

import torch
from model import Decoder, Encoder
from torch.export import Dim
from torch.export.passes import move_to_device_pass

batch, length = Dim("batch"), Dim("length", min=2, max=32)
encoder, decoder = Encoder().eval(), Decoder().eval()
pictures = torch.randn(4, 3, 32, 32)
seeing = torch.export.export(encoder, (pictures,), dynamic_shapes={"images": {0: batch}})
known = seeing.module()(pictures)
ids = torch.ones(4, 32, dtype=torch.long)
writing = torch.export.export(
    decoder, (ids, known), dynamic_shapes={"ids": {0: batch, 1: length}, "images": {0: batch}}
)
device = "cuda" if torch.cuda.is_available() else "cpu"
on_device = move_to_device_pass(writing, device).module()
print(on_device(ids[:, :1].to(device), known.to(device)).argmax(dim=-1))
