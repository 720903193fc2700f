"""Measures for how many classes that need no constructor argument inputs are found which run in eager.

    python scripts/verify_inputs.py corpus.json SOURCES --prepare harness/b_pb.py:prep -o out.jsonl --part 0/4

`corpus.json` names the files, SOURCES is where they are laid out. Each file is imported in a process of its own, each
class worked on in a child of that, with a time limit. What is imported may stand on modules that are replaced by mocks,
which functions given by `--prepare` see to; a class whose `forward` calls a mock is counted apart, for what such a call
gives says nothing. `--part I/N` takes every Nth file, chosen by a digest of its name. Seconds are the processor's.
"""

from __future__ import annotations

import argparse
import ast
import collections
import dataclasses
import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import re
import resource
import select
import signal
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from exportlint.verify.specs import DictSpec, ListSpec, Spec, TensorSpec
from exportlint.verify.targets.hints import hints_of

KINDS = (
    ("the model lacks something", r"(NameError|ImportError|ModuleNotFoundError|NotImplementedError)|has no attribute"),
    ("a device or an old torch", r"CUDA|cuda|Legacy autograd|removed"),
    (
        "a size or a rank",
        r"[Ss]izes?\b|shape|[Dd]imension|\dD\b|unpack|channels|multiplied|out of (?:range|bounds)|indices for",
    ),
    ("a dtype or values", r"dtype|scalar type|Long|Float|between 0 and 1|Boolean value"),
    ("an assertion", r"AssertionError"),
    ("another kind of argument", r"TypeError|KeyError"),
)
FAILED = ("not found", "timed out", "crashed", "broken")
LIMIT = 120.0  # seconds for a class, on a machine that may have other things to do


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--prepare", action="append", default=[], metavar="FILE:FUNCTION", help="call before importing")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--no-hints", action="store_true")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    models = json.loads(options.corpus.read_text())["models"]
    results = []
    out = options.output.open("w") if options.output else None
    for root, file in sorted({(model["root"], model["file"]) for model in models}):
        folder = options.sources / root.split("@")[0].split("==")[0].replace("/", "+").replace(":", "+")
        chosen = int(hashlib.sha256(file.encode()).hexdigest(), 16) % parts == part
        if not chosen or options.only not in f"{folder}/{file}" or not (folder / file).exists():
            continue
        for result in in_child(lambda: measured(folder, file, options), 3600):  # noqa: B023
            result = {"file": file, "folder": folder.name, **result}
            results.append(result)
            if out:
                out.write(json.dumps(result) + "\n")
                out.flush()
    report(results)


def measured(folder: Path, file: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What comes of each class of a file."""
    names = candidates(folder / file)
    if not names:
        return
    try:
        module = imported(folder, file, options.prepare)
    except BaseException as error:
        for name in names:
            yield {"class": name, "outcome": "no import", "error": f"{type(error).__name__}: {error}"[:300]}
        return
    for name in names:
        found = list(in_child(lambda: worked(module, name, options), LIMIT))  # noqa: B023
        yield {"class": name, **(found[-1] if found else {"outcome": "crashed"})}


def worked(module: types.ModuleType, name: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What comes of one class."""
    import torch

    from exportlint.verify import worker

    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    cls = getattr(module, name, None)
    if not (isinstance(cls, type) and issubclass(cls, torch.nn.Module)):
        yield {"outcome": "no module"}
        return
    if needs_arguments(cls):
        yield {"outcome": "needs arguments"}
        return
    yield {"outcome": "build timed out"}
    try:
        torch.manual_seed(0)
        model = cls().eval()
    except BaseException as error:
        yield {"outcome": "no build", "error": f"{type(error).__name__}: {error}"[:300]}
        return
    mocks = count_mocks()
    start = time.process_time()
    yield {"outcome": "timed out"}
    try:
        hints = {} if options.no_hints else hints_of_class(cls)
        example = worker.infer(model, hints, (0,), "cpu", seconds=options.seconds)
    except LookupError as error:
        yield {
            "outcome": "mocked" if mocks[0] else "not found",
            "error": str(error),
            "seconds": time.process_time() - start,
        }
        return
    except BaseException as error:
        yield {
            "outcome": "broken",
            "error": "".join(traceback.format_exception(error))[-1500:],
            "seconds": time.process_time() - start,
        }
        return
    seconds = time.process_time() - start
    mocks[0] = 0
    before = mocks[0]
    with torch.no_grad():
        model(*example.arguments, **example.keywords)
    shown = [
        str(tuple(a.shape)) + str(a.dtype)[6:] if isinstance(a, torch.Tensor) else repr(a)[:80]
        for a in [*example.arguments, *example.keywords.values()]
    ]
    yield {
        "outcome": "mocked" if mocks[0] > before else "found",
        "inputs": shown,
        "dynamic": repr(example.dynamic),
        "seconds": seconds,
    }


def needs_arguments(cls: type) -> bool:
    """Whether the constructor, which may be inherited, has parameters without a default."""
    parameters = inspect.signature(cls).parameters.values()
    return any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def hints_of_class(cls: Any) -> dict[str, Any]:
    """What the code of `forward` says, as the worker gets it."""
    code = inspect.unwrap(cls.forward).__code__
    lines = Path(code.co_filename).read_text("utf-8", "replace").splitlines()
    first = code.co_firstlineno
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef) and first in (node.lineno, *(item.lineno for item in node.decorator_list)):
            return {name: [as_json(spec) for spec in specs] for name, specs in hints_of(node, lines).items()}
    return {}


