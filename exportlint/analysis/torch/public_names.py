"""What messages call an operator of torch."""

from __future__ import annotations


def public_name(api: str) -> str:
    """The name that torch's documentation has: `torch.nn.functional.one_hot`, `Tensor.narrow`.

    `api` is how facts name it, whichever import or alias reached it: with all its modules, or, for a method of
    tensors, without any.
    """
    return f"Tensor.{api}" if "." not in api else api.removeprefix("torch.") if api.startswith("torch.Tensor.") else api
