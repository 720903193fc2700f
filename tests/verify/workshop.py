"""Targets of a few lines, and what is left running of them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from exportlint.verify.family import VARIABLE
from exportlint.verify.slot import Slot
from exportlint.verify.specs import TensorSpec
from exportlint.verify.target import Reference, Target, Written
from exportlint.verify.task import Result, Task, do
from tests.cli.runner import write
from tests.forking import python
from tests.patience import PATIENCE

MARK = f"EXPORTLINT_TEST_RUN={os.environ.setdefault('EXPORTLINT_TEST_RUN', str(os.getpid()))}".encode()
"""What is in the environment of all that this test run starts."""

SECONDS = f"60.{os.environ['EXPORTLINT_TEST_RUN']:>09}"
"""A time to sleep for, by which a process is known that has another environment."""

HEAD = "import ctypes, os, signal, subprocess, sys, threading, time\nimport torch\nfrom torch import nn\n"


def module(body: str = "return x + 1", *, first: str = "", constructor: str = "") -> str:
    """A module with a class `Model` whose `forward(self, x)` has this body."""
    lines = ["class Model(nn.Module):"]
    if constructor:
        lines += ["    def __init__(self):", "        super().__init__()", *indented(constructor)]
    lines += ["    def forward(self, x):", *indented(body)]
    return HEAD + first + "\n" + "\n".join(lines) + "\n"


def verified(root: Path, models: str, configuration: str) -> dict[str, Any]:
    """What `exportlint verify` reports of a project with a module `models`, in both modes, as JSON."""
    write(root, {"models.py": models, "exportlint.toml": configuration})
    done = subprocess.run(
        [*python(), "-m", "exportlint", "verify", "--mode", "both", "--output-format", "json", "--no-cache"],
        cwd=root, env={**os.environ, "XDG_CACHE_HOME": str(root / "cache")}, capture_output=True, text=True,
        check=False, timeout=PATIENCE,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def indented(code: str) -> list[str]:
    return [f"        {line}" for line in code.splitlines()]


def target(directory: Path, code: str, name: str = "model", **options: Any) -> Target:
    """Write a module, and say how to build and call its `Model`."""
    file = directory / f"{name}.py"
    file.write_text(code, encoding="utf-8")
    return Target(
        name=name,
        origin="configured",
        model=Reference(name, "Model", file),
        inputs=Written((TensorSpec("float32", (2, 3)),)),
        place=(file, 1),
        root=directory,
        paths=(directory,),
        **{"timeout": PATIENCE, **options},
    )


def result(slot: Slot, of: Target) -> Result:
    done = do(Task(of, of.modes[0], of.devices[0]), slot, lambda _: None)
    assert done is not None
    return done


def running() -> list[str]:
    """The command lines of what this test run has started through a worker, and of the workers."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                command, environment = ((process / part).read_bytes() for part in ("cmdline", "environ"))
            except OSError:
                continue
            if (MARK in environment.split(b"\0") and VARIABLE.encode() in environment) or SECONDS.encode() in command:
                found.append(command.replace(b"\0", b" ").decode(errors="replace"))
    return found
