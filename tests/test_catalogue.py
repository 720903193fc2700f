"""The catalogue is true: the linter finds what the blocks' comments state, and torch.export does what they claim."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from exportlint.claims import Claim
from exportlint.findings import Applicability, Mode, TorchVersion
from exportlint.fixer import fix
from exportlint.linter import lint
from exportlint.pages import DIRECTIVES, MODES, Block, Marked, Page
from exportlint.registry import FAMILIES, Rule, all_rules, expand, find_rule
from tests.catalogue import pages
from tests.catalogue.measurements import with_sentence
from tests.catalogue.verdicts import contradictions, found_in, measured_with, said, task_of
from tests.sampling import first_of_each, one_in

if TYPE_CHECKING:
    from tests.catalogue.prover import Prover

VERSION: TorchVersion = (2, 13)
"""The torch that the comments and quotations are about."""

HEADINGS = [
    "What it does",
    "Why is this bad?",
    "Severity",
    "Example",
    "Use instead",
    "Fix safety",
    "When it does not fire",
    "References",
]

PAGES = pages()
ABOUT_TORCH = [page for page in PAGES if not page.code.startswith("EXP0")]
BLOCKS = [(page, block) for page in PAGES for block in page.blocks]
BAD = [(page, block) for page, block in BLOCKS if block.kind == "bad"]

pytestmark = pytest.mark.filterwarnings("ignore")  # of torch, about what the blocks do


def id_of(value: object) -> str | None:
    if isinstance(value, Block):
        return f"{value.page[:6]}:{value.row}"
    return value.code if isinstance(value, Page | Rule) else None


def proven_block(*kinds: str, digits: int = 3) -> pytest.MarkDecorator:
    """Parametrise by the blocks of these kinds and the modes.

    The first of the pages with the same first `digits` in their codes is in every run.
    """
    blocks = [(p, b) for p, b in BLOCKS if p in ABOUT_TORCH and b.kind in kinds]
    found = [(p, b, mode) for p, b in blocks for mode in MODES if b.exports_in(mode)]
    return pytest.mark.parametrize(
        ("page", "block", "mode"), first_of_each(found, lambda case: case[0].code[: 3 + digits]), ids=id_of
    )


@pytest.fixture(scope="session")
def prover(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prover]:
    pytest.importorskip("torch")
    from tests.catalogue.prover import Prover

    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    logging.getLogger("torch.__trace").disabled = True  # `logging.disable` has no effect on it
    yield Prover(tmp_path_factory.mktemp("blocks"))
    logging.disable(before)


def findings(block: Block, mode: Mode, directory: Path, version: TorchVersion) -> list[Marked]:
    """What the linter finds in the block, with every rule enabled."""
    found = found_in(block, mode, directory, version)
    return sorted((f.span.start.row, f.name, f.severity.value) for f in found)


@pytest.mark.parametrize("rule", all_rules(), ids=id_of)
def test_every_rule_has_a_page(rule: Rule) -> None:
    assert [page.name for page in PAGES if page.code == rule.code] == [rule.page_name]


@pytest.mark.parametrize("page", PAGES, ids=id_of)
def test_every_page_is_about_a_rule_and_complete(page: Page) -> None:
    assert find_rule(page.rule) is find_rule(page.code) is not None
    left_out = {"Severity": page not in ABOUT_TORCH, "Fix safety": not any(block.fix for block in page.blocks)}
    assert page.headings == [h for h in HEADINGS if not left_out.get(h)]
    missing = [f"`{heading}`" for heading in page.headings if not page.section(heading).strip()]
    assert not missing, f"{page.name}: nothing under {', '.join(missing)}"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_rule(family: str) -> None:
    assert expand(family)


@pytest.mark.parametrize("page", ABOUT_TORCH, ids=id_of)
def test_every_page_shows_what_is_bad_and_quotes_what_happens(page: Page) -> None:
    kinds = {block.kind for block in page.blocks}
    assert kinds == {"bad", "fixed", "ok"}
    assert all(block.inputs or block.is_script for block in page.blocks)
    assert {key for block in page.blocks for key, _ in block.directives} <= DIRECTIVES
    assert bool(page.quotes) == (quoted(page) is not None)
    for block in page.blocks:
        if block.kind == "bad":
            stated = {name for mode in MODES for _, name, _ in block.marked(mode)}
            assert page.rule in stated, f"{page.name}:{block.row}: no comment states a finding of {page.rule}"


@pytest.mark.parametrize(
    ("page", "block", "mode"),
    first_of_each([(p, b, mode) for p, b in BLOCKS for mode in MODES], lambda case: (case[0].code, case[1].kind)),
    ids=id_of,
)
def test_linter_finds_what_the_comments_state(page: Page, block: Block, mode: Mode, tmp_path: Path) -> None:
    assert findings(block, mode, tmp_path, VERSION) == block.marked(mode)


@pytest.mark.parametrize("page", ABOUT_TORCH, ids=id_of)
def test_severity_table_is_what_the_rule_claims(page: Page) -> None:
    rule = find_rule(page.code)
    assert rule is not None
    versions, rows = page.severities
    parsed = [tuple(int(part) for part in version.split(".")) for version in versions]
    claims = [c for c in vars(sys.modules[rule.check.__module__]).values() if isinstance(c, Claim)]
    assert versions == ["2.4", "2.6", "2.9", "2.13", "2.15"]
    assert [(row.pattern, row.mode) for row in rows] == [(row.pattern, mode) for row in rows[::2] for mode in MODES]
    assert {(row.mode, row.severities) for row in rows} == {
        (mode, tuple(claim.severity(mode, (major, minor)) for major, minor in parsed))
        for claim in claims
        for mode in MODES
    }


@pytest.mark.parametrize("page", one_in(40, ABOUT_TORCH), ids=id_of)
def test_page_says_what_was_measured_of_it(page: Page) -> None:
    told = said(page)
    assert ("*Measured*: " in page.text) == bool(told), "measure the page with scripts/measure_versions.py"
    if told:
        assert page.text == with_sentence(page.text, told), "python scripts/measure_versions.py --pages"


@pytest.mark.thorough
@pytest.mark.parametrize("page", [page for page in ABOUT_TORCH if measured_with(page)], ids=id_of)
def test_no_measurement_with_the_newest_torch_contradicts_a_claim(page: Page) -> None:
    newest = measured_with(page)[-1]
    assert [line for line in contradictions(page) if f"torch {newest}:" in line] == []


@proven_block("bad")
def test_torch_proves_the_claim(page: Page, block: Block, mode: Mode, prover: Prover, tmp_path: Path) -> None:
    found = findings(block, mode, tmp_path, prover.version)
    claimed = {severity for _, _, severity in found}
    if block.is_script:
        script = prover.execute(block)
        rows = [row for row, _, severity in found if severity == "error"]
        assert script.row in rows if rows else script.error is None, script.error
        assert script.error is not None or bool(prover.differences(block, mode)) == ("warning" in claimed)
        return
    if block.needs_cuda and prover.has_cuda:
        pytest.skip("the claim is about machines without CUDA")
    if not block.needs_cuda:
        error = prover.eager(block)[0].error
        assert block.raises == ("" if error is None else type(error).__name__)
    program = prover.export(block, mode)
    if "error" in claimed or block.needs_cuda:
        assert isinstance(program, Exception) == ("error" in claimed)
    elif "warning" in claimed and isinstance(program, Exception):
        assert block.dynamic
        assert not isinstance(
            prover.export(replace(block, directives=tuple(d for d in block.directives if d[0] != "dynamic")), mode),
            Exception,
        )
    elif "warning" in claimed:
        assert prover.differences(block, mode)
    elif block.raises:  # eager has no results to compare with
        assert not isinstance(program, Exception)
    else:
        assert not prover.differences(block, mode)


@proven_block("ok", "fixed", digits=2)
def test_what_is_right_exports_and_agrees(page: Page, block: Block, mode: Mode, prover: Prover) -> None:
    if not block.is_script:
        assert prover.eager(block)[0].error is None
    assert not prover.differences(block, mode)


@pytest.mark.parametrize(("page", "block"), first_of_each(BAD, lambda case: case[0].code), ids=id_of)
def test_fixes_are_what_the_page_shows(page: Page, block: Block, tmp_path: Path) -> None:
    """Each fix that the rule offers is a block of its page, and what fixing the file makes of it.

    Those for strict mode are shown where there is none for the other.
    """
    shown = [b for b in page.blocks if b.kind == "fixed" and b.fix and page.original_of(b) is block]
    for mode in MODES:
        task = task_of(block, mode, tmp_path, VERSION)
        fixes = [f.fix for f in lint([task]).findings if f.name == page.rule and f.fix is not None]
        if fixes:
            break
    assert {b.fix_mode for b in shown} <= {mode}
    assert bool(fixes) == bool(shown), f"fixes {fixes}, shown {[b.name for b in shown]}"
    assert block.fix in ({"", "none"} if not fixes else {""})
    assert {fix.applicability.value for fix in fixes} <= {b.fix for b in shown}
    for fixed in shown:
        most = Applicability(fixed.fix)
        (result,) = fix([task], lambda _, most=most: most).tasks  # type: ignore[misc]
        assert result.read().text == fixed.plain


REWRITES = [
    (p, b)
    for p, b in BLOCKS
    if p in ABOUT_TORCH and b.kind == "fixed" and not b.directive("differs") and not b.is_script
]


@pytest.mark.parametrize(("page", "block"), first_of_each(REWRITES, lambda case: case[0].code), ids=id_of)
def test_what_is_fixed_does_what_the_bad_block_did(page: Page, block: Block, prover: Prover) -> None:
    from tests.catalogue.prover import difference

    bad = page.original_of(block)
    if not bad.needs_cuda and not bad.raises:
        for one, other in zip(prover.eager(bad), prover.eager(block), strict=True):
            assert difference(one, other, rewritten=block.fix != "safe") is None


@pytest.mark.thorough
@pytest.mark.parametrize("page", ABOUT_TORCH, ids=id_of)
def test_quotations_are_what_happens(page: Page, prover: Prover) -> None:
    from tests.catalogue.prover import normalised

    block = quoted(page)
    if prover.version != VERSION:
        pytest.skip("the quotations are of another version of torch")
    said = [normalised(text) for mode in MODES if block for text in witnesses(block, mode, prover)]
    for quote in page.quotes:
        assert any(normalised(quote) in text for text in said), "\n".join(said)


def quoted(page: Page) -> Block | None:
    """The block that a page quotes torch about: the first one in which something does break."""
    marks = ((block, {severity for mode in MODES for _, _, severity in block.marked(mode)}) for block in page.blocks)
    return next(
        (block for block, severities in marks if block.kind == "bad" and severities & {"error", "warning"}), None
    )


def witnesses(block: Block, mode: Mode, prover: Prover) -> list[str]:
    """What torch says about the block when it refuses it; else what the program does otherwise than the model."""
    error = prover.execute(block).error if block.is_script else prover.export(block, mode)
    if isinstance(error, Exception):
        return [f"{type(error).__name__}: {error}"]
    return [f"eager: {eager} exported: {exported}" for eager, exported in prover.differences(block, mode)]
