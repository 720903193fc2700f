"""The model of a job and what it is called with, by the first of its sources that leads to both."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from .inputs import find_example
from .models import Subject, build
from .modules import load_module
from .options import command_line, options_may_be_missing
from .parts import part_of
from .snippets import run_snippet
from .texts import first_line, text_of
from .watching import Budget
from .weights import fetch_no_weights
from .words import Example, Job

Enter = Callable[[str], None]
"""Takes the stage that begins: `import`, `build` or `inputs`."""


_SECONDS = 20.0
"""After how long no further way is tried."""


def find_source(job: Job, enter: Enter, example: Example | None = None) -> tuple[Subject, Example]:
    """The model of a job and its inputs; with an `example`, the model is called with that.

    Raises:
        LookupError: a model was built, and nothing to call it with was found. And whatever the user's code raises: of
            several ways, the outcome of the first one.
    """
    if not {"written", "called"}.intersection(job["inputs"]):
        fetch_no_weights()
    with options_may_be_missing(), command_line(job["model"]["file"] or ""):
        return _found(job, enter, example, Budget(_SECONDS))


def _found(job: Job, enter: Enter, example: Example | None, budget: Budget) -> tuple[Subject, Example]:
    errors: list[BaseException] = []
    for way in (job, *job.get("otherwise", ())):
        if not errors or not budget.is_spent():
            found, error = _attempt(functools.partial(_by_one_way, way, enter, example, budget))
            if found is not None:
                return found
            errors.append(error)
    raise errors[0]


def _attempt(find: Callable[[], tuple[Subject, Example]]) -> tuple[tuple[Subject, Example] | None, BaseException]:
    """What is found, or what is raised instead, also by a script that ends."""
    try:
        return find(), LookupError()
    except (Exception, SystemExit) as error:
        return None, error


def _by_one_way(job: Job, enter: Enter, example: Example | None, budget: Budget) -> tuple[Subject, Example]:
    kind, content = next(iter(job["inputs"].items()))
    enter("import")
    load_module(job["model"]["module"], job["model"]["file"])
    enter("build")
    if kind == "part":
        subject, made = _part(job, content, budget)
    elif kind == "snippet":
        subject, made = run_snippet(job, enter)
    else:
        subject, made = build(job), None
    enter("inputs")
    return subject, example or made or find_example(job, subject)


def _part(job: Job, wholes: Sequence[Job], budget: Budget) -> tuple[Subject, Example]:
    reasons: dict[str, list[str]] = {}
    for whole in wholes:
        if not reasons or not budget.is_spent():
            found, error = _attempt(functools.partial(_part_of_whole, whole, job, budget))
            if found is not None:
                return found
            reasons.setdefault(f"{type(error).__name__}: {first_line(text_of(error))}", []).append(whole["name"])
    told = (f"{', '.join(dict.fromkeys(names))}: {reason}" for reason, names in reasons.items())
    raise LookupError(f"no model that runs calls it: {'; '.join(told)}")


def _part_of_whole(whole: Job, job: Job, budget: Budget) -> tuple[Subject, Example]:
    return part_of(*_found(whole, _enter_nothing, None, budget), job)


def _enter_nothing(stage: str) -> None:
    """What leads to a whole is all one step to its part."""
