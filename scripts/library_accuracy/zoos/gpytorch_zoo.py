"""Kernels, means, likelihoods and exact models of gpytorch."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn

POINTS = "float32[6, 3]"


def cases() -> Iterator[dict[str, Any]]:
    """Each kernel evaluated on points, then the other parts."""
    for name in (
        "RBFKernel",
        "MaternKernel",
        "RQKernel",
        "LinearKernel",
        "CosineKernel",
        "PeriodicKernel",
        "ConstantKernel",
    ):
        yield {"model": "gpytorch_zoo:Evaluated", "arguments": [name], "inputs": [POINTS, "float32[6, 3]"]}
    for name, arguments in (("ConstantMean", []), ("ZeroMean", []), ("LinearMean", [3])):
        yield {"model": f"gpytorch.means:{name}", "arguments": arguments, "inputs": [POINTS]}
    yield {"model": "gpytorch_zoo:Predicted", "inputs": ["float32[5, 1]"]}


class Evaluated(nn.Module):
    """A kernel, as the matrix that it stands for."""

    def __init__(self, name: str) -> None:
        import gpytorch

        super().__init__()
        self.kernel = getattr(gpytorch.kernels, name)()

    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        """The matrix."""
        made: Tensor = self.kernel(one, other).to_dense()
        return made


class Predicted(nn.Module):
    """The mean of a small exact model."""

    def __init__(self) -> None:
        import gpytorch
        import torch

        super().__init__()
        points = torch.linspace(0, 1, 8).unsqueeze(-1)

        class Exact(gpytorch.models.ExactGP):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__(points, torch.sin(points[:, 0]), gpytorch.likelihoods.GaussianLikelihood())
                self.mean = gpytorch.means.ConstantMean()
                self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

            def forward(self, x: Tensor) -> Any:
                return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

        self.model = Exact()

    def forward(self, x: Tensor) -> Tensor:
        """The mean at points."""
        made: Tensor = self.model(x).mean
        return made
