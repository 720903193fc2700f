"""Gives the models of a corpus to verify: how often its verdict is what was recorded, and what becomes of findings.

    python scripts/verify_corpus.py CORPUS SOURCES [--python PYTHON] [--builder b_pb] [--mode strict] [--part 1/4]

CORPUS is a directory with `corpus.json` and `harness/`, SOURCES what its `sources.py` has laid out. A model agrees if
export fails in both, or passes in both; that verify compares on more inputs, and so finds that more programs diverge or
are narrower, is counted by itself.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exportlint.config import Configuration, Layer
from exportlint.findings import Finding, Mode
from exportlint.linter import Task, lint
from exportlint.verify.cache import Cache
from exportlint.verify.interpreter import ask
from exportlint.verify.results import Run
from exportlint.verify.run import verify
from exportlint.verify.target import Called, Reference, Target
from exportlint.verify.verdicts import judge

_ADAPTER = Path(__file__).with_name("corpus_adapter.py")


def main() -> None:
    """Print the tables, and a line for each model that does not agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--builder", default="b_pb")
    parser.add_argument("--mode", choices=("non-strict", "strict"), default="non-strict")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="every Nth model, from the Kth on")
    parser.add_argument("--cache", type=Path, help="where results are kept, so that a run that was ended goes on")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    arguments = parser.parse_args()
    os.environ["CORPUS_SOURCES"] = str(arguments.sources.absolute())
    os.environ["CORPUS_HARNESS"] = str((arguments.corpus / "harness").absolute())
    which, of = map(int, arguments.part.split("/"))
    models = list(models_of(arguments.corpus, arguments.builder, arguments.mode))[which - 1 :: of]
    started = time.perf_counter()
    cache = None if arguments.cache is None else Cache(arguments.cache, ask(arguments.python))
    targets = [target_of(model, arguments.sources.absolute(), arguments.mode) for model in models]
    recorded = {model["id"]: model[arguments.mode.replace("-", "_")] for model in models}
    runs = []
    for run in verify(targets, arguments.python, jobs=arguments.jobs, cache=cache):
        runs.append(run)
        if not _agrees(run, recorded[run.target]):
            print(f"{run.target}: recorded {_short(recorded[run.target])}; {run.verdict}: {run.reason}", flush=True)
    print(f"\n{len(runs)} models, {time.perf_counter() - started:.0f} s")
    _tables(runs, recorded)
    files = {arguments.sources / model["root_directory"] / model["file"] for model in models}
    _judged(_findings(files, arguments.mode), runs)


def models_of(corpus: Path, builder: str, mode: str) -> Iterator[dict[str, Any]]:
    """The models of a corpus that a builder can build, with what is recorded of them in a mode."""
    for model in json.loads((corpus / "corpus.json").read_text())["models"]:
        build = model["build"]
        if build and build["builder"].startswith(builder + ":") and model[mode.replace("-", "_")] is not None:
            root = model["root"].partition("@")[0].partition("==")[0].replace(":", "+").replace("/", "+")
            yield {**model, "root_directory": root}


def target_of(model: dict[str, Any], sources: Path, mode: Mode) -> Target:
    """A model as a target."""
    builder = model["build"]["builder"]
    case = {"id": model["id"], **{key: value for key, value in model["build"].items() if key != "builder"}}
    # The corpus does not record this option of its builder apart from the name.
    case |= {"cache": True} if model["id"].endswith("#cache") else {}
    return Target(
        name=model["id"],
        origin="configured",
        model=Reference("corpus_adapter", "model", _ADAPTER),
        inputs=Called(Reference("corpus_adapter", "inputs", _ADAPTER)),
        place=(sources / model["root_directory"] / model["file"], model["forward"][0]),
        root=sources,
        paths=(_ADAPTER.parent,),
        arguments=(builder, case),
        modes=(mode,),
        timeout=120.0,
        memory=9 * 2**30,
    )


def _agrees(run: Run, recorded: dict[str, Any]) -> bool:
    return (run.verdict in ("fails", "times out")) != recorded["ok"] and run.verdict != "cannot be built"


def _short(recorded: dict[str, Any]) -> str:
    return "ok" if recorded["ok"] else f"{recorded['kind']} at line {recorded['line']}"


def _tables(runs: list[Run], recorded: dict[str, Any]) -> None:
    built = [run for run in runs if run.verdict != "cannot be built"]
    agreeing = sum(_agrees(run, recorded[run.target]) for run in built)
    print(f"verdict as recorded: {agreeing}/{len(built)}, and {len(runs) - len(built)} cannot be built")
    for (before, verdict), count in sorted(
        collections.Counter((_kind(recorded[run.target]), run.verdict) for run in runs).items()
    ):
        print(f"  recorded {before:9} {verdict:16} {count:5}")
    failing = [run for run in built if run.verdict == "fails" and recorded[run.target].get("line")]
    blamed = sum(
        any(
            Path(frame.file).name == Path(recorded[run.target]["file"]).name
            and recorded[run.target]["stmt"][0] <= frame.row <= recorded[run.target]["stmt"][1]
            for failure in run.failures
            for frame in failure.frames
        )
        for run in failing
    )
    print(f"the recorded statement is blamed: {blamed}/{len(failing)}")


def _kind(recorded: dict[str, Any]) -> str:
    return "fails" if not recorded["ok"] else "diverges" if recorded.get("diverges") else "exports"


def _findings(files: set[Path], mode: Mode) -> tuple[Finding, ...]:
    settings = Configuration(
        Path.cwd(), isolated=True, overrides=(Layer(Path.cwd(), {"mode": mode, "dynamic-dims": ()}),)
    ).for_directory(Path.cwd())
    return lint([Task(file, settings) for file in sorted(files)], 2).findings


def _judged(findings: tuple[Finding, ...], runs: list[Run]) -> None:
    judgement = judge(findings, runs)
    near = [v for v in judgement.findings if v.near]
    print(f"findings: {len(near)}, and {len(judgement.findings) - len(near)} in code that nothing ran through")
    counts = collections.Counter((v.finding.severity.value, v.ruling) for v in near)
    for (severity, verdict), count in sorted(counts.items()):
        print(f"  {severity:8} {verdict:12} {count:5}")
    print(f"  missed {len(judgement.missed)}")
    for judged in judgement.findings:
        if judged.ruling == "refuted":
            place = f"{judged.finding.filename}:{judged.finding.span.start.row}"
            print(f"refuted: {place} {judged.finding.code} {judged.why}")
    for surprise in judgement.missed:
        frame = surprise.frame
        place = "-" if frame is None else f"{frame.file}:{frame.row}"
        print(f"missed: {surprise.run.target} {place} {surprise.what}: {surprise.message}")


if __name__ == "__main__":
    main()
