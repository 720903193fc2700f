"""`exportlint config`: what can be set."""

from __future__ import annotations

import argparse
import textwrap

from exportlint.cli.output import UsageError, write
from exportlint.config.options import OPTIONS, Option
from exportlint.config.tables import with_inner
from exportlint.registry import nearest


def run(arguments: argparse.Namespace) -> int:
    """Print the keys of all settings, or what there is to say about one."""
    key = arguments.key
    options = with_inner(OPTIONS)
    if key is not None and key not in options:
        hint = nearest(key.replace("_", "-"), options)
        raise UsageError(
            f"there is no setting `{key}`, " + (f"did you mean {hint}?" if hint else "see `exportlint config`")
        )
    if arguments.output_format == "json":
        import json

        objects = {name: _as_object(option) for name, option in options.items()}
        write(json.dumps(objects if key is None else objects[key], indent=2) + "\n")
    elif key is None:
        write("".join(f"{name}\n" for name in options))
    else:
        write(_explain(key, options[key], [name for name in options if name.startswith(f"{key}.")]))
    return 0


def _as_object(option: Option) -> dict[str, str | None]:
    return {"doc": option.doc, "default": option.default or None, "type": option.kind.name, "example": option.example}


def _explain(key: str, option: Option, inner: list[str]) -> str:
    doc = textwrap.fill(option.doc, 100, break_long_words=False, break_on_hyphens=False)
    default = f"Default: {option.default}\n" if option.default else ""
    keys = "\nSettings in it:\n\n" + "".join(f"    {name}\n" for name in inner) if inner else ""
    return f"{key}\n\n{doc}\n\n{default}Type: {option.kind.name}\nExample:\n\n    {option.example}\n{keys}"
