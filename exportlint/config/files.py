"""Which configuration holds for which directory."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from exportlint.config.errors import ConfigError
from exportlint.config.settings import Settings, combine
from exportlint.config.toml import FILE_NAMES, Layer, check, load, parse

_MAX_EXTENDED = 32


class Configuration:
    """Finds the settings of a directory: those of the closest configuration file, changed by the command line.

    Args:
        cwd: what relative paths of the command line are relative to, and the root where there is no file.
        file: the only configuration file, instead of those found beside the code.
        isolated: read no configuration file at all.
        overrides: what overrides the files, later ones first of all.
        defaults: what files override.
    """

    def __init__(
        self,
        cwd: Path,
        *,
        file: Path | None = None,
        isolated: bool = False,
        overrides: Sequence[Layer] = (),
        defaults: Sequence[Layer] = (),
    ) -> None:
        self._cwd = cwd
        self._overrides = tuple(overrides)
        self._defaults = tuple(defaults)
        self._of_directory: dict[Path, Settings | None] = {}
        self._everywhere: Settings | None = None
        if isolated:
            self._everywhere = self._combined((), cwd)
        elif file is not None:
            self._everywhere = self._read(file)

    def for_directory(self, directory: Path) -> Settings:
        """The settings of the files in `directory`, an absolute path.

        Raises:
            ConfigError: the configuration that holds there cannot be used.
        """
        return self._everywhere or self._closest(directory) or self._fallback

    def for_file(self, file: Path) -> Settings:
        """The settings of `file`, an absolute path, which need not exist.

        Raises:
            ConfigError: the configuration that holds there cannot be used.
        """
        return self.for_directory(file.parent)

    def _closest(self, directory: Path) -> Settings | None:
        if directory in self._of_directory:
            return self._of_directory[directory]
        found = None
        for name in FILE_NAMES:
            file = directory / name
            # Not `Path.is_file`, which raises where the directory may not be looked into.
            if os.path.isfile(file) and (layer := load(file)) is not None:  # noqa: PTH113
                found = self._settings(layer, file, directory)
                break
        if found is None and directory.parent != directory:
            found = self._closest(directory.parent)
        self._of_directory[directory] = found
        return found

    @functools.cached_property
    def _fallback(self) -> Settings:
        file = _user_file()
        return self._combined((), self._cwd) if file is None else self._read(file)

    def _read(self, file: Path) -> Settings:
        layer = load(file, self._cwd)
        if layer is None:
            raise ConfigError("has no table [tool.exportlint]", file)
        return self._settings(layer, file, self._cwd)

    def _settings(self, layer: Layer, file: Path, root: Path) -> Settings:
        return self._combined(_with_extended(layer, (file,)), root, file)

    def _combined(self, layers: Sequence[Layer], root: Path, file: Path | None = None) -> Settings:
        return combine((*self._defaults, *layers, *self._overrides), root, file)


def load_extended(file: Path) -> list[Layer]:
    """What `file` and those that it extends set, the farthest first.

    Raises:
        ConfigError: one of them cannot be used, or `file` says nothing about exportlint.
    """
    layer = load(file)
    if layer is None:
        raise ConfigError("has no table [tool.exportlint]", file)
    return _with_extended(layer, (file,))


def _with_extended(layer: Layer, chain: tuple[Path, ...]) -> list[Layer]:
    """`layer` and the ones it extends, the farthest first."""
    target = layer.values.get("extend")
    if target is None:
        return [layer]
    here = chain[-1]
    file = Path(os.path.normpath(here.parent / os.path.expandvars(Path(target).expanduser())))
    if file in chain:
        raise ConfigError(f"`extend` is circular: {' -> '.join(map(str, (*chain, file)))}", here)
    if len(chain) > _MAX_EXTENDED:
        raise ConfigError(f"`extend`: more than {_MAX_EXTENDED} files extend each other", here)
    if not os.path.isfile(file):  # noqa: PTH113
        raise ConfigError(f"`extend`: there is no file {file}", here)
    extended = load(file)
    if extended is None:
        raise ConfigError(f"`extend`: {file} has no table [tool.exportlint]", here)
    return [*_with_extended(extended, (*chain, file)), layer]


def _user_file() -> Path | None:
    import platformdirs

    file = Path(platformdirs.user_config_dir("exportlint", appauthor=False)) / "exportlint.toml"
    return file if os.path.isfile(file) else None  # noqa: PTH113


def inline(text: str, cwd: Path) -> Layer:
    """The layer that `--config "key = value"` gives.

    Raises:
        ConfigError: it is not TOML, or sets something that does not exist.
    """
    try:
        table = parse(text)
        values = check(table, None)
    except ConfigError as error:
        raise ConfigError(f"--config `{text}`: {error}") from None
    if "extend" in values:
        raise ConfigError(f"--config `{text}`: `extend` works only in a configuration file")
    return Layer(cwd, values)
