"""Goes through the files that are named, and puts together what each of them offers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from exportlint.config import Configuration, Settings
from exportlint.registry import nearest
from exportlint.source import SourceError, SyntaxProblem, discover
from exportlint.verify.target import Target
from exportlint.verify.targets import Found
from exportlint.verify.targets.calls import calls
from exportlint.verify.targets.candidates import Unbuildable, candidate, candidates, maker
from exportlint.verify.targets.code import Code
from exportlint.verify.targets.configured import configured
from exportlint.verify.targets.named import UnknownTargetError, find_module, known_module, require

Offer = Target | Unbuildable


class Search:
    """What is known of the code and the configurations that were met."""

    def __init__(self, configuration: Configuration, cwd: Path, *, calls: bool) -> None:
        self._configuration = configuration
        self._cwd = cwd
        self._calls = calls
        self._codes: dict[int, Code] = {}
        self._configured: dict[int, tuple[Target, ...]] = {}
        self._calls_left = 0

    def found(self, paths: Sequence[str]) -> Found:
        """What paths name, each target once."""
        offers = list(self._everything() if not paths else (o for path in paths for o in self._named(path)))
        targets = {_key(offer): offer for offer in reversed(offers) if isinstance(offer, Target)}
        others = {offer.place: offer for offer in offers if isinstance(offer, Unbuildable)}
        return Found(tuple(reversed(targets.values())), tuple(others.values()), self._calls_left)

    def _everything(self) -> Iterator[Offer]:
        here = self._settings(self._cwd)
        own = self._targets(here)
        yield from own
        if not own or self._with_calls(here):
            for offer in self._below(["."]):
                if not own or (isinstance(offer, Target) and offer.origin == "call"):
                    yield offer

    def _named(self, text: str) -> Iterator[Offer]:
        path, is_path, name = text.partition("::")
        if is_path:
            yield from self._member(self._existing(path), name)
            return
        if os.path.lexists(self._cwd / text):
            yield from self._below([text])
            return
        own = self._targets(self._settings(self._cwd))
        by_name = [target for target in own if text in (target.name, str(target.model))]
        if by_name:
            yield from by_name
            return
        module, colon, name = text.partition(":")
        if not colon:
            raise UnknownTargetError(self._unknown(text, own))
        file = find_module(module, self._settings(self._cwd).src)
        if file is None:
            raise UnknownTargetError(
                f"there is no module `{module}` in this project: add a target for it to the configuration"
            )
        yield from self._member(file, name)

    def _unknown(self, text: str, own: Iterable[Target]) -> str:
        """Why text names nothing."""
        near = nearest(text, [target.name for target in own], count=1)
        if near:
            return f"there is no target `{text}`, did you mean {near}?"
        problems = discover([self._cwd / text], lambda _: self._settings(self._cwd).discovery).problems
        return f"{text}: {problems[0].message if problems else 'no such file'}"

    def _existing(self, path: str) -> Path:
        file = Path(os.path.normpath(self._cwd / path))
        if not file.is_file():
            raise UnknownTargetError(self._unknown(path, ()))
        return file

    def _member(self, file: Path, name: str) -> Iterator[Offer]:
        """What one name of a file offers: what the configuration says of it, or else the code."""
        settings = self._settings(file.parent)
        code = self._code(settings)
        module = known_module(code, file)
        own = [t for t in self._targets(settings) if t.model.file == file and name in (t.name, t.model.name)]
        if own:
            yield from own
            return
        if not name:
            raise UnknownTargetError(f"`{file}::` does not name a class: write `{file.name}::Name`")
        require(code, module, name)
        model = next((cls for cls in code.models(module) if cls.qualname == name), None)
        if model is not None:
            yield candidate(code, model)
        elif any(cls.qualname == name for cls in module.classes):
            raise UnknownTargetError(f"`{name}` in {file} is not a `torch.nn.Module`")
        else:
            yield maker(code, module, name)

    def _below(self, paths: Sequence[str]) -> Iterator[Offer]:
        """What files and the files of directories offer."""

        def shown(path: Path | str) -> Path:
            return Path(os.path.normpath(self._cwd / path))

        found = discover([shown(path) for path in paths], lambda directory: self._settings(directory).discovery)
        for problem in found.problems:
            yield Unbuildable(problem.filename, (Path(problem.filename), problem.row or 1), problem.message)
        for file in found.files:
            if file.suffix != ".ipynb":
                yield from self._in_file(file)

    def _in_file(self, file: Path) -> Iterator[Offer]:
        settings = self._settings(file.parent)
        own = [target for target in self._targets(settings) if target.place[0] == file]
        yield from own
        code = self._code(settings)
        try:
            module = code.module(file)
        except SourceError as error:
            yield Unbuildable(str(file), (file, error.row or 1), error.message)
            return
        except SyntaxProblem as error:
            yield Unbuildable(str(file), (file, error.row), f"syntax error: {error.message}")
            return
        known = {target.place for target in own}
        yield from (offer for offer in candidates(code, module) if offer.place not in known)
        if self._with_calls(settings):
            yield from calls(code, module)
        elif "export(" in module.source.text:
            self._calls_left += len(code.export_rows(module))

    def _with_calls(self, settings: Settings) -> bool:
        return self._calls or settings.verify.calls

    def _settings(self, directory: Path) -> Settings:
        return self._configuration.for_directory(directory)

    def _code(self, settings: Settings) -> Code:
        # A configuration gives the same object for all that it holds for.
        return self._codes.setdefault(id(settings), Code(settings))

    def _targets(self, settings: Settings) -> tuple[Target, ...]:
        if id(settings) not in self._configured:
            self._configured[id(settings)] = tuple(configured(self._code(settings)))
        return self._configured[id(settings)]


def _key(target: Target) -> object:
    return target.name, target.model, target.place
