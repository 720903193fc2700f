"""Which models of a library are measured: what a zoo lists, and what can be told from signatures."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exportlint.config import Configuration
from exportlint.verify.reading import read_specs
from exportlint.verify.target import Called, Guessed, Inputs, Reference, Target, Written
from exportlint.verify.targets.candidates import inputs_of
from exportlint.verify.targets.code import Code

ZOOS = Path(__file__).with_name("zoos")
"""One module for each library, run by the interpreter that has the library: `cases()` yields dictionaries."""


@dataclass(frozen=True, slots=True)
class Library:
    """A distribution that is installed: `package` is the directory of its code."""

    name: str
    version: str
    package: Path


@dataclass(frozen=True, slots=True)
class Case:
    """A model to measure. `inputs` are specs as the configuration of verify has them, or a function, or None: tried."""

    name: str
    model: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    target: Target

    tried: bool = False
    """Whether its arguments and inputs were found by trying, when models were listed."""

    @property
    def guessed(self) -> bool:
        """Whether inputs were tried until some fit."""
        return self.tried or isinstance(self.target.inputs, Guessed)


class UnknownLibraryError(Exception):
    """The interpreter has no such library; the text is one line that says what to do."""


def find_library(name: str, python: Path) -> Library:
    """Where a library lies, and its version.

    Raises:
        UnknownLibraryError: it is not installed.
    """
    code = (
        "import importlib.metadata as m, importlib.util as u, sys; n = sys.argv[1]\n"
        "s = u.find_spec(n); d = m.packages_distributions()[n][0]\n"
        "print(m.version(d)); print(list(s.submodule_search_locations)[0])"
    )
    done = subprocess.run([python, "-c", code, name], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnknownLibraryError(f"{python} has no package `{name}`: install it there, or name another --python")
    version, package = done.stdout.splitlines()[-2:]  # imports may print, too
    return Library(name, version, Path(package))


def cases(library: Library, python: Path, configuration: Configuration, kept: Path | None = None) -> Iterator[Case]:
    """The models of the zoo in its order, then those that can be told from signatures, in an order without meaning.

    `kept` is a file that what the interpreter lists is kept in.

    Raises:
        UnknownLibraryError: the zoo cannot be imported.
    """
    listed = _kept(kept, lambda: _listed(library, python)) if kept else _listed(library, python)
    code = Code(configuration.for_directory(library.package))
    known = set()
    for entry in listed:
        if entry["model"] not in known or entry.get("arguments") or entry.get("keywords"):
            known.add(entry["model"])
            yield _case(entry, library, code)


def _kept(file: Path, make: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    if not file.exists():
        file.write_text(json.dumps(make()), "utf-8")
    listed: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return listed


def zoo_digest(name: str) -> str:
    """What tells the list of a library's models from an earlier one."""
    files = [file for file in (ZOOS / f"{name}_zoo.py", ZOOS / "by_signature.py") if file.exists()]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _listed(library: Library, python: Path) -> list[dict[str, Any]]:
    code = (
        "import importlib.util as u, itertools, json, sys; sys.path.insert(0, sys.argv[1]); import by_signature\n"
        "name = sys.argv[2]; zoo = __import__(f'{name}_zoo') if u.find_spec(f'{name}_zoo') else None\n"
        "own = zoo.cases() if hasattr(zoo, 'cases') else ()\n"
        "others = by_signature.cases(name, **getattr(zoo, 'SIGNATURES', {}))\n"
        "for case in itertools.chain(own, others): print('\\1' + json.dumps(case))"
    )
    done = subprocess.run([python, "-c", code, ZOOS, library.name], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnknownLibraryError(f"the models of {library.name} cannot be listed: {done.stderr.splitlines()[-1]}")
    return [json.loads(line[1:]) for line in done.stdout.splitlines() if line.startswith("\1")]


def _case(entry: Mapping[str, Any], library: Library, code: Code) -> Case:
    arguments, keywords = tuple(entry.get("arguments", ())), entry.get("keywords", {})
    module, _, attribute = entry["model"].partition(":")
    inputs = entry.get("inputs")
    own = module == f"{library.name}_zoo"
    model = Reference(module, attribute, ZOOS / f"{module}.py" if own else None)
    said = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in keywords.items())]
    name = entry.get("name") or entry["model"] + (f"({', '.join(said)})" if said else "")
    target = Target(
        name=name,
        origin="configured",
        model=model,
        inputs=_inputs(inputs, model, library, code),
        place=(library.package / "__init__.py", 1),
        root=library.package,
        paths=(ZOOS,),
        arguments=arguments,
        keywords=keywords,
    )
    return Case(name, entry["model"], arguments, keywords, target, entry.get("tried", False))


def _inputs(given: Any, model: Reference, library: Library, code: Code) -> Inputs:
    if given is None:
        return _of_class(model, library, code)
    if isinstance(given, str):
        module, _, function = given.partition(":")
        return Called(Reference(module, function, ZOOS / f"{module}.py"))
    if isinstance(given, Mapping):
        return Written(*read_specs(given.get("arguments", ()), given.get("keywords", {})))
    return Written(*read_specs(given, {}))


def _of_class(model: Reference, library: Library, code: Code) -> Inputs:
    """What the code says of the inputs of a class, to be tried."""
    parts = model.module.split(".")
    base = library.package.parent.joinpath(*parts)
    for file in (base.with_suffix(".py"), base / "__init__.py"):
        if file.is_file():
            classes = code.models(code.module(file))
            found = next((cls for cls in classes if cls.qualname == model.name), None)
            if found is not None:
                return inputs_of(code, found)
    return Guessed()
