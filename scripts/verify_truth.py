"""How often verify comes to the verdict that was measured before, on small modules whose outcomes are recorded.

    python scripts/verify_truth.py CASES [--mode MODE]... [--case ID]... [-j N] [--gradients] [--json FILE]

CASES has one JSON object a line: `id`, `source` (a module with a class `M` that needs no arguments), `outcomes` by mode
and `inputs`, the first of which is the example. Modes are `ns` and `st`, non-strict and strict with static shapes, and
those with `_auto` or `_dyn`, where the first dimension of each tensor is `Dim.AUTO` or `Dim.DYNAMIC`. An outcome says
what may be the verdict: see `VERDICTS`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exportlint.findings import Mode
from exportlint.verify.kinds import disagreements
from exportlint.verify.results import Run
from exportlint.verify.run import verify
from exportlint.verify.target import Called, Reference, Target

MODES = ("ns", "st", "ns_auto", "ns_dyn", "st_auto", "st_dyn")

VERDICTS = {
    "OK": {"exports"},
    "ERR": {"fails"},
    "SILENT": {"diverges"},
    "GRAD": {"diverges", "exports"},
    "LOUD": {"narrower", "diverges"},
    "SIDE": {"exports", "diverges"},
    "OK(eager raises)": {"cannot be built"},
}
"""Gradients are compared on request only; what a call prints, or leaves in an attribute that nobody reads, never is."""

UNRECORDED = {
    "cf_if_training": "the model is switched to training after export",
    "ms_bn_train_to_eval": "the model is switched to evaluation after export",
    "rn_dropout_train": "the model is switched to evaluation after export",
    "rn_dropout_eval": "the model is switched to training after export",
    "rn_F_dropout_training": "the model is switched to evaluation after export",
    "de_dtype_branch": "the inputs have another dtype",
    "de_default_dtype": "the default dtype is another one",
    "py_globals_config": "a global of the module has another value",
    "io_positional_as_kw": "the program is called with keywords",
    "cf_if_attr": "an attribute of the model is changed after export",
    "da_requires_grad_branch": "the input requires a gradient",
    "id_version": "the input was changed in place as often as another one",
    "io_default_unused": "an argument is given that the example leaves out",
    "io_list_in": "a list is longer, which is not in the recorded inputs",
}
"""Cases whose outcome was seen after something that the record does not say: no input of theirs shows it."""

INPUTS = """
import json
from pathlib import Path

import torch


def value(recorded):
    if "py" in recorded:
        return recorded["py"]
    if "tensor" in recorded:
        dtype = getattr(torch, recorded["dtype"])
        made = torch.tensor([number(n) for n in recorded["tensor"]], dtype=dtype).reshape(recorded["shape"])
        if "stride" in recorded:
            made = torch.empty_strided(recorded["shape"], recorded["stride"], dtype=dtype).copy_(made)
        return made
    if "dict" in recorded:
        return {name: value(item) for name, item in recorded["dict"].items()}
    items = [value(item) for item in recorded.get("list", recorded.get("tuple"))]
    return items if "list" in recorded else tuple(items)


def number(recorded):
    return float(recorded) if isinstance(recorded, str) else recorded


def inputs():
    recorded = json.loads(Path(__file__).with_suffix(".json").read_text())
    return [(value(given["args"]), value(given["kwargs"])) for given in recorded]


def example():
    return inputs()[0]


def others():
    return inputs()[1:]
"""


def main() -> None:
    """Print a line for each mode, and one for each case that came out otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--mode", action="append", choices=MODES, help="only this mode [all]")
    parser.add_argument("--case", action="append", help="only this case [all]")
    parser.add_argument("--gradients", action="store_true", help="compare gradients as well")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what came out of each case")
    arguments = parser.parse_args()
    arguments.json = arguments.json and arguments.json.absolute()
    cases = [json.loads(line) for line in arguments.cases.read_text(encoding="utf-8").splitlines()]
    cases = [case for case in cases if case["inputs"] and (not arguments.case or case["id"] in arguments.case)]
    told: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        os.chdir(root)
        Path("out").mkdir()  # where some of them write to
        for mode in arguments.mode or MODES:
            expected = {case["id"]: case["outcomes"][mode] for case in cases if mode in case["outcomes"]}
            targets = [target(case, mode, root, arguments.gradients) for case in cases if case["id"] in expected]
            told += compare(mode, expected, verify(targets, Path(sys.executable), jobs=arguments.jobs))
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


