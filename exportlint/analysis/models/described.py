"""Calls of functions that the settings or another package describe."""

from __future__ import annotations

import ast

from exportlint.analysis.described_functions import DescribedFunction
from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.values import Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import read_data
from exportlint.analysis.eval.described_values import described_value
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import HostRead
from exportlint.analysis.models.plain_numbers import note_any_numbers


def call_described(frame: Frame, described: DescribedFunction, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """What a call gives, by its description; what it reads is noted."""
    if described.reads_data and not frame.engine.constructing:
        read = next((t for v in arguments.values for t in tensors_in(v) if not t.assumed and not t.known), None)
        if read is None:
            note_any_numbers(frame, arguments, node)
        else:
            read_data(frame, read, node, name)
            frame.emit(HostRead, node, read, api=name, operand=read, described=True)
    return described_value(frame, described, name, node, arguments.values)
