"""What rules of other packages are made of. The names in `__all__` are stable; docs/own-rules.md describes them.

A rule is a function that exportlint calls for each fact of some classes, and that yields a `Report` where it has
something to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from exportlint.analysis.domain.values import Const, Guard, Scalar, Shape, Size, Tensor, Value
from exportlint.analysis.facts import Branch, Call, Conversion, Creation, DeviceMove, Fact, HostRead, Mutation
from exportlint.claims import Context, Report
from exportlint.findings import Mode, Severity, TorchVersion

__all__ = [
    "Branch",
    "Call",
    "Context",
    "Conversion",
    "Creation",
    "DeviceMove",
    "Fact",
    "HostRead",
    "Mode",
    "Mutation",
    "Report",
    "Rule",
    "Severity",
    "TorchVersion",
    "Value",
    "ValueKind",
    "constant_of",
    "kind_of",
    "rule",
]

F = TypeVar("F", bound=Fact)

ValueKind = Literal["tensor", "number from data", "size", "constant", "unknown"]
"""What a value surely is.

tensor: a traced tensor. number from data: what `.item()` gave. size: a size of a tensor, or what is computed from
sizes. constant: a number, text, bool or None that the code says. unknown: it may be anything.
"""


@dataclass(frozen=True, slots=True)
class Rule(Generic[F]):
    """A function that `rule` has decorated, and the classes of facts that it looks at."""

    facts: tuple[type[F], ...]
    function: Callable[[F, Context], Iterable[Report]]

    def __call__(self, fact: F, context: Context) -> Iterator[Report]:
        """What the function says of a fact.

        Raises:
            TypeError: it yields something that is not a report.
        """
        for report in self.function(fact, context):
            if not isinstance(report, Report) or not isinstance(report.severity, Severity):
                raise TypeError(f'a rule yields `Report(Severity.…, "message")`, not {report!r}')
            yield replace(report, message=_line(report.message), help=_line(report.help))


def rule(*facts: type[F]) -> Callable[[Callable[[F, Context], Iterable[Report]]], Rule[F]]:
    """Make a rule of the decorated function, which is called for each fact of the classes `facts`.

    Raises:
        TypeError: there is none, or one of them is not a class of facts.
    """
    if not facts or not all(isinstance(kind, type) and issubclass(kind, Fact) for kind in facts):
        raise TypeError("`rule` takes classes of facts, as in `@rule(Call)`")
    return lambda function: Rule(facts, function)


def kind_of(value: Value | None) -> ValueKind:
    """What a value surely is. Where that depends on the path through the code, it is unknown."""
    if isinstance(value, Tensor):
        return "unknown" if value.assumed else "tensor"
    if isinstance(value, Scalar):
        return "unknown" if value.assumed else "number from data"
    if isinstance(value, (Size, Shape, Guard)):
        return "size"
    return "constant" if isinstance(value, Const) else "unknown"


def constant_of(value: Value | None, default: object = None) -> object:
    """The number, text, bool or None that the code says, or `default` where it does not say one."""
    return value.value if isinstance(value, Const) else default


def _line(text: str) -> str:
    return " ".join(str(text).split())