def target(case: dict[str, Any], mode: str, root: Path, gradients: bool) -> Target:
    """A case as a target, with its files written below the root."""
    name = case["id"]
    file, inputs = root / f"{name}.py", root / f"{name}_inputs.py"
    file.write_text(case["source"], encoding="utf-8")
    inputs.write_text(INPUTS, encoding="utf-8")
    inputs.with_suffix(".json").write_text(json.dumps(case["inputs"]), encoding="utf-8")
    return Target(
        name=name,
        origin="configured",
        model=Reference(name, "M", file),
        inputs=Called(Reference(inputs.stem, "example", inputs)),
        others=Reference(inputs.stem, "others", inputs) if len(case["inputs"]) > 1 else None,
        place=(file, 1),
        root=root,
        paths=(root,),
        modes=(mode_of(mode),),
        dynamic="dynamic" if mode.endswith("_dyn") else "auto",
        varying=() if mode in ("ns", "st") else varying(case["inputs"]),
        train="train" in case["snippet"].partition("(")[2] or "train mode" in case["snippet"],
        gradients=gradients,
        timeout=120,
    )


def varying(inputs: list[dict[str, Any]]) -> tuple[int, ...]:
    """Which dimensions vary: the first one, unless the recorded inputs differ in another one only."""
    found: set[int] = set()
    for other in inputs[1:]:
        for one, changed in zip(shapes(inputs[0]), shapes(other), strict=False):
            found |= {i for i, (a, b) in enumerate(zip(one, changed, strict=False)) if a != b}
    return (0,) if 0 in found or not found else tuple(sorted(found))


def shapes(recorded: Any) -> list[list[int]]:
    """The shapes of all tensors in what is recorded."""
    if isinstance(recorded, list):
        return [shape for item in recorded for shape in shapes(item)]
    if not isinstance(recorded, dict):
        return []
    return [recorded["shape"]] if "tensor" in recorded else shapes(list(recorded.values()))


def mode_of(mode: str) -> Mode:
    """The mode of torch.export that a column of the record is about."""
    return "strict" if mode.startswith("st") else "non-strict"


def compare(mode: str, expected: dict[str, str], runs: Iterator[Run]) -> Iterator[dict[str, Any]]:
    """Print how the verdicts agree with what is expected of each case, and yield each."""
    count: Counter[str] = Counter()
    for run in runs:
        outcome = expected[run.target]
        if run.verdict in VERDICTS[outcome]:
            what = "agrees"
        elif run.verdict == "diverges" and {c.kind for c in disagreements(run)} == {"decomposed"}:
            what = "exports, and is not decomposed"  # which the record does not say
        elif run.verdict == "cannot be built":
            what = "not run"
        else:
            what = "unrecorded" if run.target in UNRECORDED else "differs"
        count[what] += 1
        if what != "agrees":
            why = f" ({UNRECORDED[run.target]})" if what == "unrecorded" else ""
            print(f"  {what}: {run.target}: {outcome}, {run.verdict}: {run.reason}{why}", flush=True)
        blamed = [[(frame.row, frame.function) for frame in failure.frames] for failure in run.failures]
        seen = [f"{c.kind}, {c.label}: {c.agreement}: {c.detail}" for c in run.comparisons if c.agreement != "agrees"]
        yield {
            "mode": mode,
            "case": run.target,
            "outcome": outcome,
            "verdict": run.verdict,
            "what": what,
            "reason": run.reason,
            "seen": seen,
            "blamed": blamed,
            "hints": [hint for failure in run.failures for hint in failure.hints],
            "seconds": run.seconds,
        }
    of_all, of_known = (_share(count["agrees"], n) for n in (count.total(), count["agrees"] + count["differs"]))
    print(f"{mode:8} {of_all} agree; {count['not run']} do not run in eager here", end=", ")
    print(f"of {count['unrecorded']} the record leaves out what shows it; of all others {of_known} agree", flush=True)


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / max(whole, 1):.1%}"


if __name__ == "__main__":
    main()
