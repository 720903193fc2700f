"""From a model to a library without Python, with the names that older torch versions used."""

import torch
import torch._export
import torch._inductor
from model import Model

model = Model().eval()
x = torch.randn(2, 3)
program = torch.export.export(model, (x,))
with torch.no_grad():
    library = torch._inductor.aot_compile(program.module(), (x,))
compiled = torch._export.aot_load(library, "cpu")
assert torch.allclose(compiled(x), model(x))
