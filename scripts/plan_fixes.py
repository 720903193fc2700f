"""How many failing models `exportlint fix-plan` brings to export with equal results, in how many rounds and seconds.

    python scripts/plan_fixes.py truth CASES [--outcome ERR] [--sample N]
    python scripts/plan_fixes.py corpus CORPUS SOURCES [--sample N]

CASES is as for `verify_truth.py`, of which those with the outcome are taken; CORPUS and SOURCES are as for
`verify_corpus.py`, of which those are taken that are recorded to fail. `--sample N` takes N of them, by a digest of
their names. Nothing is written.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from verify_corpus import models_of
from verify_corpus import target_of as corpus_target
from verify_truth import target as truth_target

from exportlint.config import Configuration, Layer
from exportlint.findings import Applicability, Mode
from exportlint.verify.bench import Bench
from exportlint.verify.plans import Plan, plan_fixes
from exportlint.verify.slot import Slot
from exportlint.verify.target import Target
from exportlint.workspace import Task


def main() -> None:
    """Print a line for each model, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    truth = commands.add_parser("truth")
    truth.add_argument("cases", type=Path)
    truth.add_argument("--outcome", default="ERR")
    corpus = commands.add_parser("corpus")
    corpus.add_argument("corpus", type=Path)
    corpus.add_argument("sources", type=Path)
    for command in (truth, corpus):
        command.add_argument("--sample", type=int, metavar="N")
        command.add_argument("--mode", choices=("ns", "st"), default="ns")
        command.add_argument("--safe", action="store_true", help="safe fixes only")
        command.add_argument("--only", nargs="*", metavar="NAME", help="these models")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        targets = _of_truth(arguments, root) if arguments.what == "truth" else _of_corpus(arguments)
        targets.sort(key=lambda target: hashlib.sha256(target.name.encode()).hexdigest())
        targets = [target for target in targets if not arguments.only or target.name in arguments.only]
        _plan(targets[: arguments.sample], Applicability.SAFE if arguments.safe else Applicability.UNSAFE, root)


def _of_truth(arguments: argparse.Namespace, root: Path) -> list[Target]:
    cases = [json.loads(line) for line in arguments.cases.read_text(encoding="utf-8").splitlines()]
    taken = [case for case in cases if case["inputs"] and case["outcomes"].get(arguments.mode) == arguments.outcome]
    return [truth_target(case, arguments.mode, root, gradients=False) for case in taken]


def _of_corpus(arguments: argparse.Namespace) -> list[Target]:
    os.environ["CORPUS_SOURCES"] = str(arguments.sources.absolute())
    os.environ["CORPUS_HARNESS"] = str((arguments.corpus / "harness").absolute())
    mode: Mode = "non-strict" if arguments.mode == "ns" else "strict"
    failing = [one for one in models_of(arguments.corpus, "b_pb", mode) if not one[mode.replace("-", "_")]["ok"]]
    return [corpus_target(model, arguments.sources.absolute(), mode) for model in failing]


def _plan(targets: Sequence[Target], most: Applicability, root: Path) -> None:
    settings = Configuration(root, isolated=True, overrides=(Layer(root, {"dynamic-dims": ()}),)).for_directory(root)
    ends: collections.Counter[str] = collections.Counter()
    os.chdir(root)
    Path("out").mkdir()  # where some of them write to
    with closing(Slot(Path(sys.executable))) as slot:
        for number, target in enumerate(targets):
            folder = root / f"outcomes{number}"
            folder.mkdir()
            start = time.perf_counter()
            bench = Bench(slot, folder, lambda _: None)
            plan = plan_fixes([target], bench, lambda path: Task(path, settings), most, rounds=20)
            ends[_end(plan)] += 1
            print(f"{target.name}: {_end(plan)}; {_took(plan)}, {time.perf_counter() - start:.1f} s", flush=True)
    for end, count in ends.most_common():
        print(f"{count:4}  {end}")


def _end(plan: Plan) -> str:
    if plan.end == "cannot be run":
        return "cannot be run in eager"
    return "exports with equal results" if plan.exports else plan.after[0].verdict


def _took(plan: Plan) -> str:
    kept = ", ".join(
        "assumption" if one.is_assumption else f"{one.finding.code}{' unsafe' if one.is_unsafe else ''}"
        for one in plan.kept
    )
    undone = ", ".join(
        f"{one.finding.code} ({one.why[:80]})" for r in plan.rounds for one in r.attempts if one.verdict == "undone"
    )
    left = "; ".join(
        f"{blocker.finding.code if blocker.finding else 'no finding'}: {blocker.why}: {blocker.what[:120]}"
        for blocker in plan.blockers
    )
    parts = [f"{len(plan.rounds)} rounds, {plan.runs} runs", kept and f"kept {kept}", undone and f"undone {undone}"]
    return ", ".join(part for part in parts if part) + (f" [{left}]" if left else "")


if __name__ == "__main__":
    main()
