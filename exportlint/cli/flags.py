"""Flags that several subcommands have."""

from __future__ import annotations

import argparse


def codes(text: str) -> list[str]:
    """What stands between commas."""
    return [code.strip() for code in text.split(",") if code.strip()]


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """Which configuration holds."""
    settings = parser.add_argument_group("configuration")
    settings.add_argument(
        "--config", action="append", metavar="FILE|KEY=VALUE", help="a configuration file, or a setting in TOML"
    )
    settings.add_argument("--isolated", action="store_true", help="read no configuration file")
