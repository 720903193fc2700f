"""Findings of the linter against runs: what is confirmed, refuted, not reached, and what was missed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exportlint.config import Configuration
from exportlint.edits import apply
from exportlint.findings import Finding, Mode, Severity
from exportlint.linter import Task, lint
from exportlint.source import LineIndex, from_text
from exportlint.verify.reports import as_finding
from exportlint.verify.results import Agreement, Comparison, Failure, Frame, Kind, Run, Verdict
from exportlint.verify.statements import Statements
from exportlint.verify.verdicts import Judgement, judge

MODEL = """\
import random
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x):
        self.count += 1
        if (x.sum()
                > 0):
            x = x * self.count
        elif x.min() < 0: x = x - 1
        return x.relu() * random.random()
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verdicts") / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def findings(file: Path) -> dict[str, Finding]:
    settings = Configuration(file.parent, isolated=True).for_file(file)
    found = {f.name: f for f in lint([Task(file, settings)]).findings if f.name != "tensor-branch"}
    branches = [f for f in lint([Task(file, settings)]).findings if f.name == "tensor-branch"]
    found |= {f"tensor-branch-{f.span.start.row}": f for f in branches}
    assert set(found) == {"attribute-state", "tensor-branch-13", "tensor-branch-16", "host-random"}
    return found


def run(file: Path, verdict: Verdict = "exports", *, mode: Mode = "non-strict", **parts: object) -> Run:
    rows = (12, 13, 14, 15, 17)
    return Run("model:Gate", mode, "cpu", verdict, lines={str(file): rows}, **parts)  # type: ignore[arg-type]


def failure(file: Path, *rows: int, message: str = "no idea\nmore", hints: tuple[str, ...] = ()) -> Failure:
    frames = tuple(Frame(str(file), row, "forward") for row in rows)
    return Failure("export", "GuardOnDataDependentSymNode", message, frames, hints)


def agree(*kinds: str) -> tuple[Comparison, ...]:
    return tuple(Comparison(kind, kind, "agrees") for kind in kinds)  # type: ignore[arg-type]


def ruling(judgement: Judgement, finding: Finding) -> str:
    return next(judged.ruling for judged in judgement.findings if judged.finding is finding)


@pytest.mark.parametrize("row", [13, 14])
def test_an_error_is_confirmed_by_a_failure_in_any_row_of_its_statement(
    row: int, file: Path, findings: dict[str, Finding]
) -> None:
    fails = run(file, "fails", failures=(failure(file, row),))
    judgement = judge(list(findings.values()), [fails])
    assert ruling(judgement, findings["tensor-branch-13"]) == "confirmed"
    assert ruling(judgement, findings["tensor-branch-16"]) == "not reached"
    assert ruling(judgement, findings["attribute-state"]) == "not reached"
    assert judgement.missed == ()
    why = next(j for j in judgement.findings if j.ruling == "confirmed")
    assert why.why == "export raises here: GuardOnDataDependentSymNode: no idea"
    assert why.run is fails


def test_a_failure_in_the_body_is_not_one_of_the_header(file: Path, findings: dict[str, Finding]) -> None:
    branch = findings["tensor-branch-13"]
    judgement = judge([branch], [run(file, "fails", failures=(failure(file, 15),))])
    assert ruling(judgement, branch) == "not reached"
    assert [(s.frame and s.frame.row, s.what, s.message) for s in judgement.missed] == [
        (15, "GuardOnDataDependentSymNode", "no idea")
    ]


def test_what_calls_the_line_that_raises_is_not_confirmed_and_that_line_is_missed(
    file: Path, findings: dict[str, Finding]
) -> None:
    branch = findings["tensor-branch-13"]
    frames = (Frame(str(file), 13, "forward", lowest=False), Frame(str(file), 17, "helper"))
    below = replace(failure(file), frames=frames)
    judgement = judge([branch], [run(file, "fails", failures=(below,))])
    assert ruling(judgement, branch) == "not reached"
    assert [s.frame and s.frame.row for s in judgement.missed] == [17]


