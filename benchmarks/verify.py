"""What verifying a model costs over a bare script that builds it, imports torch, and calls torch.export once.

    python benchmarks/verify.py [--repeat N] [--mode MODE] [--stages] [--quick]

Both are whole processes from start to end, under the same Python; the best of `--repeat` runs counts, taken in turn.
`warm` is with a worker that an earlier run has left, as on a terminal and in an editor: its processor time is counted
by its own clock. `again` is with that and with what an earlier run found of the same program, after an edit that leaves
it as it is.
`--stages` shows what the time goes to.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from exportlint.verify.warm import stop

MODELS = {"ResidualNetwork": (3, 64, 64), "TransformerEncoder": (32, 64), "LinearLayer": (8,)}
"""What to export, and the sizes of the example but for the first, which is 2 and varies."""

CODE = '''
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels, stride):
        super().__init__()
        self.first = nn.Conv2d(channels // stride, channels, 3, stride, 1, bias=False)
        self.one = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.two = nn.BatchNorm2d(channels)
        self.shortcut = nn.Identity() if stride == 1 else nn.Conv2d(channels // stride, channels, 1, stride)

    def forward(self, x):
        y = self.two(self.second(self.one(self.first(x)).relu()))
        return (y + self.shortcut(x)).relu()


class ResidualNetwork(nn.Module):
    """As ResNet-18 is: 18 convolutions in four stages, a fourth as wide."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 7, 2, 3, bias=False)
        self.pool = nn.MaxPool2d(3, 2, 1)
        stages = ((16, 1), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1))
        self.blocks = nn.Sequential(*(Block(*stage) for stage in stages))
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.blocks(self.pool(self.stem(x).relu())).mean((2, 3)))


class TransformerEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)

    def forward(self, x):
        return self.encoder(x)


class LinearLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)
'''

NAMES = ("verified", "warm", "again")

BARE = """
import torch
from models import {name}

shapes = ({{0: torch.export.Dim.AUTO}},)
torch.export.export({name}().eval(), (torch.randn{sizes},), dynamic_shapes=shapes, strict={strict})
"""

VERIFY = """
import sys
from pathlib import Path
from exportlint.verify.run import verify
from exportlint.verify.specs import TensorSpec
from exportlint.verify.target import Reference, Target, Written

root = Path.cwd()
inputs = Written((TensorSpec("float32", ("batch", *{sizes}[1:])),), dimensions={{"batch": 2}})
place = (root / "models.py", 1)
model = Reference("models", "{name}", root / "models.py")
target = Target("model", "configured", model, inputs, place, root, (root,), modes=("{mode}",))
(run,) = verify([target], Path(sys.executable))
assert run.verdict == "exports", run
"""

WARM = VERIFY.replace(
    "(run,) = verify([target], Path(sys.executable))",
    """
import dataclasses, json, os
from exportlint.verify.cache import Cache
from exportlint.verify.interpreter import ask
from exportlint.verify.warm import Warmth

interpreter = ask(Path(sys.executable))
warmth = Warmth(root / "workers", interpreter, 600)
cache = Cache(root / "cache", interpreter) if {cached} else None
if cache:  # as after an edit of a comment: the run is another one, the program is not
    with Path("models.py").open("a") as file:
        file.write("#\\n")
(run,) = verify([target], Path(sys.executable), warmth=warmth, cache=cache)""",
)
"""The worker is warm from the second time on."""

STAGES = VERIFY.replace(
    "(run,)",
    """
import time
from exportlint.verify.protocol import job
from exportlint.verify.slot import Slot

spent, last, what = {{}}, time.monotonic(), "python, torch"

def take(event):
    global last, what
    if "stage" in event or "probe" in event:
        now = time.monotonic()
        spent[what] = spent.get(what, 0.0) + now - last
        last, what = now, event.get("probe", event.get("stage"))

slot = Slot(Path(sys.executable))
slot.run(job(target, "{mode}", "cpu", 1), take)
slot.close()
for what, seconds in spent.items():
    if seconds >= 0.01:
        print(f"    {{seconds:6.2f}} s  {{what}}")
sys.exit()
(run,)""",
)


def main() -> None:
    """Print a line for each model, and what it is made up of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, metavar="N", help="run everything N times [5, with --quick 1]")
    parser.add_argument("--quick", action="store_true", help="the smallest model, once, for CI")
    parser.add_argument(
        "--mode", choices=("non-strict", "strict"), default="non-strict", help="the tracer [non-strict]"
    )
    parser.add_argument("--stages", action="store_true", help="also print what each is made up of")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "models.py").write_text(CODE, encoding="utf-8")
        Path(directory, "workers").mkdir(mode=0o700)
        for name, sizes in list(MODELS.items())[-1 if arguments.quick else 0 :]:
            values = {"name": name, "sizes": (2, *sizes), "mode": arguments.mode, "strict": arguments.mode == "strict"}
            codes = [BARE, VERIFY, WARM.replace("{cached}", "False"), WARM.replace("{cached}", "True")]
            for code in codes[2:]:
                seconds(code.format(**values), directory)
            times = [
                [seconds(code.format(**values), directory) for code in codes]
                for _ in range(arguments.repeat or (1 if arguments.quick else 5))
            ]
            for i, what in enumerate(("wall time", "processors")):
                bare, *others = (min(one[i] for one in column) for column in zip(*times, strict=True))
                told = (
                    f"{word} {taken:6.2f} s, {taken / bare:5.2f}x" for word, taken in zip(NAMES, others, strict=True)
                )
                print(f"{name:20} {what:10} {bare:6.2f} s; {'; '.join(told)}", flush=True)
            if arguments.stages:
                seconds(STAGES.format(**values), directory)
        stop(Path(directory, "workers"))


def seconds(code: str, directory: str) -> tuple[float, float]:
    """The time that a process takes, and what it has of processors together with those it starts."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    began, before, waiting = time.monotonic(), os.times(), of_workers(directory)
    subprocess.run([sys.executable, "-c", code], cwd=directory, env=environment, check=True)
    after, taken = os.times(), time.monotonic() - began
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return taken, spent + sum(used - waiting.get(worker, 0.0) for worker, used in of_workers(directory).items())


def of_workers(directory: str) -> dict[str, float]:
    """The processor time of each worker that waits there, with that of the processes that it forked and waited for.

    Forks that still run are left out: what they have used is their worker's once they end, and would be missing after a
    run that finds them gone.
    """
    stats, place = {}, os.fsencode(Path(directory, "workers"))
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if place in (process / "cmdline").read_bytes():
                stats[process.name] = (process / "stat").read_text().rpartition(")")[2].split()
    workers = {pid: fields[11:15] for pid, fields in stats.items() if fields[1] not in stats}
    return {pid: sum(map(int, times)) / os.sysconf("SC_CLK_TCK") for pid, times in workers.items()}


if __name__ == "__main__":
    main()
