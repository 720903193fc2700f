"""Settings: from configuration files and the command line to what holds for one file."""

from exportlint.config.errors import ConfigError
from exportlint.config.files import Configuration, inline, load_extended
from exportlint.config.options import OPTIONS, Option
from exportlint.config.settings import Settings
from exportlint.config.toml import Layer, check
from exportlint.config.verification import TargetSettings, VerifySettings

__all__ = [
    "OPTIONS",
    "ConfigError",
    "Configuration",
    "Layer",
    "Option",
    "Settings",
    "TargetSettings",
    "VerifySettings",
    "check",
    "inline",
    "load_extended",
]
