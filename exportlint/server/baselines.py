"""The baselines that settings name, as far as they can be used: without one, everything is shown."""

from __future__ import annotations

from exportlint.baseline import Baseline, BaselineError, load
from exportlint.config import ConfigError, Settings


def baseline_of(settings: Settings) -> Baseline | None:
    """The baseline of some settings; None if they name none that can be used."""
    try:
        return None if settings.baseline is None else load(settings.baseline)
    except BaselineError:  # `problem_of` tells the user
        return None


def problem_of(settings: Settings) -> ConfigError | None:
    """Why the baseline that some settings name cannot be used, if so: of the file that names it."""
    try:
        if settings.baseline is not None:
            load(settings.baseline)
    except BaselineError as error:
        return ConfigError(str(error), settings.file or settings.baseline)
    return None
