"""Targets that are verified by executors of others."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from exportlint.verify.executor import ExecutorError, load_executor, verify_with
from tests.verify.workshop import HEAD, module, running, target

pytestmark = pytest.mark.thorough

PYTHON = Path(sys.executable)


def threads() -> Executor:
    return ThreadPoolExecutor(2)


POOL = ThreadPoolExecutor(1)


class Factories:
    @staticmethod
    def broken() -> Executor:
        raise ConnectionError("no cluster\nat all")


@pytest.mark.parametrize("name", ["threads", "POOL"])
def test_by_import_path(name: str) -> None:
    with load_executor(f"tests.verify.test_executor:{name}") as executor:
        assert executor.submit(lambda: 3).result() == 3


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("tests.verify", "expected `package.module:name`"),
        ("nowhere:threads", "ModuleNotFoundError: No module named 'nowhere'"),
        ("tests.verify.test_executor:nothing", "AttributeError: "),
        ("tests.verify.test_executor:Factories.broken", "ConnectionError: no cluster"),
        ("tests.verify.test_executor:PYTHON", "it is a PosixPath, which has no `submit`"),
    ],
)
def test_wrong_ones(reference: str, message: str) -> None:
    with pytest.raises(ExecutorError) as error:
        load_executor(reference)
    assert f"--executor {reference}: {message}" in str(error.value)
    assert "\n" not in str(error.value)


def broken_ones(directory: Path, count: int) -> Iterator[Any]:
    for number in range(count):
        yield target(directory, HEAD + f"raise ValueError('number {number}')", f"broken{number}")


def test_processes(tmp_path: Path) -> None:
    """What is submitted can be sent to another process, and what comes back as well."""
    good = target(tmp_path, module(), "good", modes=("non-strict", "strict"))
    with ProcessPoolExecutor(1) as executor:
        runs = list(verify_with(executor, [good, *broken_ones(tmp_path, 1)], PYTHON))
    assert [(run.target, run.mode, run.verdict) for run in runs] == [
        ("good", "non-strict", "exports"),
        ("good", "strict", "exports"),
        ("broken0", "non-strict", "cannot be built"),
    ]
    assert "number 0" in runs[-1].reason


class Idle(Executor):
    """Never gets to anything."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        self.futures.append(Future())
        return self.futures[-1]


def test_cancelled(tmp_path: Path) -> None:
    executor, cancelled = Idle(), threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    assert list(verify_with(executor, list(broken_ones(tmp_path, 2)), PYTHON, cancelled=cancelled)) == []
    assert [future.cancelled() for future in executor.futures] == [True, True]


def test_an_executor_that_fails(tmp_path: Path) -> None:
    executor = Idle()
    runs = verify_with(
        executor,
        list(broken_ones(tmp_path, 1)),
        PYTHON,
        tell=lambda _: executor.futures[0].set_exception(OSError("no route\nto host")),
    )
    (run,) = runs
    assert (run.verdict, run.reason) == ("cannot be built", "the executor failed: OSError: no route")


def test_dask(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra `distributed`")
    good = target(tmp_path, module(), "good")
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        runs = list(verify_with(client.get_executor(), [good, *broken_ones(tmp_path, 1)], PYTHON))
    assert {run.target: run.verdict for run in runs} == {"good": "exports", "broken0": "cannot be built"}
    assert running() == []
