"""What installed packages add to exportlint, by their entry points. To find it, nothing of them is imported."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from exportlint.user_errors import ConfigError

RULES = "exportlint.rules"
FUNCTIONS = "exportlint.functions"

_METADATA = (".dist-info", ".egg-info")
_MAX_BYTES = 1 << 20
"""Longer lists of entry points are nobody's."""


class PluginError(ConfigError):
    """What a package adds cannot be used. Its text is one line that names the package."""


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package that adds something. `url` is where it lives on the web, empty if it does not say."""

    name: str
    version: str
    url: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def error(self, what: str) -> PluginError:
        """The error that something of the package cannot be used."""
        return PluginError(f"the plugin {self}: {' '.join(what.split())}; correct or uninstall it")


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One thing that a package adds: `value` is `module:name`."""

    name: str
    value: str
    package: Package

    @property
    def module(self) -> str:
        """The module that it is in."""
        return self.value.partition(":")[0].strip()

    def load(self) -> object:
        """The thing itself; imports its module.

        Raises:
            PluginError: that fails.
        """
        try:
            found: object = import_module(self.module)
            for name in filter(None, self.value.partition(":")[2].strip().split(".")):
                found = getattr(found, name)
        except (Exception, SystemExit) as error:
            raise self.package.error(f"`{self.value}` cannot be loaded: {type(error).__name__}: {error}") from None
        return found


@functools.cache
def entry_points(group: str) -> tuple[EntryPoint, ...]:
    """What is added in a group, by package and name.

    Raises:
        PluginError: a package's list of entry points cannot be read.
    """
    return tuple(sorted(_of_group(group), key=lambda one: (one.package.name, one.name)))


@functools.cache
def packages() -> tuple[Package, ...]:
    """The packages that add something, by name."""
    found = {one.package for group in (RULES, FUNCTIONS) for one in entry_points(group)}
    return tuple(sorted(found, key=lambda package: package.name))


def modules() -> tuple[str, ...]:
    """The topmost modules of what is added."""
    found = {one.module.partition(".")[0] for group in (RULES, FUNCTIONS) for one in entry_points(group)}
    return tuple(sorted(found))


def _of_group(group: str) -> Iterator[EntryPoint]:
    seen: set[str] = set()
    for folder in _folders():
        # Loading this takes longer than a run without plugins.
        from importlib.metadata import PathDistribution

        distribution = PathDistribution(Path(folder))
        about = distribution.metadata
        name = about["Name"] or Path(folder).name
        if name.lower().replace("_", "-") in seen:  # Python imports the first one, too
            continue
        seen.add(name.lower().replace("_", "-"))
        links = [link.partition(",")[2].strip() for link in about.get_all("Project-URL") or ()]
        package = Package(name, about["Version"] or "?", next(iter([*links, about["Home-page"] or ""])))
        try:
            added = [(found.name, found.value) for found in distribution.entry_points if found.group == group]
        except TypeError:
            raise package.error("its `entry_points.txt` cannot be read: a line has no `=`") from None
        except ValueError as error:
            raise package.error(f"its `entry_points.txt` cannot be read: {error}") from None
        for entry, value in added:
            yield EntryPoint(entry, value, package)


@functools.cache
def _folders() -> tuple[str, ...]:
    """The folders of metadata that name a group of ours. What only lies in the working directory is not installed."""
    found = []
    here = os.getcwd()  # noqa: PTH109 - this runs each time
    for place in dict.fromkeys(sys.path):
        if not place or os.path.abspath(place) == here:  # noqa: PTH100
            continue
        try:
            names = sorted(name for name in os.listdir(place) if name.endswith(_METADATA))  # noqa: PTH208
        except OSError:
            continue
        for name in names:
            folder = f"{place}{os.sep}{name}"
            try:
                with open(f"{folder}{os.sep}entry_points.txt", "rb") as file:  # noqa: PTH123
                    if b"[exportlint." in file.read(_MAX_BYTES):
                        found.append(folder)
            except OSError:
                continue
    return tuple(found)
