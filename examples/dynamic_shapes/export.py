"""Says which sizes vary, and says it wrongly three times."""

import torch
from model import Few, Product, Strided, Tail
from torch.export import Dim, export

rows, columns = Dim("rows"), Dim("columns", min=11, max=18)
export(Tail(), (torch.randn(10, 10),), dynamic_shapes={"x": {0: rows, 1: columns}})

inner = Dim("inner")
export(Product(), (torch.randn(4, 8), torch.randn(8, 2)), dynamic_shapes={"x": {1: inner}, "weights": {0: inner}})

n = Dim("n", min=3, max=6)
export(Strided(), (torch.randn(4), torch.randn(10)), dynamic_shapes=({0: n + 1}, {0: 3 * n + 1}))

x, y = torch.randn(8, 16), torch.randn(16, 32)
every = {name: {i: Dim(f"{name}{i}") for i in range(2)} for name in ("x", "y")}
export(Few(), (x, y), dynamic_shapes=every)
