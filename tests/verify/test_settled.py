"""What becomes of a program is looked at only if it agrees, and if no equal program was looked at before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from exportlint.verify.cache import Cache
from exportlint.verify.interpreter import ask
from exportlint.verify.results import Run
from exportlint.verify.run import verify
from tests.verify.workshop import module, target

pytestmark = pytest.mark.thorough

pytest.importorskip("torch")

OPERATOR = """
@torch.library.custom_op("tests::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x):
    return torch.empty_like(x)

"""


def made_of(run: Run) -> dict[str, tuple[str, str]]:
    """What is said of the program when it is decomposed, and saved."""
    return {c.kind: (c.agreement, c.detail) for c in run.comparisons if c.kind in ("decomposed", "reloaded")}


def test_an_equal_program_is_not_decomposed_again(tmp_path: Path) -> None:
    interpreter = ask(Path(sys.executable))

    def run(body: str, first: str = "") -> Run:
        cache = Cache(tmp_path / "cache", interpreter)  # as each command makes one
        (found,) = verify([target(tmp_path, module(body, first=first))], Path(sys.executable), cache=cache)
        assert (found.verdict, found.cached) == ("exports", False)
        return found

    looked_at, known = ("agrees", ""), ("agrees", "as an equal program does")
    both = ("decomposed", "reloaded")
    assert made_of(run("return x + 1")) == dict.fromkeys(both, looked_at)
    assert made_of(run("y = x + 1  # the same program\nreturn y")) == dict.fromkeys(both, known)
    assert made_of(run("return x + 2")) == dict.fromkeys(both, looked_at)
    for number in range(2):  # what somebody else's operator becomes is his
        body = f"return doubled(x)  # {number}"
        assert made_of(run(body, first=OPERATOR)) == dict.fromkeys(both, looked_at)


def test_what_does_not_agree_is_not_decomposed(tmp_path: Path) -> None:
    body = "return x * 2 if type(x) is torch.Tensor else x * 5"
    (run,) = verify([target(tmp_path, module(body))], Path(sys.executable))
    assert run.verdict == "diverges"
    wrong = ("skipped", "the program itself does not agree")
    assert made_of(run) == {"decomposed": wrong, "reloaded": wrong}


def test_nothing_is_made_of_a_program_that_is_not_wanted(tmp_path: Path) -> None:
    (run,) = verify([target(tmp_path, module(), derived=False)], Path(sys.executable))
    assert (run.verdict, made_of(run)) == ("exports", {})
