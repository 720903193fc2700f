"""Targets that the configuration names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exportlint.config import Settings, TargetSettings
from exportlint.findings import Mode
from exportlint.syntax.definitions import Class, Module
from exportlint.verify.dimensions import SpecError
from exportlint.verify.reading import is_tensor, read_spec, read_specs
from exportlint.verify.target import Called, Guessed, Inputs, Reference, Target, Written
from exportlint.verify.targets.candidates import inputs_of, offered_beside, plain
from exportlint.verify.targets.code import Code, row_of
from exportlint.verify.targets.named import UnknownTargetError, find_module, known_module, require
from exportlint.verify.targets.places import module_of

MODES: Mapping[str, tuple[Mode, ...]] = {
    "non-strict": ("non-strict",),
    "strict": ("strict",),
    "both": ("non-strict", "strict"),
}


def configured(code: Code) -> Iterator[Target]:
    """The targets of a configuration, in order.

    Raises:
        ConfigError: one of them cannot be one.
    """
    names: set[str] = set()
    for table in code.settings.verify.targets:
        target = _Table(code, table).target()
        if target.name in names:
            raise table.error(f"there is another target `{target.name}`: give this one a `name`", "name")
        names.add(target.name)
        yield target


@dataclass(frozen=True)
class _Table:
    """One table of `verify.target`."""

    code: Code
    table: TargetSettings

    @property
    def settings(self) -> Settings:
        return self.code.settings

    def get(self, key: str, default: Any = None) -> Any:
        return self.table.values.get(key, default)

    def target(self) -> Target:
        model, module = self.reference("model")
        paths = self._paths(model)
        place = (self.table.file or self.table.base, 1)
        offered: Inputs | None = None
        if module is not None:
            place, offered = self._site(module, model.name)
        inputs = self._inputs() or offered or Guessed()
        target = plain(self.settings, model, paths, place, inputs)
        arguments, keywords = self._of_constructor()
        return replace(
            target,
            name=self.get("name", str(model)),
            origin="configured",
            arguments=arguments,
            keywords=keywords,
            init_inputs=self.get("init-inputs"),
            others=self.reference("others")[0] if self.get("others") else None,
            modes=MODES[self.get("mode", self.settings.mode)],
            devices=self.get("device", ("cpu",)),
            dynamic=self.get("dynamic", "auto"),
            varying=() if isinstance(inputs, Written | Called) else target.varying,
            train=self.get("train", self.settings.train),
            gradients=self.get("gradients", False),
            tolerance=self.get("tolerance"),
            timeout=self.get("timeout", target.timeout),
            memory=self.get("memory", target.memory),
        )

    def reference(self, key: str, text: str | None = None) -> tuple[Reference, Module | None]:
        """What `pkg.mod:Name` or `file.py::Name` stands for, and the file that it is in, if that is of the project."""
        text = self.get(key) if text is None else text
        path, is_path, name = text.partition("::")
        try:
            if is_path:
                file = Path(os.path.normpath(self.table.base / path))
                module = module_of(file, self._search)[0]
            else:
                module, _, name = text.partition(":")
                found = find_module(module, self._search)
                if found is None and name:
                    return Reference(module, name), None
                file = found or Path(module)
            if not name:
                example = f"{path}::Name" if is_path or found is None else f"{module}:Name"
                raise UnknownTargetError(f"`{text}` does not name an object: write `{example}`")
            code = known_module(self.code, file)
            require(self.code, code, name)
        except UnknownTargetError as error:
            raise self.table.error(error.message, key) from None
        return Reference(module, name, file), code

    @property
    def _search(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys((*self.settings.src, self.table.base)))

    def _paths(self, model: Reference) -> tuple[Path, ...]:
        if model.file is None:
            return tuple(folder for folder in self._search if folder.is_dir())
        return module_of(model.file, self._search)[1]

    def _site(self, module: Module, name: str) -> tuple[tuple[Path, int], Inputs | None]:
        """Where a model stands, and the inputs that stand with it."""
        cls = next((cls for cls in module.classes if cls.qualname == name), None)
        if cls is not None:
            return (module.path, cls.node.lineno), inputs_of(self.code, cls)
        binding = module.bindings.get(name.partition(".")[0])
        return (module.path, row_of(binding)), None if isinstance(binding, Class) else offered_beside(module)

    def _inputs(self) -> Inputs | None:
        given, dynamic = self.get("inputs"), self.get("dynamic-shapes")
        if isinstance(given, str) and ":" in given and not is_tensor(given):
            return Called(self.reference("inputs")[0], None if dynamic is None else self._dynamic(dynamic))
        if dynamic is not None:
            raise self.table.error(
                'is for inputs from a function; in input specs, give a dynamic dimension a name: "float32[batch=2, 3]"',
                "dynamic-shapes",
            )
        if given is None:
            return None
        positional: Any = [given] if isinstance(given, str) else given
        named: Mapping[str, Any] = {}
        if isinstance(given, Mapping):
            positional, named = given.get("arguments", ()), given.get("keywords", {})
        try:
            return Written(*read_specs(positional, named))
        except SpecError as error:
            raise self.table.error(str(error), "inputs") from None

    def _of_constructor(self) -> tuple[tuple[object, ...], dict[str, object]]:
        if self.get("init-inputs") is not None and (self.get("arguments") or self.get("keywords")):
            raise self.table.error(
                "gives the arguments, so `arguments` and `keywords` must not be there", "init-inputs"
            )
        sizes: dict[str, int] = {}
        arguments = tuple(self._value(value, sizes, "arguments") for value in self.get("arguments", ()))
        keywords = {name: self._value(v, sizes, "keywords", name) for name, v in self.get("keywords", {}).items()}
        if sizes:
            key = "arguments" if "=" in str(self.get("arguments", "")) else "keywords"
            raise self.table.error(
                f"the dimension `{next(iter(sizes))}` cannot be dynamic here: write only its size", key
            )
        return arguments, keywords

    def _value(self, value: Any, sizes: dict[str, int], *keys: str) -> object:
        """A value as it is, but for tensors, which are specs."""
        if isinstance(value, str) and value == "None":
            return None
        if isinstance(value, str) and is_tensor(value):
            try:
                return read_spec(value, sizes)
            except SpecError as error:
                raise self.table.error(str(error), *keys) from None
        if isinstance(value, Mapping):
            return {name: self._value(inner, sizes, *keys) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(inner, sizes, *keys) for inner in value]
        return value

    def _dynamic(self, value: Any) -> object:
        """What varies, as torch wants it: dimensions are numbers, which TOML's keys are not."""
        if isinstance(value, Mapping):
            return {int(key) if key.isdigit() else key: self._dynamic(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._dynamic(inner) for inner in value]
        if value == "None":
            return None
        if not isinstance(value, str) or not value.isidentifier():
            raise self.table.error(
                f'`{value}` is not the name of a dimension: write {{ 0 = "batch" }}', "dynamic-shapes"
            )
        return value
