"""What measurements say about the claims of a page: the linter's findings in its blocks, for each version of torch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.config.toml import check, parse
from exportlint.config.torch_version import parse_torch_version
from exportlint.findings import Finding, Mode, TorchVersion
from exportlint.linter import Task, lint
from exportlint.pages import Block, Page
from tests.catalogue.measurements import digest, measured_blocks, measurements, releases, sentence


def task_of(block: Block, mode: Mode, directory: Path, version: TorchVersion) -> Task:
    """The block as a file to lint, without the comments that state findings."""
    shapes: dict[str, object] = {} if block.dynamic else {"dynamic-dims": []}  # it is exported with static shapes
    given = shapes | parse(block.settings) | {"mode": mode}
    layer = Layer(directory, check(given, None) | {"torch-version": version})
    return Task(directory / f"{block.name}.py", combine([layer], directory), data=block.plain.encode())


def found_in(block: Block, mode: Mode, directory: Path, version: TorchVersion) -> tuple[Finding, ...]:
    """What the linter finds in the block, with every rule enabled."""
    return lint([task_of(block, mode, directory, version)]).findings


@cache
def judged(page: Page, release: str) -> tuple[tuple[Block, Mode, bool | None], ...]:
    """Each bad block in each mode, and whether torch bears out what is claimed of it: None if it could not run."""
    known, version = measurements(release), parse_torch_version(release)
    found = []
    for block, mode in measured_blocks(page):
        measured = known[page.code, digest(block), mode]
        claimed = {f.severity.value for f in found_in(block, mode, Path.cwd(), version)}
        found.append((block, mode, measured.bears_out(claimed)))
    return tuple(found)


def measured_with(page: Page) -> list[str]:
    """The releases of torch that all bad blocks of a page were run with."""
    wanted = {(page.code, digest(block), mode) for block, mode in measured_blocks(page)}
    return [release for release in releases() if wanted <= measurements(release).keys()]


def said(page: Page) -> str:
    """What a page has to say about its versions; empty if nothing was measured of it."""
    results = {release: [held for _, _, held in judged(page, release)] for release in measured_with(page)}
    return (
        results
        and sentence(
            page.severities[0],
            sum(block.kind == "bad" for block in page.blocks),
            {release: found.count(False) for release, found in results.items()},
            {release: found.count(None) for release, found in results.items()},
        )
    ) or ""


def contradictions(page: Page) -> Iterator[str]:
    """A line for each measurement that contradicts what is claimed."""
    for release in measured_with(page):
        for block, mode, held in judged(page, release):
            if held is False:
                outcome = measurements(release)[page.code, digest(block), mode]
                yield f"{page.name}:{block.row}: {mode}, torch {release}: {outcome.outcome} {outcome.detail}"
