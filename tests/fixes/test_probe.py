"""Fixes ask about variables of a second run, which is made for those that ask only; no question changes an answer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from exportlint.analysis import analyze as analyses
from exportlint.analysis.analyze import Interpretation
from exportlint.analysis.domain.values import Const
from exportlint.analysis.eval.engine import Options
from exportlint.analysis.eval.snapshots import Snapshot
from exportlint.analysis.facts import Branch
from exportlint.analysis.project import Project
from exportlint.check import check_file, distinct
from exportlint.source import from_bytes
from exportlint.syntax.definitions import Class
from tests.fixes.checking import ROOT, check
from tests.fixes.rewrites import Rewrite, rewrites

CASES = [case for document in sorted(Path(__file__).parent.glob("*.md")) for case in rewrites(document)]

THREE = """\
from torch import nn


class Plain(nn.Module):
    def forward(self, x):
        return x + 1


class Told(nn.Module):
    def forward(self, x):
        print(x.sum())
        return x


class Branching(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        return x
"""


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The classes that are analyzed, each time that one is."""
    found: list[str] = []
    export = analyses._export

    def note(engine: object, cls: Class, entry_point: str) -> None:
        found.append(cls.qualname)
        export(engine, cls, entry_point)  # type: ignore[arg-type]

    monkeypatch.setattr(analyses, "_export", note)
    return found


def test_code_without_findings_is_analyzed_once_and_no_variable_is_kept(
    exported: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Snapshot, "__init__", None)
    assert check(THREE[: THREE.index("class Told")]) == []
    assert exported == ["Plain"]


def test_only_the_classes_with_findings_are_analyzed_again(exported: list[str]) -> None:
    findings = check(THREE)
    assert [f.name for f in findings if f.fix] == ["side-effect", "tensor-branch"]
    assert exported == ["Plain", "Told", "Branching", "Told", "Branching"]


def test_one_more_run_serves_all_fixes_of_a_file(exported: list[str]) -> None:
    branches = "".join(f"        y{i} = x + {i} if x[{i}].sum() > {i} else x\n" for i in range(5))
    findings = check(f"from torch import nn\nclass Model(nn.Module):\n    def forward(self, x):\n{branches}")
    assert len([f for f in findings if f.fix]) == 5
    assert exported == ["Model", "Model"]


@pytest.mark.parametrize(("argument", "safe"), [("x + 1", True), ("nobody_knows", False)])
def test_what_holds_for_one_class_is_not_said_of_others(argument: str, *, safe: bool) -> None:
    """A class that runs the helper and does not meet the fact is run again as well."""
    helper = "from torch import nn\ndef shape_of(x):\n    return int(x.shape[0] / 2)\n"
    model = "class {}(nn.Module):\n    def forward(self, x):\n        return shape_of({})\n"
    findings = check(helper + model.format("A", "x") + model.format("B", argument))
    (fix,) = [f.fix for f in findings if f.name == "size-to-number"]
    assert (fix is not None and fix.applicability.value == "safe") == safe


ASKED = """\
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 1

    def forward(self, x):
        m = 1
        def inner():
            nonlocal m
            m = 2
            self.n = 2
            return 3
        if x.sum() > 0:
            return x
        self.n = 4
        return -x
"""


def test_a_question_leaves_no_trace() -> None:
    project, options = Project(), Options()
    module = project.add(from_bytes(ASKED.encode(), ROOT / "model.py", "model.py"))
    interpretation = Interpretation(module, project, options)
    known = interpretation.analysis()
    (fact,) = [fact for fact in known.facts if isinstance(fact, Branch)]
    (snapshot,) = interpretation.probe(known, [fact]).at(fact.met_at).snapshots

    def ask(text: str) -> object:
        found = snapshot.value(ast.parse(text, mode="eval").body)
        return found.value if isinstance(found, Const) else found

    before = ask("self.n"), ask("m")
    assert before == (1, 1)
    assert ask("inner()") == 3
    assert snapshot.after(ast.parse("self.n = 5\nm = 5\ninner()").body) is not None
    assert snapshot.run(ast.parse("self.n = 6\nm = 6").body) is not None
    assert (ask("self.n"), ask("m")) == before


@pytest.mark.parametrize("case", [c for c in CASES if c.before.count("\n") > 20], ids=lambda case: case.name)
def test_the_order_in_which_fixes_ask_does_not_matter(case: Rewrite, monkeypatch: pytest.MonkeyPatch) -> None:
    told = case.task(ROOT)
    source = from_bytes(case.before.encode(), ROOT / "case.py", "case.py")
    forth = check_file(source, Project(), told.settings)
    monkeypatch.setattr("exportlint.check.distinct", lambda *findings: distinct(*findings)[::-1])
    assert check_file(source, Project(), told.settings)[::-1] == forth
