"""Other sizes that an error asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator

from .candidates import SIZES, USUAL, Candidate
from .errors import BLIND, Said, Trial
from .trees import at, dims_of, leaf_specs

LARGEST_BATCH = 64
"""Who makes a model does not mean a batch that is larger, though `x.view(-1, 4500)` may accept it."""


def mend_sizes(candidate: Candidate, trial: Trial, said: Said) -> Iterator[tuple[int, Candidate]]:
    """Other sizes: of all dimensions that have the same, of those with one name, and of a single one."""
    places = [
        (path, index, dim)
        for path, leaf in leaf_specs(candidate.specs)
        if not trial.blamed or path in trial.blamed
        for index, dim in enumerate(dims_of(leaf))
    ]
    groups: dict[int, dict[str, None]] = {}
    for _, _, dim in places:
        if isinstance(dim, str) and dim in candidate.sizes:
            groups.setdefault(candidate.size(dim), {})[dim] = None
    known = {size for _, _, dim in places if (size := candidate.size(dim))}  # nothing comes of a size of 0
    wanted = {size: wanted_instead(size, known, trial, said) for size in known}
    for size, names in groups.items():
        late = 2 if "batch" in names else 0
        is_batch = late and all(len(dims_of(leaf)) > 2 for _, leaf in leaf_specs(candidate.specs))
        for want, cost in wanted.get(size, {}).items():
            if is_batch and want > LARGEST_BATCH:
                continue
            yield cost + late, candidate.sized(names, want)
            if len(names) > 1:
                for name in names:
                    yield cost + late + 1, candidate.sized([name], want)
    for path, index, dim in places:
        size = candidate.size(dim)
        for want, cost in wanted.get(size, {}).items():
            is_batch = index == 0 and len(dims_of(at(candidate.specs, path))) > 2
            if cost < BLIND and not (is_batch and want > LARGEST_BATCH):
                yield cost + 2 + (2 if index == 0 else 0), candidate.apart(path, index, want)


def wanted_instead(size: int, known: set[int], trial: Trial, said: Said) -> dict[int, int]:
    """Sizes that may be meant instead of one, with their costs."""
    wanted: dict[int, int] = {}

    def want(other: float, cost: int) -> None:
        number = round(other)
        if number != size and 0 < number < 1 << 16 and abs(other - number) < 1e-6:
            wanted[number] = min(cost, wanted.get(number, cost))

    for found, other in said.pairs:
        if found == size:
            want(other, 0)
        elif found not in known:
            # a size that comes of this one: in proportion, as the square of it, or less a constant
            for ratio in ratios(found, other):
                want(size * ratio, 3)
            want(size + other - found, 3)
            for usual in USUAL:
                near = min(abs(math.log(usual / (size * ratio))) for ratio in ratios(found, other))
                want(usual, 4 + int(near * 6))
    for number in said.numbers:
        if size in said.numbers or not known.intersection(said.numbers):
            want(number, 2 if size in said.numbers else 5)
        if size in said.numbers and number % size == 0:
            want(number // size, 4)
    for number in trial.sizes:
        want(number, 3 if size in said.numbers else 6)
    if SIZES["height"] <= size < 224:
        want(224, 1 if said.too_small else BLIND)  # what most that is made for images of some size is made for
    want(size * 2, 2 if said.too_small else BLIND)
    want(size * 4, 3 if said.too_small else BLIND + 2)
    want(1, BLIND)
    for usual in USUAL:
        want(usual, BLIND + 2 + int(3 * abs(math.log(usual / size))))
    return wanted


def ratios(found: int, want: int) -> tuple[float, ...]:
    """By what a size may have to grow for one that comes of it to be what is wanted."""
    ratio = max(want, 1) / max(found, 1)
    return (ratio, math.sqrt(ratio))