def test_a_line_that_raises_in_an_installed_package_is_confirmed(file: Path, findings: dict[str, Finding]) -> None:
    """The innermost frame of the project comes last, before it what it calls in packages."""
    branch = findings["tensor-branch-13"]
    frames = (Frame(str(file), 13, "helper"), Frame("/nowhere/project.py", 3, "forward"))
    judgement = judge([branch], [run(file, "fails", failures=(replace(failure(file), frames=frames),))])
    assert ruling(judgement, branch) == "confirmed"


def test_a_failure_at_an_info_does_not_confirm_it_and_is_missed(file: Path, findings: dict[str, Finding]) -> None:
    info = replace(findings["tensor-branch-13"], severity=Severity.INFO)
    judgement = judge([info], [run(file, "fails", failures=(failure(file, 13),))])
    assert ruling(judgement, info) == "not reached"
    assert [(s.frame and s.frame.row, s.what) for s in judgement.missed] == [(13, "GuardOnDataDependentSymNode")]


def test_an_error_is_refuted_where_its_line_ran_and_export_passed(file: Path, findings: dict[str, Finding]) -> None:
    judgement = judge(list(findings.values()), [run(file)])
    assert ruling(judgement, findings["tensor-branch-13"]) == "refuted"
    assert ruling(judgement, findings["tensor-branch-16"]) == "not reached"  # its line did not run


@pytest.mark.parametrize(
    ("verdict", "expected"), [("times out", "not reached"), ("cannot be built", "not reached"), ("narrower", "refuted")]
)
def test_only_an_export_that_passed_refutes(
    verdict: Verdict, expected: str, file: Path, findings: dict[str, Finding]
) -> None:
    branch = findings["tensor-branch-13"]
    assert ruling(judge([branch], [run(file, verdict)]), branch) == expected


@pytest.mark.parametrize(
    ("diverging", "confirmed"),
    [
        ("again", {"attribute-state", "host-random"}),
        ("state", {"attribute-state"}),
        ("size", set()),
        ("values", {"attribute-state", "host-random"}),
        ("decomposed", set()),
    ],
)
def test_a_divergence_confirms_the_warnings_that_are_about_it(
    diverging: str, confirmed: set[str], file: Path, findings: dict[str, Finding]
) -> None:
    comparison = Comparison(diverging, "second", "diverges", "1.0 became 2.0", 1.0)  # type: ignore[arg-type]
    warnings = [findings["attribute-state"], findings["host-random"]]
    judgement = judge(warnings, [run(file, "diverges", comparisons=(*agree("example"), comparison))])
    assert {j.finding.name for j in judgement.findings if j.ruling == "confirmed"} == confirmed
    assert [s.what for s in judgement.missed] == ([] if confirmed else [diverging])
    assert all(s.severity is Severity.WARNING for s in judgement.missed)


def test_where_the_example_diverges_another_size_shows_nothing(tmp_path: Path) -> None:
    text = "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n        return x * float(x.shape[0])\n"
    file = tmp_path / "sizes.py"
    file.write_text(text, encoding="utf-8")
    (size,) = lint([Task(file, Configuration(tmp_path, isolated=True).for_file(file))]).findings
    assert size.code == "EXP402"

    def judged(example: Agreement, other: Agreement, kind: Kind = "size") -> Judgement:
        compared = (Comparison("example", "example", example), Comparison(kind, "batch = 3", other))
        made = Run("m:N", "non-strict", "cpu", "diverges", lines={str(file): (4,)}, comparisons=compared)
        return judge([size], [made])

    assert ruling(judged("agrees", "diverges"), size) == "confirmed"
    assert ruling(judged("diverges", "diverges"), size) == "not reached"
    assert ruling(judged("diverges", "narrower"), size) == "confirmed"
    assert ruling(judged("agrees", "narrower", "values"), size) == "confirmed"  # the user's, of any size
    assert ruling(judged("agrees", "diverges", "values"), size) == "confirmed"
    assert ruling(judged("agrees", "diverges", "again"), size) == "not reached"


