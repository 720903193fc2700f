"""Models of any library: its modules whose arguments and inputs can be told from their signatures.

Constructors are called with a small number for each required parameter whose name or annotation says what it is. Then
`forward` is called in eager with tensors of usual shapes, until one of them fits. What runs is a case, with these
arguments and inputs written down.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import io
import itertools
import pkgutil
import signal
import time
import types
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

WIDTH, CLASSES, HEADS, BATCH, LENGTH, IMAGE, WORDS = 16, 3, 2, 2, 12, 32, 20

SIZES: Mapping[str, Any] = {
    name: size
    for names, size in (
        ("kernel_size window_size patch_size frame_patch_size image_patch_size", 4),
        ("image_size img_size", IMAGE),
        ("num_classes n_classes out_features output_dim out_dim", CLASSES),
        ("heads num_heads n_heads nhead n_head num_attention_heads", HEADS),
        ("depth depths num_layers n_layers layers num_blocks n_blocks", 1),
        ("dim_head head_dim", 8),
        ("num_tokens vocab_size num_embeddings codebook_size num_codes", WORDS),
        ("max_seq_len seq_len sequence_length max_len context_length num_patches n_times", LENGTH),
        ("channels_first inplace batch_first bias", False),
        ("frames", 4),
        ("stride dilation groups num_groups num_quantizers reduction steps", 1),
        ("sample_rate fs sr sfreq", 8000),
        ("eps epsilon", 1e-5),
    )
    for name in names.split()
}
"""What a required parameter of such a name gets. Any other whole number is `WIDTH`."""

SHAPES: Sequence[tuple[int, ...]] = (
    (BATCH, 3, IMAGE, IMAGE),
    (BATCH, WIDTH, 8, 8),
    (BATCH, LENGTH, WIDTH),
    (BATCH, WIDTH, LENGTH),
    (BATCH, WIDTH),
    (BATCH, 1, IMAGE, IMAGE),
    (BATCH, 1, 800),
    (BATCH, 800),
    (BATCH, 8, 8, WIDTH),
    (BATCH, 3, 3),
    (BATCH, LENGTH, 2),
    (BATCH, LENGTH, 3),
    (BATCH, 3, 4, IMAGE, IMAGE),
    (BATCH, WIDTH, 4, 8, 8),
    (BATCH, HEADS, LENGTH, 8),
    (BATCH,),
    (BATCH, 3, 64, 64),
)

WHOLE: Sequence[tuple[int, ...]] = ((BATCH, LENGTH), (BATCH,))

Made = tuple[str, Callable[[], Any]]

LINES = 5
"""Lines that a `forward` has at least: shorter ones hardly say anything. Of classes with the same one, one is taken."""

TRIES, SECONDS = 60, 4.0


def cases(
    package: str,
    *,
    sizes: Mapping[str, Any] | None = None,
    shapes: Sequence[tuple[int, ...]] = (),
    most: int = 1_000_000,
    seconds: float = 45.0,
) -> Iterator[dict[str, Any]]:
    """Up to `most` models, in an order that has no meaning, found in so many seconds."""
    until = time.monotonic() + seconds
    found = 0
    known = {**SIZES, **(sizes or {})}
    bodies = set()
    for cls in sorted(classes(package), key=_digest):
        body = _body(cls)
        if len(body.splitlines()) < LINES or body in bodies:
            continue
        if found >= most or time.monotonic() > until:
            return
        case = _in_time(functools.partial(_case, cls, known, (*shapes, *SHAPES)))
        if case is not None:
            found += 1
            bodies.add(body)
            yield {**case, "tried": True}


def classes(package: str) -> set[type[nn.Module]]:
    """The modules with a `forward` that a package defines."""
    root = importlib.import_module(package)
    found: set[type[nn.Module]] = set()
    for name in [package, *_modules(root)]:
        with contextlib.suppress(BaseException), _silent():
            module = importlib.import_module(name)
            for cls in vars(module).values():
                if (
                    isinstance(cls, type)
                    and issubclass(cls, nn.Module)
                    and cls.__module__.split(".")[0] == package.split(".")[0]
                    and getattr(importlib.import_module(cls.__module__), cls.__qualname__, None) is cls
                    and cls.forward is not nn.Module.forward
                    and not inspect.isabstract(cls)
                ):
                    found.add(cls)
    return found


def _modules(root: types.ModuleType) -> Iterator[str]:
    with _silent():
        for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}.", onerror=lambda _: None):
            if not {"test", "tests", "testing", "scripts", "examples", "bin", "__main__"} & set(info.name.split(".")):
                yield info.name


def _body(cls: type[nn.Module]) -> str:
    try:
        return inspect.getsource(cls.forward)
    except (OSError, TypeError):
        return ""


def _digest(cls: type) -> str:
    return hashlib.sha256(f"{cls.__module__}:{cls.__qualname__}".encode()).hexdigest()


def _case(cls: type[nn.Module], sizes: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> dict[str, Any] | None:
    keywords = arguments_of(cls, sizes)
    if keywords is None:
        return None
    torch.manual_seed(0)
    model = cls(**keywords).eval()
    if sum(weight.numel() for weight in model.parameters()) > 20_000_000:
        return None
    inputs = inputs_of(model, shapes)
    if inputs is None:
        return None
    model_name = f"{cls.__module__}:{cls.__qualname__}"
    return {"model": model_name, "keywords": keywords, "inputs": inputs}


def arguments_of(function: Callable[..., Any], sizes: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the required parameters get; None where one of them is something else than numbers."""
    found = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty:
            if parameter.name in SHRUNK and type(parameter.default) is int:
                found[parameter.name] = min(parameter.default, sizes[parameter.name])
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            return None
        value = _value(parameter, sizes)
        if value is None:
            return None
        found[parameter.name] = value
    return found


