"""`exportlint config`: what can be set."""

from __future__ import annotations

import argparse
import textwrap

from exportlint.cli.output import UsageError, write
from exportlint.config.options import OPTIONS, Option
from exportlint.registry import nearest


def run(arguments: argparse.Namespace) -> int:
    """Print the keys of all settings, or what there is to say about one."""
    key = arguments.key
    if key is not None and key not in OPTIONS:
        hint = nearest(key.replace("_", "-"), OPTIONS)
        raise UsageError(
            f"there is no setting `{key}`, " + (f"did you mean {hint}?" if hint else "see `exportlint config`")
        )
    if arguments.output_format == "json":
        import json

        objects = {option.key: _as_object(option) for option in OPTIONS.values()}
        write(json.dumps(objects if key is None else objects[key], indent=2) + "\n")
    elif key is None:
        write("".join(f"{key}\n" for key in OPTIONS))
    else:
        write(_explain(OPTIONS[key]))
    return 0


def _as_object(option: Option) -> dict[str, str | None]:
    return {"doc": option.doc, "default": option.default or None, "type": option.kind.name, "example": option.example}


def _explain(option: Option) -> str:
    doc = textwrap.fill(option.doc, 100, break_long_words=False, break_on_hyphens=False)
    default = f"Default: {option.default}\n" if option.default else ""
    return f"{option.key}\n\n{doc}\n\n{default}Type: {option.kind.name}\nExample:\n\n    {option.example}\n"