def test_what_follows_from_a_divergence_is_no_surprise(file: Path) -> None:
    def missed(*kinds: str) -> list[str]:
        compared = [Comparison(kind, kind, "diverges") for kind in kinds]  # type: ignore[arg-type]
        return [s.what for s in judge([], [run(file, "diverges", comparisons=tuple(compared))]).missed]

    assert missed("example", "values", "size", "gradients", "reloaded") == ["example"]
    assert missed("values", "values", "size", "gradients") == ["values", "size"]
    assert missed("gradients", "decomposed") == ["gradients", "decomposed"]


CONSTANT = "it raises RuntimeError: Constant ids is mutated in the forward method. Pls register it as buffer"


@pytest.mark.parametrize(
    ("comparison", "help_"),
    [
        (Comparison("decomposed", "run_decompositions", "diverges", CONSTANT), "exportlint rule EXP311"),
        (Comparison("decomposed", "run_decompositions", "diverges", "it raises ValueError: who knows?"), None),
        (Comparison("values", "others[0]", "diverges", CONSTANT), None),
        # verify chose the size, and nobody called torch.export with another one
        (Comparison("size", "batch = 3", "narrower", "the program raises AssertionError: Guard failed: x == 2"), None),
    ],
    ids=["known", "unknown", "of other values", "of verify's own inputs"],
)
def test_what_run_decompositions_raises_has_help(comparison: Comparison, help_: str | None, file: Path) -> None:
    (surprise,) = judge([], [run(file, "diverges", comparisons=(comparison,))]).missed
    finding = as_finding(surprise, (file, 1), lambda _: None)
    assert finding is not None
    assert (help_ in finding.help) if help_ and finding.help else finding.help is help_


def test_a_warning_is_refuted_if_what_could_show_it_agrees(file: Path, findings: dict[str, Finding]) -> None:
    state = findings["attribute-state"]
    assert ruling(judge([state], [run(file, comparisons=agree("example", "again", "state"))]), state) == "refuted"
    skipped = (*agree("state"), Comparison("again", "again", "skipped"))
    judgement = judge([state], [run(file, comparisons=skipped)])
    assert ruling(judgement, state) == "not reached"
    assert judgement.findings[0].why == "the line ran, but was not compared: again"


def test_runs_judge_findings_of_their_own_mode(file: Path, findings: dict[str, Finding]) -> None:
    branch = findings["tensor-branch-13"]
    judgement = judge([branch], [run(file, "fails", mode="strict", failures=(failure(file, 13),))])
    assert ruling(judgement, branch) == "not reached"
    assert [s.frame and s.frame.row for s in judgement.missed] == [13]


def test_confirmed_beats_refuted_beats_not_reached(file: Path, findings: dict[str, Finding]) -> None:
    branch = findings["tensor-branch-13"]
    late, passed, fails = run(file, "times out"), run(file), run(file, "fails", failures=(failure(file, 13),))
    assert ruling(judge([branch], [late, passed]), branch) == "refuted"
    assert ruling(judge([branch], [passed, fails, late]), branch) == "confirmed"


def test_what_several_runs_miss_at_one_line_is_missed_once(file: Path) -> None:
    fails = run(file, "fails", failures=(failure(file, 17),))
    assert len(judge([], [fails, fails]).missed) == 1


def test_a_guard_of_draft_export_confirms_but_is_no_surprise(file: Path, findings: dict[str, Finding]) -> None:
    guards = [replace(failure(file, row), further=True) for row in (13, 17)]
    judgement = judge([findings["tensor-branch-13"]], [run(file, "fails", failures=(failure(file, 13), *guards))])
    assert ruling(judgement, findings["tensor-branch-13"]) == "confirmed"
    assert judgement.missed == ()
    other = replace(guards[1], type="Unsupported")
    (surprise,) = judge([], [run(file, "fails", failures=(other,))]).missed
    assert surprise.said == "found by draft_export only: no idea"


@pytest.mark.parametrize(
    ("further", "why"),
    [
        (False, "export raises here: GuardOnDataDependentSymNode: no idea"),
        (True, "found by draft_export only: GuardOnDataDependentSymNode: no idea"),
    ],
)
def test_who_met_a_failure_is_said(further: bool, why: str, file: Path, findings: dict[str, Finding]) -> None:
    met = replace(failure(file, 13), further=further)
    first = failure(file, 15)
    (judged,) = judge([findings["tensor-branch-13"]], [run(file, "fails", failures=(first, met))]).findings
    assert (judged.ruling, judged.why) == ("confirmed", why)


