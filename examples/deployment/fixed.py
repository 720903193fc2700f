"""From a model to a saved program, a program in Core ATen operators, and a package without Python.

Say where to: `python fixed.py DIRECTORY`. What AOTInductor makes is compiled by a C++ compiler.
"""

import sys
from pathlib import Path

import torch
from model import Model
from torch.export import Dim, ExportedProgram

model = Model().eval()
x = torch.randn(2, 3)


def program() -> ExportedProgram:
    return torch.export.export(model, (x,), dynamic_shapes={"x": {0: Dim("batch")}})


def core() -> ExportedProgram:
    """The program in Core ATen operators: `linear` becomes `addmm` with a transposed weight."""
    return program().run_decompositions()


def reloaded(directory: Path) -> ExportedProgram:
    torch.export.save(program(), directory / "model.pt2")
    return torch.export.load(directory / "model.pt2")


def packaged(directory: Path) -> object:
    path = torch._inductor.aoti_compile_and_package(program(), package_path=str(directory / "library.pt2"))
    return torch._inductor.aoti_load_package(path)


if __name__ == "__main__":
    goal = Path(sys.argv[1])
    for run in (program().module(), core().module(), reloaded(goal).module(), packaged(goal)):
        for inputs in (x, torch.randn(5, 3)):
            assert torch.allclose(run(inputs), model(inputs), atol=1e-6)
        print("agrees")
    print(*(node.target for node in core().graph.nodes if node.op == "call_function"))