SHRUNK = ("depth", "num_layers", "n_layers", "layers", "image_size", "img_size")
"""Parameters that make large models by default."""


def _value(parameter: inspect.Parameter, sizes: Mapping[str, Any]) -> Any:
    said = str(parameter.annotation)
    if parameter.name in sizes:
        value = sizes[parameter.name]
        return [value, value] if "Tuple[" in said or "tuple[" in said or "Sequence[" in said else value
    kinds = {"float": 0.5, "bool": False, "str": None, "Tensor": None, "Module": None, "Callable": None, "dict": None}
    for word, value in kinds.items():
        if word.lower() in said.lower():
            return value
    if "uple[" in said or "ist[" in said or "equence[" in said:
        return [WIDTH, WIDTH]
    return WIDTH


def inputs_of(model: nn.Module, shapes: Sequence[tuple[int, ...]]) -> list[str] | None:
    """Specs of tensors that `forward` takes, or None."""
    names = []
    for parameter in inspect.signature(model.forward).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            if parameter.kind is parameter.VAR_POSITIONAL and not names:
                names.append(parameter.name)
        elif parameter.default is parameter.empty:
            is_said = parameter.annotation is not parameter.empty
            if parameter.kind is parameter.KEYWORD_ONLY or (is_said and "Tensor" not in str(parameter.annotation)):
                return None
            names.append(parameter.name)
    if not 1 <= len(names) <= 4:
        return None
    whole = [f"int64[{', '.join(map(str, shape))}] < {CLASSES}" for shape in WHOLE]
    real = [f"float32[{', '.join(map(str, shape))}]" for shape in shapes]
    alike = [(spec,) * len(names) for spec in (*real, *whole)]
    mixed = itertools.product((*real, *whole), repeat=len(names)) if len(names) > 1 else iter(())
    until = time.monotonic() + SECONDS
    for specs in itertools.islice(itertools.chain(alike, mixed), TRIES if len(names) == 1 else 3 * TRIES):
        if time.monotonic() > until:
            return None
        with contextlib.suppress(Exception), torch.no_grad():
            made = model(*map(_tensor, specs))
            if any(isinstance(leaf, torch.Tensor) for leaf in torch.utils._pytree.tree_leaves(made)):
                return list(specs)
    return None


def _tensor(spec: str) -> torch.Tensor:
    shape = [int(size) for size in spec[spec.index("[") + 1 : spec.index("]")].split(",")]
    return torch.randint(0, CLASSES, shape) if spec.startswith("int64") else torch.rand(shape)


class _TooLongError(BaseException):
    pass


def _in_time(make: Callable[[], Any]) -> Any:
    def stop(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(int(2 * SECONDS))
    try:
        with _silent():
            return make()
    except (Exception, SystemExit, _TooLongError):
        return None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _silent() -> typing.Iterator[None]:
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
