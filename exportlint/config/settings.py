"""The settings that hold for a file, put together from the places that set them."""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from exportlint.config.choice import Notice, codes_of, fix_policy, notices, selected
from exportlint.config.fixing import FixPolicy
from exportlint.config.function_options import FunctionSettings
from exportlint.config.line_length import detect_line_length
from exportlint.config.severity import least_failing, least_shown
from exportlint.config.toml import Layer
from exportlint.config.torch_version import NEWEST, detect_torch_version, shown_version
from exportlint.config.verification import VerifySettings, verify_settings
from exportlint.findings import Finding, Mode, Severity, TorchVersion
from exportlint.source import DEFAULT_EXCLUDE, DEFAULT_INCLUDE, DiscoveryOptions, PathPatterns


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for the files of one configuration. See `exportlint.config.options` for what each means.

    `root` is the directory of the configuration, or the working directory without one; `file` is the configuration.
    `rules` are the codes that `select`, `extend-select` and `ignore` leave. `unsafe_fixes` is None if nothing says.
    `baseline` is None without one.
    `min_fixed` is the least severity that is fixed, whatever the output format. `fail_on` is None for never.
    `line_length` is that of Ruff or Black. `notices` say what to change about the rules that are named, though they
    can be used.
    """

    root: Path
    file: Path | None
    mode: Mode
    torch_version: TorchVersion
    torch_assumed: bool
    rules: frozenset[str]
    preview: bool
    notices: tuple[Notice, ...]
    per_file_ignores: tuple[tuple[str, frozenset[str]], ...]
    require_reason: bool
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    extend_exclude: tuple[str, ...]
    force_exclude: bool
    respect_gitignore: bool
    src: tuple[Path, ...]
    follow_importers: str
    cache_dir: Path
    baseline: Path | None
    output_format: str
    module_bases: tuple[str, ...]
    entry_points: tuple[str, ...]
    exported: tuple[str, ...]
    returns_tensor: tuple[str, ...]
    functions: tuple[FunctionSettings, ...]
    train: bool
    dynamic_dims: tuple[int, ...]
    min_severity: Severity
    min_fixed: Severity
    fail_on: Severity | None
    fix: bool
    unsafe_fixes: bool | None
    fix_only: bool
    show_fixes: bool
    fixes: FixPolicy
    verify: VerifySettings
    line_length: int

    def rules_for(self, file: Path) -> frozenset[str]:
        """The codes to check in `file`, an absolute path."""
        ignored: set[str] = set()
        for pattern, codes in self.per_file_ignores:
            negated = pattern.startswith("!")
            if _patterns(pattern.removeprefix("!"), self.root).match(file.as_posix()) != negated:
                ignored |= codes
        return self.rules - ignored

    def shows(self, finding: Finding) -> bool:
        """Whether it is grave enough to be shown, and fixed."""
        return finding.severity.rank <= self.min_severity.rank

    def fixes_severity(self, finding: Finding) -> bool:
        """Whether a finding is grave enough to be fixed."""
        return finding.severity.rank <= self.min_fixed.rank

    def offers_fix(self, finding: Finding) -> bool:
        """Whether somebody sees its fix, or has it applied."""
        return finding.code in self.fixes.fixable and (self.shows(finding) or self.fixes_severity(finding))

    def fails(self, finding: Finding) -> bool:
        """Whether it makes a run fail: nothing does that is not shown."""
        return self.shows(finding) and self.fail_on is not None and finding.severity.rank <= self.fail_on.rank

    def described(self) -> list[tuple[str, str]]:
        """Each setting by its key, with its value as TOML writes it."""
        import json

        per_file = {pattern: sorted(codes) for pattern, codes in self.per_file_ignores}
        values = {
            "mode": self.mode,
            "torch-version": shown_version(self.torch_version),
            "select": sorted(self.rules),
            "preview": self.preview,
            "require-reason": self.require_reason,
            "include": self.include,
            "exclude": self.exclude,
            "extend-exclude": self.extend_exclude,
            "force-exclude": self.force_exclude,
            "respect-gitignore": self.respect_gitignore,
            "src": [str(directory) for directory in self.src],
            "follow-importers": self.follow_importers,
            "cache-dir": str(self.cache_dir),
            "baseline": str(self.baseline or ""),
            "output-format": self.output_format,
            "min-severity": self.min_severity.value,
            "fail-on": self.fail_on.value if self.fail_on else "never",
            "module-bases": self.module_bases,
            "entry-points": self.entry_points,
            "exported": self.exported,
            "returns-tensor": self.returns_tensor,
            "train": self.train,
            "dynamic-dims": self.dynamic_dims,
            "fix": self.fix,
            "unsafe-fixes": bool(self.unsafe_fixes),
            "fix-only": self.fix_only,
            "show-fixes": self.show_fixes,
            "fixable": sorted(self.fixes.fixable),
            "extend-safe-fixes": sorted(self.fixes.safe),
            "extend-unsafe-fixes": sorted(self.fixes.unsafe),
            **dict(self.verify.described()),
        }
        # The strings, booleans and arrays of JSON are those of TOML; only tables are written differently.
        written = [(key, json.dumps(value, ensure_ascii=False)) for key, value in values.items()]
        functions = {
            one.pattern: f'{{ returns = "{one.returns}", reads-data = {json.dumps(one.reads_data)} }}'
            for one in self.functions
        }
        return [
            *written,
            ("functions", _table(functions)),
            ("per-file-ignores", _table({pattern: json.dumps(codes) for pattern, codes in per_file.items()})),
        ]

    @property
    def discovery(self) -> DiscoveryOptions:
        """What of it says which files to lint."""
        return DiscoveryOptions(
            self.root, self.include, self.exclude, self.extend_exclude, self.force_exclude, self.respect_gitignore
        )


def _table(values: Mapping[str, str]) -> str:
    """A table as TOML writes it."""
    import json

    table = ", ".join(f"{json.dumps(key)} = {value}" for key, value in values.items())
    return f"{{ {table} }}" if table else "{}"


@functools.lru_cache(maxsize=256)
def _patterns(pattern: str, root: Path) -> PathPatterns:
    return PathPatterns((pattern,), root)


def combine(layers: Sequence[Layer], root: Path, file: Path | None = None) -> Settings:
    """The settings that `layers` give together; a later one overrides the earlier ones."""

    def last(key: str, default: Any) -> Any:
        return next((layer.values[key] for layer in reversed(layers) if key in layer.values), default)

    def base_of(key: str) -> Path:
        return next((layer.base for layer in reversed(layers) if key in layer.values), root)

    def patterns(key: str, default: Sequence[str]) -> tuple[str, ...]:
        return tuple(_seen_from(root, text, base_of(key)) for text in last(key, default))

    def ignores(layer: Layer, key: str) -> tuple[tuple[str, frozenset[str]], ...]:
        table = layer.values.get(key, ())
        return tuple((_seen_from(root, text, layer.base), codes_of(selectors)) for text, selectors in table)

    key = "per-file-ignores"
    own_ignores = next((ignores(layer, key) for layer in reversed(layers) if key in layer.values), ())
    more_ignores = tuple(entry for layer in layers for entry in ignores(layer, "extend-per-file-ignores"))
    more_excludes = (
        _seen_from(root, text, layer.base) for layer in layers for text in layer.values.get("extend-exclude", ())
    )
    configured = last("torch-version", None)
    version = configured or detect_torch_version(root)
    return Settings(
        root=root,
        file=file,
        mode=cast(Mode, last("mode", "non-strict")),
        torch_version=version or NEWEST,
        torch_assumed=version is None,
        rules=selected(layers),
        preview=last("preview", False),
        notices=notices(layers),
        per_file_ignores=own_ignores + more_ignores,
        require_reason=last("require-reason", False),
        include=patterns("include", DEFAULT_INCLUDE),
        exclude=patterns("exclude", DEFAULT_EXCLUDE),
        extend_exclude=tuple(more_excludes),
        force_exclude=last("force-exclude", False),
        respect_gitignore=last("respect-gitignore", True),
        src=tuple(d for text in last("src", (".", "src")) for d in _directories(text, base_of("src"))),
        follow_importers=last("follow-importers", "auto"),
        cache_dir=_path(last("cache-dir", ".exportlint_cache"), base_of("cache-dir")),
        baseline=_path(name, base_of("baseline")) if (name := last("baseline", "")) else None,
        output_format=last("output-format", "full"),
        min_severity=least_shown(layers, last("output-format", "full")),
        min_fixed=least_shown(layers, "full"),
        fail_on=least_failing(layers),
        module_bases=last("module-bases", ()),
        entry_points=last("entry-points", ("forward",)),
        exported=last("exported", ()),
        returns_tensor=last("returns-tensor", ()),
        functions=last("functions", ()),
        train=last("train", False),
        dynamic_dims=last("dynamic-dims", (0,)),
        fix=last("fix", False),
        unsafe_fixes=last("unsafe-fixes", None),
        fix_only=last("fix-only", False),
        show_fixes=last("show-fixes", False),
        fixes=fix_policy(layers),
        verify=verify_settings(layers),
        line_length=detect_line_length(root),
    )


def _path(name: str, base: Path) -> Path:
    """The file or directory that a setting names, where `~` and variables stand for what a shell makes of them."""
    return Path(os.path.normpath(base / os.path.expandvars(os.path.expanduser(name))))  # noqa: PTH111 - never raises


def _directories(pattern: str, base: Path) -> list[Path]:
    """The directory that a setting names, or all that its pattern matches."""
    if not glob.has_magic(pattern):
        return [Path(os.path.normpath(base / pattern))]
    found = (base / match for match in sorted(glob.glob(pattern, root_dir=base, recursive=True)))  # noqa: PTH207 - takes any pattern
    return [Path(os.path.normpath(path)) for path in found if path.is_dir()]


_MAGIC = re.compile(r"([*?\[\]{}\\])")


def _seen_from(root: Path, pattern: str, base: Path) -> str:
    """`pattern`, which is relative to `base`, as one that means the same relative to `root`."""
    negation = "!" if pattern.startswith("!") else ""
    glob = pattern.removeprefix("!")
    if base == root or "/" not in glob or Path(glob).is_absolute():
        return pattern
    parts = glob.split("/")
    while parts and parts[0] in ("..", "."):
        base = base.parent if parts.pop(0) == ".." else base
    return negation + "/".join((_MAGIC.sub(r"\\\1", base.as_posix()), *parts))
