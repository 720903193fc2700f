"""Calls that ask the host for a value: random numbers, the clock, the environment, torch's settings."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.baked_values import Baked, Source
from exportlint.analysis.domain.values import PYTHON, Const, External, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import draw, spend
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.environment import Drawn
from exportlint.analysis.models.plain_numbers import note_any_numbers

SOURCES: dict[str, Source] = {
    **dict.fromkeys(("os.urandom", "uuid.uuid1", "uuid.uuid4"), "random"),
    **dict.fromkeys(("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today"), "clock"),
    **dict.fromkeys(("datetime.date.today", "timeit.default_timer"), "clock"),
    **dict.fromkeys(("os.getenv", "os.environ.get", "os.environb.get", "os.getenvb"), "environment"),
    **dict.fromkeys(("os.getpid", "os.getcwd", "os.cpu_count", "os.listdir", "os.stat", "os.access"), "environment"),
    **dict.fromkeys(("os.path.exists", "os.path.isfile", "os.path.isdir", "os.path.getmtime"), "environment"),
    **dict.fromkeys(("socket.gethostname", "platform.node", "getpass.getuser"), "environment"),
    **dict.fromkeys(("torch.Generator", "torch.manual_seed", "torch.random.manual_seed"), "generator"),
    **dict.fromkeys(("torch.initial_seed", "torch.random.initial_seed", "torch.random.fork_rng"), "generator"),
    **dict.fromkeys((f"torch.{p}{f}_rng_state" for p in ("", "random.") for f in ("get", "set")), "generator"),
    **dict.fromkeys(("torch.get_default_dtype", "torch.get_default_device"), "default"),
}
LIBRARIES: dict[str, Source] = {"random": "random", "secrets": "random", "numpy.random": "random", "time": "clock"}
SETTERS = frozenset({"random.seed", "random.setstate", "numpy.random.seed", "numpy.random.set_state"})
CALENDAR = frozenset({"time.mktime", "time.strptime", "time.struct_time"})
"""Functions of `time` that compute with what they are given."""

GENERATORS = {
    "random.Random": "random",
    "random.SystemRandom": "random",
    "numpy.random.default_rng": "numpy.random",
    "numpy.random.RandomState": "numpy.random",
    "numpy.random.Generator": "numpy.random",
}
"""Classes of generators, and the module whose functions do what their methods do."""


def ask_host(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
    """What a call of the host gives; None if the name is that of something else."""
    if name in GENERATORS:
        # one that is made with a seed in the call gives the same numbers each time
        seeded = bool(arguments.values) and not frame.engine.eager
        if seeded:
            frame.emit(Drawn, node, source="random", api=name.replace("numpy", "np", 1))
        return PYTHON if seeded else External(GENERATORS[name])
    source = SOURCES.get(name) or LIBRARIES.get(name.rpartition(".")[0])
    if source is None or name in CALENDAR:
        return None
    if frame.engine.eager and name == "torch.Generator":
        return Baked("generator", name, trail=frame.trail(node, "`{}` is a generator"))
    note_any_numbers(frame, arguments, node)
    value = draw(frame, node, source, name.replace("numpy", "np", 1), array=_gives_array(name, arguments))
    if name.endswith(".shuffle"):
        spend(frame, value, node, "choice")
    return Const(None) if name in SETTERS or name == "time.sleep" else value


def _gives_array(name: str, arguments: Arguments) -> bool:
    if not name.startswith("numpy.random."):
        return False
    sized = {"rand": 1, "randn": 1, "random": 1, "random_sample": 1, "permutation": 1, "choice": 2}
    return "size" in arguments.keywords or len(arguments.positional) >= sized.get(name.rpartition(".")[2], 3)
