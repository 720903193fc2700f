"""Edits of open documents and of the files around them, after each of which a server shows what a new one shows."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from exportlint.source import is_notebook
from tests.incremental.edits import edited, parses
from tests.incremental.servers import CELL, WHAT, InProcess, Shown
from tests.patience import PATIENCE

CONFIGURATIONS = (
    "", 'mode = "strict"\n', "dynamic-dims = []\n", 'ignore = ["EXP1"]\n', "train = true\n", "show-info = false\n",
    'torch-version = "2.6"\n', 'entry-points = ["forward", "encode"]\n', 'src = ["..", "."]\n',
    'exported = ["*:Model", "*:Net"]\n', 'unsafe-fixes = true\n',
)  # fmt: skip
_FLIP = "def flip(x):\n    return x.item()\n"


@dataclass(frozen=True, slots=True)
class Difference:
    """After which edit a server that was edited shows something else than a new one, of which document."""

    path: Path
    number: int
    what: str
    kept: object
    fresh: object
    steps: Sequence[str]
    """What was done, in order."""
    texts: Mapping[Path, Sequence[str]]
    """All that the documents held, in order."""

    def __str__(self) -> str:
        done = "; ".join(self.steps[-4:])
        return f"{self.path}, step {self.number} ({done}): {self.what}\n  edited: {self.kept}\n  new:    {self.fresh}"


@dataclass(slots=True)
class Walk:
    """A server in which documents are edited at random.

    `texts` are what is open at first. `around`: what lies around them changes too: files that are saved, closed, made
    and removed, and settings. Every `asked`-th step, code actions are compared too.
    """

    root: Path
    texts: dict[Path, str]
    rng: random.Random
    around: bool = False
    asked: int = 1
    history: dict[Path, list[str]] = field(default_factory=dict)
    parsed: dict[Path, str] = field(default_factory=dict)
    """What could last be parsed of each open document, by which it is looked at while it cannot."""
    closed: set[Path] = field(default_factory=set)
    steps: list[str] = field(default_factory=list)
    compared: Counter[str] = field(default_factory=Counter)
    """How many diagnostics, lenses and actions were compared."""

    @property
    def opened(self) -> dict[Path, str]:
        """The documents that are open, with their texts."""
        return {path: text for path, text in self.texts.items() if path not in self.closed}

    async def differences(self, count: int) -> list[Difference]:
        """Make so many steps, until one gives a difference."""
        server = InProcess(self.root)
        self.history = {path: [text] for path, text in self.texts.items()}
        self.parsed = {path: text for path, text in self.texts.items() if parses(text)}
        try:
            server.hold(self.texts)
            for number in range(count):
                if number:
                    await asyncio.wait_for(self._step(server), PATIENCE)
                found = await asyncio.wait_for(self._compare(server, number), PATIENCE)
                if found:
                    return found
            return []
        finally:
            server.stop()

    async def _step(self, server: InProcess) -> None:
        """One edit, or some that come faster than they are looked at, or something around the documents."""
        if self.around and self.rng.random() < 0.25:
            step = self.rng.choice((self._save, self._save, self._close, self._configure, self._file))
            self.steps.append(step.__name__.removeprefix("_"))
            step(server)
            return
        for _ in range(self.rng.choice((1, 1, 1, 1, 3))):
            path = self.rng.choice(list(self.opened))
            before = self.texts[path]
            new = self._edited(path)
            if not parses(new):  # it goes by the last version that it looked at, and passes over some
                await server.shown(path)
            else:
                self.parsed[path] = new
            self.steps.append(f"edit {path.name}" if new != before else "nothing")
            self.texts[path] = new
            self.history[path].append(new)
            server.hold({path: new})

    def _edited(self, path: Path) -> str:
        text = self.texts[path]
        if self.rng.random() < 0.12 or (not parses(text) and self.rng.random() < 0.6):
            return self.rng.choice(self.history[path][-4:])
        others = [other for name, other in self.texts.items() if name != path]
        if not is_notebook(path):
            return edited(text, others, self.rng, may_break=self.rng.random() < 0.2)
        new = edited(text, others, self.rng)
        return new if all(map(parses, new.split(CELL))) and "\ufeff" not in new else text

    def _save(self, server: InProcess) -> None:
        path = self.rng.choice([path for path in self.opened if not is_notebook(path)] or [None])
        if path is not None:
            path.write_bytes(self.texts[path].encode())
            server.look([path])

    def _close(self, server: InProcess) -> None:
        if self.closed:
            path = self.closed.pop()
            server.hold({path: self.texts[path]})
            if parses(self.texts[path]):
                self.parsed[path] = self.texts[path]
        elif len(self.texts) > 1:
            path = self.rng.choice(list(self.texts))
            self.closed.add(path)
            self.parsed.pop(path, None)
            server.close(path)

    def _configure(self, server: InProcess) -> None:
        text = f"[tool.exportlint]\n{self.rng.choice(CONFIGURATIONS)}"
        (self.root / "pyproject.toml").write_text(text, encoding="utf-8")
        server.configure()

    def _file(self, server: InProcess) -> None:
        """A file that comes or goes, or changes while it is not open."""
        path = self.rng.choice([*self._places()])
        others = self.rng.choice(list(self.texts.values()))
        if path.exists() and self.rng.random() < 0.6:
            path.unlink()
        else:
            path.write_bytes(self.rng.choice(("", _FLIP, others)).encode())
        server.look([path], anew=True)

    def _places(self) -> Iterator[Path]:
        for path in self.texts:
            yield path.with_suffix(".pyi")
            yield path.with_name("__init__.py")
            yield path.with_name("fourth.py")

    async def _compare(self, server: InProcess, number: int) -> list[Difference]:
        asks, opened = number % self.asked == 0, self.opened
        shown = {path: await server.shown(path, actions=asks) for path in opened}
        fresh = InProcess(self.root)
        try:
            before = {path: self.parsed.get(path, text) for path, text in opened.items()}
            fresh.hold(before)
            if before != opened:
                for path in opened:
                    await fresh.shown(path)
                fresh.hold({path: text for path, text in opened.items() if text != before[path]})
            expected = {path: await fresh.shown(path, actions=asks) for path in opened}
        finally:
            fresh.stop()
        for one in expected.values():
            self.compared.update({what: len(getattr(one, what)) for what in WHAT})
        return [one for path in opened for one in self._told(path, number, shown[path], expected[path])]

    def _told(self, path: Path, number: int, kept: Shown, fresh: Shown) -> Iterator[Difference]:
        for what in WHAT:
            one, other = getattr(kept, what), getattr(fresh, what)
            if one != other:
                left, right = [i for i in one if i not in other], [i for i in other if i not in one]
                if not left and not right:
                    left, right = one, other
                yield Difference(path, number, what, left, right, self.steps, self.history)