def test_a_crash_of_torch_is_missed(file: Path) -> None:
    (surprise,) = judge([], [run(file, "fails", reason="crashed during export (SIGSEGV)")]).missed
    assert (surprise.what, surprise.frame, surprise.message) == ("crash", None, "crashed during export (SIGSEGV)")


def test_a_failure_without_place_is_missed_where_no_error_ran(file: Path, findings: dict[str, Finding]) -> None:
    fails = run(file, "fails", failures=(failure(file),))
    warnings = [findings["attribute-state"], findings["host-random"]]
    assert [s.frame for s in judge(warnings, [fails]).missed] == [None]
    judgement = judge([*warnings, findings["tensor-branch-13"]], [fails])
    assert judgement.missed == ()
    assert [j.ruling for j in judgement.findings] == [
        "not reached",
        "not reached",
        "confirmed",
    ]


def test_a_failure_without_place_confirms_what_has_it_on_its_page(file: Path, findings: dict[str, Finding]) -> None:
    """EXP301's page says that torch does not tell the line, and what it does tell."""
    data = replace(findings["tensor-branch-13"], code="EXP301", name="tensor-data")
    said = "We found a fake tensor in the exported program constant's list. This typically means 7 things"
    fails = run(file, "fails", failures=(Failure("export", "RuntimeError", said),))
    judgement = judge([data, findings["tensor-branch-13"], findings["attribute-state"]], [fails])
    assert [j.ruling for j in judgement.findings] == ["confirmed", "not reached", "not reached"]
    unknown = Failure("export", "RuntimeError", "We found something else, of which no page tells")
    other = judge([data, findings["tensor-branch-13"]], [run(file, "fails", failures=(unknown,))])
    assert [j.ruling for j in other.findings] == ["not reached", "not reached"]  # it may be either


def test_hints_of_torch_become_proposals_before_the_statement(file: Path) -> None:
    for row, at in ((17, 17), (14, 13), (16, 13)):  # not before a half of a statement, nor before `elif`
        hints = ("torch._check(u0 >= 0)", "torch._check(u0 < 0)")
        fails = run(file, "fails", failures=(failure(file, row, hints=hints),))
        (surprise,) = judge([], [fails]).missed
        assert [fix.applicability.value for fix in surprise.fixes] == ["display-only"] * 2
        text = apply(surprise.fixes[0].edits, LineIndex(MODEL))
        assert text.splitlines()[at - 1] == "        torch._check(u0 >= 0)"
        assert text.replace("        torch._check(u0 >= 0)\n", "") == MODEL


def test_statements() -> None:
    text = (
        "@torch.no_grad()\ndef f(\n    x,\n):\n    try:\n        y = g(\n            x)\n    except ValueError:\n"
        "        y = 1\n    match y:\n        case 1 if x:\n            pass\n        case _:\n            z = 2\n"
        "    for i in y: z = i\n    return z\n"
    )
    statements = Statements(from_text(text, Path("f.py")))
    rows = {row: statements.at(row).rows for row in range(1, 17)}
    assert [(r.start, r.stop - 1) for r in rows.values()] == [
        *[(1, 4)] * 4, (5, 5), *[(6, 7)] * 2, (8, 8), (9, 9), (10, 10), (10, 10), (12, 12), (10, 10), (14, 14),
        (15, 15), (16, 16),
    ]  # fmt: skip
    assert 12 in statements.at(2).witnesses  # the body ran, so the function did
    assert 6 in statements.at(8).witnesses  # the `try` ran, so its `except` was there
    assert [statements.row_to_insert(row) for row in (2, 7, 8, 11, 12, 15)] == [1, 6, 5, 10, 12, 15]
    assert Statements(from_text("def f(:\n", Path("f.py"))).at(1).rows == range(1, 2)