def as_json(spec: Spec) -> dict[str, Any]:
    """A spec as the worker gets it."""
    if isinstance(spec, TensorSpec):
        return {"tensor": dataclasses.asdict(spec)}
    if isinstance(spec, ListSpec):
        return {"tuple" if spec.is_tuple else "list": [as_json(item) for item in spec.items]}
    if isinstance(spec, DictSpec):
        return {"dict": {key: as_json(item) for key, item in spec.items.items()}}
    return {"value": spec.value}


def candidates(path: Path) -> list[str]:
    """The classes at the top of a file with a `forward`, whose constructor, if it is there, needs nothing."""
    names = []
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ClassDef):
            functions = {item.name: item.args for item in node.body if isinstance(item, ast.FunctionDef)}
            made = functions.get("__init__")
            needs = made and (len(made.posonlyargs + made.args) - 1 > len(made.defaults) or None in made.kw_defaults)
            if "forward" in functions and not needs:
                names.append(node.name)
    return names


def imported(folder: Path, file: str, prepare: list[str]) -> types.ModuleType:
    """A module: as part of its package, or by itself."""
    os.environ["CORPUS_SOURCES"] = str(folder.parent)
    for call in prepare:
        path, _, function = call.rpartition(":")
        sys.path.insert(0, str(Path(path).parent))
        getattr(importlib.import_module(Path(path).stem), function)()
    if (folder / file).with_name("__init__.py").exists():
        others = (str(other) for other in folder.parent.iterdir() if other.name.startswith("pip+"))
        sys.path[:0] = [str(folder), *others]
        return importlib.import_module(file.removesuffix(".py").replace("/", "."))
    spec = importlib.util.spec_from_file_location(f"measured_{Path(file).stem}", folder / file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    import torch

    torch.set_default_dtype(torch.float32)
    return module


def count_mocks() -> list[int]:
    """How often a mock is called, from now on."""
    from unittest import mock

    calls = [0]
    original = mock.CallableMixin.__call__

    def counted(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        return original(self, *args, **kwargs)

    mock.CallableMixin.__call__ = counted  # type: ignore[assignment, method-assign]
    return calls


def in_child(work: Callable[[], Iterator[dict[str, Any]]], limit: float) -> Iterator[dict[str, Any]]:
    """What a child process yields, until it ends or its time is over."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        try:
            with os.fdopen(writer, "w") as pipe:
                for item in work():
                    pipe.write(json.dumps(item) + "\n")
                    pipe.flush()
        finally:
            os._exit(0)
    os.close(writer)
    end = time.monotonic() + limit
    buffer = b""
    while (left := end - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            break
        read = os.read(reader, 1 << 16)
        if not read:
            break
        buffer += read
        while b"\n" in buffer:
            line, buffer = buffer.split(b"\n", 1)
            yield json.loads(line)
    os.close(reader)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def kind_of(result: dict[str, Any]) -> str:
    """What was the matter, in a few words."""
    said = result.get("error", result["outcome"]).rpartition("]: ")[2]
    return next((kind for kind, pattern in KINDS if re.search(pattern, said)), "something else")


def report(results: list[dict[str, Any]]) -> None:
    """The table."""
    outcomes = collections.Counter((result["folder"], result["outcome"]) for result in results)
    for (folder, outcome), count in sorted(outcomes.items()):
        print(f"{folder:40} {outcome:16} {count:5}")
    failed = collections.Counter(kind_of(result) for result in results if result["outcome"] in FAILED)
    for kind, count in failed.most_common():
        print(f"not found: {kind:45} {count:5}")
    total = collections.Counter(result["outcome"] for result in results)
    tried = [result for result in results if result["outcome"] in ("found", *FAILED)]
    seconds = sorted(result["seconds"] for result in tried if result["outcome"] == "found")
    print(dict(total))
    if seconds:
        print(f"found for {len(seconds)} of {len(tried)} ({len(seconds) / len(tried):.1%})")
        at = {"median": 0.5, "90 %": 0.9, "most": 1.0}
        times = {name: seconds[round((len(seconds) - 1) * share)] for name, share in at.items()}
        print("seconds:", ", ".join(f"{name} {value:.2f}" for name, value in times.items()))


if __name__ == "__main__":
    import torch  # noqa: F401  # once, and not in each child

    main()
