"""Inputs that nobody wrote down, found by trying."""

from __future__ import annotations

import heapq
import inspect
import itertools
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .candidates import KINDS, SIZES, Candidate, describe, dims_at, every_dim, fits, with_sizes
from .errors import BLIND, Said, Trial, blamed_by, exception_line, is_hopeless
from .frames import chain_of
from .lazily import torch
from .mending import mend_sizes
from .parameters import Wish, duplicate, floating_dtype, is_needed, parameters_of, wish_of
from .specs import make_value
from .trees import (
    DIMENSIONS,
    Place,
    arranged,
    as_json,
    containers,
    dims_of,
    dynamic_of,
    filled,
    leaf_specs,
    replaced,
    reshaped,
    tensor_spec,
)
from .watching import Budget, OutOfTimeError, mark_inputs, spy_class
from .words import Example, Spec

HOPELESS = 4  # after how many errors of the model itself, that no input mends, it is given up


def infer(
    model: Any,
    hints: Mapping[str, Sequence[Any]],
    vary: Sequence[int],
    device: str,
    *,
    seconds: float = 10.0,
    tries: int = 200,
) -> Example:
    """Inputs with which the model runs in eager.

    `hints` are specs for arguments of `forward`, the likeliest first; a size `...` stands for any number of dimensions.
    `vary` are the dimensions that may vary: they do where all the tensors that share a size can have another one.

    Raises:
        LookupError: none were found; the message says what was tried and what was the matter with the best of it.
    """
    search = Search(model, hints, device, Budget(seconds), tries)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the work of all threads counts, and for small inputs they mostly wait
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return search.example(search.run(), vary)
    finally:
        torch.set_num_threads(threads)