def test_a_run_that_came_from_elsewhere_refutes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        """\
from torch import nn


def check(ok):
    if not ok:
        raise ValueError


class Gate(nn.Module):
    def forward(self, x):
        check(x.sum() > 0)
        return x


class Plain(nn.Module):
    def forward(self, x):
        check(True)
        return x
""",
        encoding="utf-8",
    )
    [finding] = lint([Task(path, Configuration(tmp_path, isolated=True).for_file(path))]).findings
    elsewhere = Run("model:Plain", "non-strict", "cpu", "exports", lines={str(path): (5, 17, 18)})
    assert ruling(judge([finding], [elsewhere]), finding) == "not reached"
    here = Run("model:Gate", "non-strict", "cpu", "exports", lines={str(path): (5, 11, 12)})
    assert ruling(judge([finding], [here]), finding) == "refuted"


PARTS = """\
from torch import nn
from torch.distributions import Categorical, Normal


class Gate(nn.Module):
    def __init__(self, flag, names):
        super().__init__()
        self.flag, self.names = flag, names

    def forward(self, x):
        return {body}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("(x if x.sum() > 0 else -x) if self.flag else x", "not reached"),
        ("x * 2 if self.flag and x.sum() > 0 else x", "not reached"),
        ("[float(x[name]) for name in self.names]", "not reached"),
        ("(lambda y: y if y.sum() > 0 else -y)(x) if self.flag else x", "not reached"),
        ("x if x.sum() > 0 else -x", "refuted"),
        ("[x for _ in range(int(x.sum()))]", "refuted"),
        ("{'ä': (x if x.sum() > 0 else -x) if self.flag else x}", "not reached"),
    ],
)
def test_what_a_condition_of_the_line_decides_about_is_not_refuted(body: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(PARTS.format(body=body), encoding="utf-8")
    found = lint([Task(path, Configuration(tmp_path, isolated=True).for_file(path))]).findings
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    assert errors
    passes = Run("model:Gate", "non-strict", "cpu", "exports", lines={str(path): (11,)})
    assert {ruling(judge(errors, [passes]), error) for error in errors} == {expected}


def test_of_two_errors_in_a_line_the_one_that_raises_is_confirmed(tmp_path: Path) -> None:
    """If Python tells which expression was at work; otherwise it may be either."""
    path = tmp_path / "model.py"
    path.write_text(PARTS.format(body="Categorical(x) if self.flag else Normal(x, x)"), encoding="utf-8")
    errors = list(lint([Task(path, Configuration(tmp_path, isolated=True).for_file(path))]).findings)
    assert [error.code for error in errors] == ["EXP209", "EXP209"]

    def told(extent: tuple[int, ...] | None) -> list[str]:
        raised = Failure("export", "RuntimeError", "no", (Frame(str(path), 11, "forward", extent=extent),))
        run = Run("model:Gate", "non-strict", "cpu", "fails", lines={str(path): (11,)}, failures=(raised,))
        return [judged.ruling for judged in judge(errors, [run]).findings]

    assert told((11, 15, 11, 29)) == ["confirmed", "not reached"]
    assert told(None) == ["confirmed", "confirmed"]


def test_what_raises_confirms_the_error_of_a_statement_and_not_its_warning(
    file: Path, findings: dict[str, Finding]
) -> None:
    error = findings["tensor-branch-13"]
    warning = replace(error, code="EXP403", name="size-loop", severity=Severity.WARNING)
    fails = run(file, "fails", failures=(failure(file, 13),))
    judgement = judge([warning, error], [fails])
    assert [judged.ruling for judged in judgement.findings] == ["not reached", "confirmed"]
    assert judgement.findings[0].why == "the line ran, but export failed for another reason"
    assert ruling(judge([warning], [fails]), warning) == "confirmed"


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        ((), "refuted"),
        ((Comparison("again", "again", "agrees", difference=1e-6),), "agrees only within the tolerance"),
        ((Comparison("again", "again", "skipped", "no time"),), "was not compared in full"),
    ],
)
def test_only_what_agrees_to_the_last_digit_refutes_a_warning(
    again: tuple[Comparison, ...], expected: str, file: Path, findings: dict[str, Finding]
) -> None:
    state = findings["attribute-state"]
    compared = run(file, comparisons=(*agree("example", "again", "state"), *again))
    [judged] = judge([state], [compared]).findings
    assert expected in f"{judged.ruling}: {judged.why}"


def test_what_the_constructor_does_has_run_if_anything_of_the_class_has(tmp_path: Path) -> None:
    text = """\
