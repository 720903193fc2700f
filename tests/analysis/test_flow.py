"""The analyzer follows values as Python moves them: the cases in `flow/`, whose marks torch.export proves."""

from __future__ import annotations

import importlib
import logging
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint
from tests.analysis.cases import Case, Marked, cases
from tests.sampling import first_of_each

CASES = cases()
PROVABLE = [case for case in CASES if case.inputs]


def test_ids_are_unique() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


def linted(case: Case, directory: Path) -> list[Marked]:
    settings = combine([Layer(directory, {"torch-version": (2, 13), "dynamic-dims": ()})], directory)
    findings = lint([Task(path, settings) for path in case.write(directory)]).findings
    return sorted((_name(f.filename, directory), f.span.start.row, f.name, f.severity.value) for f in findings)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=case.id,
            marks=[
                *([pytest.mark.xfail(strict=True, reason=case.wrong)] if case.wrong else []),
                *([pytest.mark.thorough] if number % 3 else []),
            ],
        )
        for number, case in enumerate(CASES)
    ],
)
def test_finds_what_the_comments_state(case: Case, tmp_path: Path) -> None:
    assert linted(case, tmp_path) == case.marked


@pytest.fixture
def _importing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files in `tmp_path` can be imported, and are forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "src")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(disabled)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    _forget_in_operators()


def _forget_in_operators() -> None:
    """Have TorchDynamo forget modules that functions which `torch.cond` takes come from: it keeps the first by name."""
    if (convert := sys.modules.get("torch._dynamo.symbolic_convert")) is not None:
        convert._import_module.cache_clear()
    for module in [one for name, one in sys.modules.items() if name.startswith("torch._higher_order_ops")]:
        for name in [name for name in vars(module) if name.startswith("__import_")]:
            delattr(module, name)


@pytest.mark.usefixtures("_importing")
@pytest.mark.filterwarnings("ignore")  # of torch, about what the models do
@pytest.mark.parametrize("case", first_of_each(PROVABLE, lambda case: case.id.partition(":")[0]), ids=lambda c: c.id)
def test_torch_proves_what_the_comments_state(case: Case, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith("2.13."):
        pytest.skip("the comments are about torch 2.13")
    # Dynamo switches this off for the whole process the first time that it is used.
    torch.distributions.Distribution.set_default_validate_args(True)
    case.write(tmp_path)
    parts = PurePosixPath(case.main).with_suffix("").parts
    module = importlib.import_module(".".join(part for part in parts if part != "src"))
    model = module.Model().eval()
    scope = {"torch": torch, **vars(module)}
    if not case.raises:
        model(*eval(case.inputs, scope))
    places = {(file, row) for file, row, _, severity in case.marked if severity == "error"}
    if not places:
        torch.export.export(model, eval(case.inputs, scope))
        return
    with pytest.raises(Exception) as raised:  # noqa: PT011 - torch raises what it likes
        torch.export.export(model, eval(case.inputs, scope))
    blamed = {(_name(frame.filename, tmp_path), frame.lineno) for frame in traceback.extract_tb(raised.tb)}
    # torch looks at inputs and outputs before and after `forward` runs: then it blames no line.
    # TorchDynamo tells in its message where in a function that an operator runs it is
    named = {(file, row) for file, row in places if f'{file}", line {row},' in str(raised.value)}
    is_boundary = not {file for file, _ in blamed} & {file for file, _ in case.files}
    assert places & blamed or named or is_boundary, raised.value


def _name(filename: str, directory: Path) -> str:
    path = Path(filename)
    return path.relative_to(directory).as_posix() if path.is_relative_to(directory) else filename
