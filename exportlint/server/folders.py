"""Which settings hold for which document: those of its file's directory, and of the folder that the editor opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from exportlint.config import ConfigError, Configuration, Settings
from exportlint.server.preferences import Preferences


@dataclass
class Folder:
    """A folder that the editor opened, with the user's preferences there, and the settings of its directories.

    A configuration file that cannot be used leaves its directories with the last settings that could.
    """

    root: Path
    uri: str = ""
    section: Mapping[str, object] = field(default_factory=dict)
    """The client's settings, as they came."""
    preferences: Preferences = field(init=False)
    _configuration: Configuration | None = None
    _good: dict[Path, Settings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reload()

    def prefer(self, section: Mapping[str, object]) -> None:
        """From now on, the user's settings are others here."""
        if section != self.section:
            self.section = section
            self._good.clear()
            self.reload()

    def reload(self) -> None:
        """Read configuration files again, also the one that the user's settings name."""
        self._configuration = None
        self.preferences = Preferences.of(self.section, self.root)

    def settings_of(self, path: Path) -> tuple[Settings, ConfigError | None]:
        """The settings of a file, and what is wrong with its configuration if something is."""
        if self._configuration is None:
            self._configuration = self._read()
        directory = path.parent
        try:
            settings = self._configuration.for_directory(directory)
        except ConfigError as error:
            return self._good.get(directory) or self._without_files(), error
        self._good[directory] = settings
        return settings, None

    def configuration(self) -> Configuration:
        """The settings of all its directories, read anew, for another thread."""
        return self._read()

    def _without_files(self) -> Settings:
        return Configuration(self.root, isolated=True, overrides=self.preferences.layers).for_directory(self.root)

    def _read(self) -> Configuration:
        preferred, layers = self.preferences.precedence, self.preferences.layers
        if preferred == "editorOnly":
            return Configuration(self.root, isolated=True, overrides=layers)
        if preferred == "filesystemFirst":
            return Configuration(self.root, defaults=layers)
        return Configuration(self.root, overrides=layers)


def folder_of(path: Path, folders: Mapping[Path, Folder]) -> Folder | None:
    """The innermost folder that a file lies in."""
    return next((folders[parent] for parent in path.parents if parent in folders), None)
