"""What the code says of the arguments of `forward`, for those who have to find inputs: nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from exportlint.verify.specs import Constant, DictSpec, ListSpec, Spec, TensorSpec
from exportlint.verify.targets.hints_of_types import specs_of_type
from exportlint.verify.targets.hints_of_usage import Usage, usage_of
from exportlint.verify.targets.hints_of_words import said_of

ANY = "..."
"""A size of a `TensorSpec` in hints: any number of dimensions."""

_CONVENTIONS: tuple[tuple[str, tuple[Spec, ...]], ...] = (
    (r"(src_|tgt_|edge_)?mask|.*_masks?", (TensorSpec("bool", (ANY,)), TensorSpec("float32", (ANY,)))),
    (r"edge_index", (TensorSpec("int64", (2, "edges"), 0, 2),)),
    (
        r"(.*_)?(input_ids|token_ids|ids|tokens?|indices|idxs?|words?|captions?)|input_seqs?",
        (TensorSpec("int64", ("batch", "length"), 0, 2), TensorSpec("int64", (ANY,), 0, 2)),
    ),
    (r"(.*_)?(lengths?|lens?|seq_lens?)", (TensorSpec("int64", ("batch",), 1, 2),)),
    (
        r"(.*_)?(labels?|targets?|gts?|y_true|true)",
        (
            TensorSpec("float32", (ANY,)),
            TensorSpec("int64", ("batch",), 0, 2),
            TensorSpec("int64", ("batch", "height", "width"), 0, 2),
        ),
    ),
    (r"t|timesteps?|(.*_)?steps?", (TensorSpec("float32", ("batch",)), Constant(2))),
    (r"(.*_)?size", (Constant(2), ListSpec((Constant(8), Constant(8)), is_tuple=True))),
    (r"[HWk]|height|width|(num|n)_\w+|(.*_)?(epoch|iteration|iters?)", (Constant(2),)),
    (r"(is|use|return|do|with)_\w+|training|train|reverse|inverse", (Constant(False), Constant(True))),
    (r"mode|(.*_)?(name|type)", (Constant(""),)),
)


def hints_of(forward: ast.FunctionDef, lines: Sequence[str], of_class: str = "") -> Mapping[str, tuple[Spec, ...]]:
    """Specs that an argument may have, the likeliest first; none for arguments of which nothing is said.

    `lines` are those of the file, `of_class` is the docstring of the class. Names of sizes mean the same in all
    arguments; the size `...` stands for any number of dimensions.
    """
    arguments = forward.args.posonlyargs + forward.args.args + forward.args.kwonlyargs
    if forward.args.args[:1] and forward.args.args[0].arg == "self":
        arguments = [argument for argument in arguments if argument.arg != "self"]
    names = [argument.arg for argument in arguments]
    words = said_of(forward, names, lines, of_class)
    usage = usage_of(forward, names)
    defaults = _defaults(forward)
    hints = {}
    for argument in arguments:
        name = argument.arg
        shapes, dtype = words.get(name, ((), None))
        specs = list(_specs(name, specs_of_type(argument.annotation), shapes, dtype, usage[name], defaults.get(name)))
        if specs:
            hints[name] = tuple(spec for index, spec in enumerate(specs) if spec not in specs[:index])
    return hints


def _specs(
    name: str,
    typed: tuple[Spec, ...],
    shapes: Sequence[tuple[int | str, ...]],
    dtype: str | None,
    usage: Usage,
    default: Constant | None,
) -> Iterator[Spec]:
    """What is written goes before what the body does with it, and that before what it is called."""
    by_name = next((specs for pattern, specs in _CONVENTIONS if re.fullmatch(pattern, name)), ())
    named = next((spec for spec in by_name if isinstance(spec, TensorSpec)), None)
    plain = TensorSpec(dtype or (named.dtype if named else "float32"), (ANY,))
    if dtype is None and named is not None:
        plain = replace(plain, low=named.low, high=named.high)
    all_shapes = list(dict.fromkeys([*shapes, *usage.shapes]))
    if not typed:
        yield from usage.values
        if all_shapes:
            typed = (plain,)
    for spec in typed:
        if isinstance(spec, TensorSpec) and spec.shape == (ANY,):
            precise = spec if spec.dtype != "float32" else plain
            yield from (replace(precise, shape=shape) for shape in all_shapes)
            yield precise
        elif isinstance(spec, DictSpec) and not spec.items:
            yield from [value for value in usage.values if isinstance(value, DictSpec)] or [spec]
        elif isinstance(spec, ListSpec) and not spec.is_tuple and spec.items:
            count = next((len(value.items) for value in usage.values if isinstance(value, ListSpec)), len(spec.items))
            first = spec.items[0]
            is_open = isinstance(first, TensorSpec) and first.shape == (ANY,)
            items = [replace(first, shape=shape) for shape in shapes if isinstance(first, TensorSpec) and is_open]
            yield from (ListSpec((item,) * count) for item in [*items, first])
        else:
            yield spec
    if default is not None and default.value is not None:
        yield default
    if not typed:
        yield from by_name


def _defaults(forward: ast.FunctionDef) -> dict[str, Constant]:
    """The defaults that are plain values."""
    arguments = forward.args
    positional = arguments.posonlyargs + arguments.args
    pairs = [
        *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {
        argument.arg: Constant(default.value)
        for argument, default in pairs
        if isinstance(default, ast.Constant) and isinstance(default.value, (bool, int, float, str))
    }