import torch
class Net(torch.nn.Module):
    size = 3
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.Linear(2, 2)]
    def forward(self, x):
        return self.layers[0](x)
    def other(self, x):
        return x
"""
    file = tmp_path / "lists.py"
    file.write_text(text, encoding="utf-8")
    (unregistered,) = lint([Task(file, Configuration(tmp_path, isolated=True).for_file(file))]).findings
    assert (unregistered.code, unregistered.span.start.row) == ("EXP310", 6)
    lost = Comparison("gradients", "of the parameters", "diverges")
    made = Run("m:Net", "non-strict", "cpu", "diverges", lines={str(file): (8,)}, comparisons=(*agree("example"), lost))
    assert ruling(judge([unregistered], [made]), unregistered) == "confirmed"
    statements = Statements(from_text(text, file))
    assert [8 in statements.at(row).witnesses for row in (1, 2, 3, 4, 6, 7, 8, 9, 10)] == [
        False, True, True, True, True, True, True, False, False,
    ]  # fmt: skip


VIOLATED = "Constraints violated (batch)! For more information, run with TORCH_LOGS=dynamic.\n"
GUARDED = "This holds only where Eq(s77, 3), where s77 is L['{}'].size()[{}]"


@pytest.mark.parametrize(
    ("guards", "frames", "ruled"),
    [
        ([GUARDED.format("x", 0)], (), "confirmed"),
        ([GUARDED.format("x", 1)], (), "not reached"),  # another dimension, which may be `AUTO`
        ([GUARDED.format("y", 0)], (), "not reached"),
        ([], (4,), "confirmed"),  # as strict mode tells
        ([], (), "not reached"),
    ],
    ids=["it restricts the dimension", "another dimension", "another input", "blamed itself", "nothing known"],
)
def test_an_info_of_the_line_that_restricts_what_is_to_vary_is_an_error(
    guards: list[str], frames: tuple[int, ...], ruled: str, tmp_path: Path
) -> None:
    text = "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n        return x.view(3, -1)\n"
    file = tmp_path / "fixed.py"
    file.write_text(text + "export(N(), X)\n", encoding="utf-8")
    (info,) = lint([Task(file, Configuration(tmp_path, isolated=True).for_file(file))]).findings
    assert (info.code, info.severity) == ("EXP407", Severity.INFO)

    def at(*rows: int) -> tuple[Frame, ...]:
        return tuple(Frame(str(file), row, "forward") for row in rows)

    refused = Failure("export", "UserError", VIOLATED, at(*frames))
    drafted = [Failure("export", "ConstraintViolation", said, at(4), further=True) for said in guards]
    made = Run(
        "m:5", "non-strict", "cpu", "fails", failures=(refused, *drafted), lines={str(file): (4,)},
        inputs=("x: float32[batch=3, 4]",), call=Frame(str(file), 5),
    )  # fmt: skip
    judgement = judge([info], [made])
    (judged,) = judgement.findings
    assert judged.ruling == ruled
    assert judged.finding.severity is (Severity.ERROR if ruled == "confirmed" else Severity.INFO)
    assert [(s.frame and s.frame.row, s.what) for s in judgement.missed] == (
        [] if ruled == "confirmed" else [(5, "UserError")]
    )


def test_a_place_that_is_not_in_the_text(file: Path, findings: dict[str, Finding]) -> None:
    far = failure(file, 4000, hints=("torch._check(x)",))
    gone = Failure("export", "ValueError", "no", (Frame("/nowhere/model.py", 1),), ("torch._check(x)",))
    judgement = judge(list(findings.values()), [run(file, "fails", failures=(far, gone))])
    assert [s.fixes for s in judgement.missed] == [(), ()]


def test_every_warning_says_what_can_show_it() -> None:
    from exportlint.registry import FAMILIES
    from exportlint.verify.kinds import shown

    assert {family for family in FAMILIES if not shown(f"{family}99").by} == {"EXP0"}