class Search:
    """Finds inputs of one model within a deadline and a number of tries."""

    def __init__(self, model: Any, hints: Mapping[str, Sequence[Any]], device: str, budget: Budget, tries: int) -> None:
        self.model = duplicate(model)
        self.parameters = parameters_of(model)
        self.device = device
        self.budget = budget
        self.tries = tries
        self.tried = 0
        self.floating = floating_dtype(model)
        self.wish = next((wish for layer in model.modules() if (wish := wish_of(layer))), None)
        self.options = {name: [as_json(spec) for spec in hints.get(name, ())] for name in self.parameters}

    def run(self) -> Candidate:
        """The first candidate that runs."""
        queue: list[tuple[int, int, int, int, Candidate]] = []  # what got farthest comes first
        cheap: list[tuple[int, int, int, Candidate]] = []  # what is least far-fetched comes first, however far it got
        order = itertools.count()
        seen: set[str] = set()

        def push(depth: int, cost: int, candidate: Candidate) -> None:
            cost += candidate.weight()
            if cost < 3 * BLIND:
                number = next(order)
                heapq.heappush(queue, (cost // BLIND, -depth, cost, number, candidate))
                heapq.heappush(cheap, (cost, number, depth, candidate))

        for cost, start in enumerate(self.starts()):
            push(0, cost, start)
        best: tuple[int, Candidate | None, Trial] = (-1, None, Trial(0))
        hopeless = 0
        while queue and self.tried < self.tries and not self.budget.is_spent():
            if self.tried % 4 == 3 and cheap:
                cost, _, reached, candidate = heapq.heappop(cheap)
            else:
                _, reached, cost, _, candidate = heapq.heappop(queue)
                reached = -reached
            key = candidate.key()
            if key in seen or not fits(candidate):
                continue
            seen.add(key)
            trial = self.attempt(candidate)
            if trial.error is None:
                return candidate
            if trial.depth > best[0]:
                best = (trial.depth, candidate, trial)
            if is_hopeless(trial.error):
                hopeless += trial.depth >= best[0]
                if hopeless >= HOPELESS:
                    break
                continue
            spent = 0 if trial.depth > reached else cost
            for more, mended in self.mend(candidate, trial):
                push(trial.depth, spent + more, mended)
        said = "no time was left"
        if best[1]:
            error = f"{type(best[2].error).__name__}: {exception_line(best[2].error)}"
            said = f"the try that got farthest, with {', '.join(describe(best[1]))}, raised {error}"
        raise LookupError(f"no inputs were found in {self.tried} tries; {said}")

    def starts(self) -> Iterator[Candidate]:
        """What is tried first: what the code says, and for the rest what suits the first layer, images, and others."""
        shapes: list[Wish] = [(self.floating, DIMENSIONS[rank], {}, None) for rank in (4, 3, 2, 5, 1)]
        if self.wish is not None:
            shapes.insert(0, self.wish)
        needed = [name for name, parameter in self.parameters.items() if is_needed(parameter)]
        if not needed:
            needed = [name for name, parameter in self.parameters.items() if parameter.kind == parameter.VAR_POSITIONAL]
        most = max([len(shapes), *(len(self.options[name]) for name in needed)])
        for turn in range(most if needed else 1):
            dtype, dims, sizes, high = shapes[min(turn, len(shapes) - 1)]
            plain = tensor_spec(dtype, dims, high)
            specs = {}
            for name in needed:
                options = self.options[name] or [plain]
                spec = filled(options[min(turn, len(options) - 1)], dims)
                specs[name] = (
                    {"tuple": [spec]} if self.parameters[name].kind == inspect.Parameter.VAR_POSITIONAL else spec
                )
            yield with_sizes(Candidate(specs, {**SIZES, **sizes}))

    # -- trying

    def values(self, candidate: Candidate, seed: int = 0) -> dict[str, Any]:
        """What a candidate stands for, by arguments."""
        generator = torch.Generator().manual_seed(seed)
        return {
            name: make_value(spec, candidate.sizes, generator, self.device) for name, spec in candidate.specs.items()
        }

    def call(self, candidate: Candidate, seed: int = 0) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a candidate stands for, as a call gives it."""
        return arranged(self.parameters, self.values(candidate, seed))

    def attempt(self, candidate: Candidate) -> Trial:
        """Call the model."""
        self.tried += 1
        model = duplicate(self.model, share=True)
        layers: dict[Place, Any] = {}
        try:
            values = self.values(candidate)
        except Exception as error:
            return Trial(-1, error)
        mark_inputs(candidate, values)
        arguments, keywords = arranged(self.parameters, values)

        def entered(layer: Any, inputs: tuple[Any, ...]) -> None:
            if layer is not model and (wish := wish_of(layer)):
                for value in inputs:
                    if (path := getattr(value, "_exportlint_path", None)) is not None:
                        layers.setdefault(path, wish)

        spy = spy_class()(self.budget)
        torch.manual_seed(0)
        random.seed(0)
        failed: BaseException | None = None
        hook = torch.nn.modules.module.register_module_forward_pre_hook(entered)
        try:
            with spy:
                model(*arguments, **keywords)
        except OutOfTimeError:
            return Trial(spy.depth, TimeoutError("the call took too long"))
        except (Exception, SystemExit) as raised:
            failed = raised
        finally:
            hook.remove()
        if failed is not None:
            if "require grad" in str(failed) and not torch.is_grad_enabled():
                torch.set_grad_enabled(True)  # the model differentiates when it runs: from now on, all tries do
                return self.attempt(candidate)
            failed = self.plainly(candidate, failed)
            if failed is None:
                return Trial(spy.depth)
            words, marks = blamed_by(failed, self.model)
            marks = spy.marks or marks
            blamed = frozenset(path for path, _ in leaf_specs(candidate.specs) if path in marks)
            return Trial(spy.depth, failed, blamed, frozenset(words), spy.sizes, layers)
        return Trial(spy.depth) if self.runs(candidate) else Trial(spy.depth, RuntimeError("it runs only sometimes"))

    def runs(self, candidate: Candidate, seed: int = 0) -> bool:
        """Whether the model can be called so, with nobody looking."""
        return self.error_of(candidate, seed) is None

    def error_of(self, candidate: Candidate, seed: int = 0) -> BaseException | None:
        """What the model raises when it is called so, with nobody looking; None if it runs."""
        try:
            arguments, keywords = self.call(candidate, seed)
            duplicate(self.model)(*arguments, **keywords)
        except (Exception, SystemExit) as error:
            return error
        return None

    def plainly(self, candidate: Candidate, error: BaseException) -> BaseException | None:
        """What a model raises when nobody looks: `torch.cond` has Dynamo trace it, which cannot trace who looks."""
        if not any(type(link).__module__.startswith("torch._dynamo") for link in chain_of(error)):
            return error
        return self.error_of(candidate)

    # -- mending

    def mend(self, candidate: Candidate, trial: Trial) -> Iterator[tuple[int, Candidate]]:
        """Candidates that may get farther, each with its cost: the less the error points to it the more."""
        said = Said(trial.error)
        everything = list(leaf_specs(candidate.specs))
        for path, leaf in everything:
            innocent = 0 if not trial.blamed or path in trial.blamed else 3
            for cost, mended in self.mend_leaf(candidate, path, leaf, trial, said):
                yield cost + innocent, mended
        yield from mend_sizes(candidate, trial, said)
        yield from self.mend_arguments(candidate, trial, said)

    def mend_leaf(
        self, candidate: Candidate, path: Place, leaf: Spec, trial: Trial, said: Said
    ) -> Iterator[tuple[int, Candidate]]:
        """Another rank, dtype, range, or kind of one value."""
        tensor = leaf.get("tensor")
        if tensor is not None and path in trial.layers:
            dtype, dims, sizes, high = trial.layers[path]
            if dims[-1] == "features" and dtype == tensor["dtype"] and len(tensor["shape"]) > len(dims):
                # Linear layers take any number of dimensions.
                own = f"{path[0]}_features"
                kept = candidate.put(path, tensor_spec(dtype, [*tensor["shape"][:-1], own], high))
                yield 0, with_sizes(Candidate(kept.specs, {**kept.sizes, own: sizes["features"]}))
            wished = Candidate(replaced(candidate.specs, path, tensor_spec(dtype, dims, high)), candidate.sizes)
            yield 0, with_sizes(Candidate(wished.specs, {**wished.sizes, **sizes}))
            alone = {dim: f"{path[0]}_{dim}" for dim in sizes}
            shape = tuple(alone.get(dim, dim) for dim in dims)
            renamed = {alone[dim]: size for dim, size in sizes.items()}
            yield (
                1,
                with_sizes(
                    Candidate(
                        replaced(candidate.specs, path, tensor_spec(dtype, shape, high)), {**candidate.sizes, **renamed}
                    )
                ),
            )
        if tensor is not None:
            shape = tensor["shape"]
            for other in reshaped(shape):
                cost = said.cost_of_rank(len(other), len(shape))
                yield cost + 1, with_sizes(candidate.put(path, {"tensor": {**tensor, "shape": other}}))
                alike = [place for place, spec in leaf_specs(candidate.specs) if dims_of(spec) == shape]
                beside = [place for place in alike if place[:-1] == path[:-1]]
                for group in (alike, beside) if alike != beside else (alike,):
                    if len(group) > 1:
                        yield cost, with_sizes(candidate.shaped(group, other))
            for sizes in said.shapes:
                if sizes != [candidate.size(dim) for dim in shape]:
                    listed = {f"{path[0]}_{i}": size for i, size in enumerate(sizes)}
                    changed = candidate.put(path, {"tensor": {**tensor, "shape": list(listed)}})
                    yield 2, Candidate(changed.specs, {**candidate.sizes, **listed})
            for dtype in ("int64", "float32", "bool", "uint8", "float64", "complex64"):
                if dtype != tensor["dtype"]:
                    yield said.cost_of_dtype(dtype, tensor["dtype"]), candidate.put(path, tensor_spec(dtype, shape))
            cost = 2 if said.of_values else BLIND + 2
            for low, high in ((0, 1),) if "float" in tensor["dtype"] else ((1, 2), (0, 1), (0, 2)):
                if tensor["dtype"] != "bool" and (tensor.get("low"), tensor.get("high")) != (low, high):
                    yield cost, candidate.put(path, {"tensor": {**tensor, "low": low, "high": high}})
        yield from self.mend_kind(candidate, path, leaf, trial, said)

    def mend_kind(
        self, candidate: Candidate, path: Place, leaf: Spec, trial: Trial, said: Said
    ) -> Iterator[tuple[int, Candidate]]:
        """Something else in place of one value."""
        tensor = leaf if "tensor" in leaf else tensor_spec(self.floating, self.wish[1] if self.wish else DIMENSIONS[4])
        for cost, option in enumerate(self.options[path[0]] if len(path) == 1 else ()):
            if option != leaf:
                yield 3 + cost, with_sizes(candidate.put(path, filled(option, DIMENSIONS[4])))
        named = path[-1] in trial.words or said.type_error
        for kind, values in KINDS.items():
            for value in values:
                if leaf != {"value": value}:
                    yield said.cost_of_kind(kind) + (0 if named else 1), candidate.put(path, {"value": value})
        for number in said.numbers:
            if "value" in leaf and isinstance(leaf["value"], int):
                yield 3, candidate.put(path, {"value": number})
        yield BLIND + 4, candidate.put(path, {"value": None})
        if "tensor" not in leaf:
            yield 2 if said.attribute or said.type_error else BLIND, with_sizes(candidate.put(path, tensor))
        for count in sorted({*said.counts, 1, 2, 3, 4}):
            cost = 2 if count in said.counts else 3 + count if said.more else BLIND + count
            yield cost, with_sizes(candidate.put(path, {"list": [tensor] * count}))
        if said.attribute in dir(dict) or said.missing_key is not None:
            keys = [said.missing_key] if said.missing_key else []
            yield 1, with_sizes(candidate.put(path, {"dict": dict.fromkeys(keys, tensor)}))
        if said.attribute is not None and said.attribute in dir(str):
            yield 1, candidate.put(path, {"value": "a"})

    def mend_arguments(self, candidate: Candidate, trial: Trial, said: Said) -> Iterator[tuple[int, Candidate]]:
        """More arguments, longer lists, and dictionaries with more keys."""
        plain = tensor_spec(self.floating, self.wish[1] if self.wish else DIMENSIONS[4])
        first = next((leaf for _, leaf in leaf_specs(candidate.specs) if "tensor" in leaf), plain)
        for name, parameter in self.parameters.items():
            if parameter.kind == parameter.VAR_KEYWORD:
                held = candidate.specs.get(name, {"dict": {}})["dict"]
                if said.missing_key is not None and said.missing_key not in held:
                    named = {"dict": {**held, said.missing_key: first}}
                    cost = 0 if name in trial.words else 3
                    yield cost, with_sizes(Candidate({**candidate.specs, name: named}, candidate.sizes))
                continue
            if name in candidate.specs:
                continue
            cost = 1 if name in trial.words else 3
            for index, option in enumerate([*self.options[name], first]):
                if option != {"value": None}:
                    put = {"tuple": [option]} if parameter.kind == parameter.VAR_POSITIONAL else option
                    filled_in = {**candidate.specs, name: filled(put, DIMENSIONS[4])}
                    yield cost + index + (0 if said.none else BLIND), with_sizes(Candidate(filled_in, candidate.sizes))
        for path, spec in containers(candidate.specs):
            kind = next(iter(spec))
            if kind == "dict":
                if said.missing_key is not None and said.missing_key not in spec["dict"]:
                    yield 0, with_sizes(candidate.put(path, {"dict": {**spec["dict"], said.missing_key: first}}))
                continue
            items = spec[kind]
            starred = len(path) == 1 and self.parameters[path[0]].kind in (
                inspect.Parameter.VAR_POSITIONAL,
                inspect.Parameter.VAR_KEYWORD,
            )
            for count in sorted({*said.counts, len(items) + 1, len(items) - 1}):
                if 0 <= count <= 8 and count != len(items):
                    cost = 1 if count in said.counts or ((said.more or starred) and count > len(items)) else BLIND
                    more = [*items, *[items[-1] if items else first] * count][:count]
                    yield cost, with_sizes(candidate.put(path, {kind: more}))
            if not starred:
                yield 3 if said.type_error or said.attribute else BLIND, with_sizes(candidate.put(path, first))

    # -- what was found

    def example(self, found: Candidate, vary: Sequence[int]) -> Example:
        """A candidate as inputs, with the dimensions that can vary."""
        found, names = self.varying(found, vary)
        arguments, keywords = self.call(found)

        def remake(sizes: Mapping[str, int], seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
            return self.call(Candidate(found.specs, {**found.sizes, **sizes}), seed)

        dynamic = {name: dynamic_of(spec, names) for name, spec in found.specs.items()}
        return Example(arguments, keywords, dynamic, {name: found.sizes[name] for name in names}, remake)

    def varying(self, found: Candidate, vary: Sequence[int]) -> tuple[Candidate, list[str]]:
        """The candidate with one name for all that varies together, and these names.

        Together vary the given dimensions of all tensors if they have the same size, or else all that have it. Nothing
        does of a model so slow that no time is left to see.
        """
        names = []
        for size in dict.fromkeys(found.size(dim) for dim in dims_at(found, vary)):
            here = {dim for dim in dims_at(found, vary) if found.size(dim) == size}
            alike = {dim for dim in every_dim(found) if found.size(dim) == size}
            for group in (here, alike):
                if not self.budget.is_spent() and any(
                    self.runs(found.sized(group, other)) for other in (size + 1, 2 * size)
                ):
                    name = "batch" if "batch" in group else min(group)
                    found = found.renamed(dict.fromkeys(group, name))
                    names.append(name)
                    break
        return found, names
