"""Packed sequences as padded ones: a function of the file runs the recurrent module, and masks what lies behind an end.

`out, h = self.rnn(pack_padded_sequence(x, lengths))` becomes `out, h = run_padded(self.rnn, x, lengths)`, and
`pad_packed_sequence(out)` cuts `out` at the greatest length, or, with `total_length=n`, pads it up to that.

Never safe: the steps are unrolled, so that the program is for one number of them, and sums round otherwise. Lengths
that packing refuses are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import External, TorchModule, Unknown, Value
from exportlint.analysis.facts import Fact
from exportlint.analysis.torch.layers import find_layer
from exportlint.findings import Fix
from exportlint.fixes.control_flow.bodies import is_tensor
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import call, keyword
from exportlint.fixes.edit.tree import place
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import argument

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement

RNN = "torch.nn.utils.rnn"
MESSAGE = "Run the padded sequences step by step, for a fixed number of steps"
HELPER = '''
def {name}(rnn, batch, lengths, state=None, batch_first=False):
    """Run a recurrent module on a padded batch: each sequence keeps its last state."""
    cells = {{"LSTM": {lstm}, "GRU": {gru}}}
    cells.update(RNN_TANH={tanh}, RNN_RELU={relu})
    is_lstm, dim = rnn.mode == "LSTM", int(batch_first)
    lengths = lengths.to(batch.device)
    if state is None:
        size = len(rnn.all_weights), batch.shape[1 - dim], rnn.hidden_size
        state = batch.new_zeros(size)
        state = (state, state) if is_lstm else state
    steps, states, last = batch.unbind(dim), state if is_lstm else (state,), []
    fits = (lengths > 0) & (lengths <= len(steps))
    {check}(fits.all(), "a length is out of range")
    inside = [(lengths > step).unsqueeze(1) for step in range(len(steps))]
    for layer in range(rnn.num_layers):
        outputs = []
        for order in (1, -1)[: 1 + rnn.bidirectional]:
            weights, output = rnn.all_weights[len(last)], []
            current = [one[len(last)] for one in states]
            for step, is_inside in list(zip(steps, inside))[::order]:
                old = tuple(current) if is_lstm else current[0]
                new = cells[rnn.mode](step, old, *weights)
                pairs = zip(new if is_lstm else (new,), current)
                current = [{where}(is_inside, *pair) for pair in pairs]
                output.append({where}(is_inside, current[0], 0))
            outputs.append(output[::order])
            last.append(current)
        steps = [{cat}(parts, -1) for parts in zip(*outputs)]
        if layer + 1 < rnn.num_layers:
            steps = [{dropout}(step, rnn.dropout, rnn.training) for step in steps]
    last = tuple({stack}(parts) for parts in zip(*last))
    return {stack}(steps, dim), last if is_lstm else last[0]
'''
PARAMETERS = ["rnn", "batch", "lengths", "state", "batch_first"]
CALLED = {
    "lstm": "torch.lstm_cell", "gru": "torch.gru_cell", "tanh": "torch.rnn_tanh_cell", "relu": "torch.rnn_relu_cell",
    "check": "torch._assert_async", "where": "torch.where", "cat": "torch.cat", "stack": "torch.stack",
    "dropout": "torch.nn.functional.dropout",
}  # fmt: skip


def padded_fix(code: Code, _: Fact) -> Fix:
    """Run the recurrent modules of a function on padded sequences, if it packs them.

    Raises:
        DeclinedError: it does something else with a packed sequence, or gets it from elsewhere.
    """
    node = code.expression
    function = code.tree.function(node)
    if function is None:
        raise DeclinedError("the code runs when the file is imported")
    name, edits = _helper(code, function)
    flow = _Flow(code, name)
    for statement in _simple_statements(function.body):
        flow.follow(statement)
    if not flow.runs:
        raise DeclinedError("the packed sequence is not passed to a recurrent module")
    return code.fix(MESSAGE, *edits, *flow.edits, safe=False)


def _helper(code: Code, node: ast.AST) -> tuple[str, Sequence[Draft]]:
    """What the function that runs a padded batch is called, and what defines it, unless the file does."""
    top = next(n for n in (node, *code.tree.ancestors(node)) if code.tree.parents.get(n) is code.tree.root)
    assert isinstance(top, ast.stmt)
    made = {each: code.name(qualified, top) for each, qualified in CALLED.items()}
    for known in code.tree.root.body:
        is_like = isinstance(known, ast.FunctionDef) and [a.arg for a in known.args.args] == PARAMETERS
        if isinstance(known, ast.FunctionDef) and is_like and place(known) < place(top):
            (same,) = analysed([code.statement(HELPER, name=known.name, **made)])
            if ast.dump(same) == ast.dump(known):
                return known.name, ()
    name = code.fresh("run_padded", top)
    definition = code.statement(HELPER, name=name, **made)
    return name, [code.statements.insert_before(top, [definition], above_comments=True, blank_lines=2)]


def _simple_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of blocks that hold no others, in the order in which they stand."""
    for statement in body:
        blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        if isinstance(statement, (ast.If, ast.With, ast.For)):
            for block in blocks:
                yield from _simple_statements(block)
        else:
            yield statement


@dataclass(frozen=True, slots=True)
class _Batch:
    """Padded sequences instead of packed ones."""

    lengths: Expression
    block: Sequence[ast.stmt]
    batch_first: ast.expr
    source: ast.expr


@dataclass(slots=True)
class _Flow:
    """Follows packed sequences through the statements of a function, and rewrites what uses them."""

    code: Code
    helper: str
    edits: list[Draft] = field(default_factory=list)
    runs: int = 0
    _packed: dict[str, _Batch] = field(default_factory=dict)

    def follow(self, statement: ast.stmt) -> None:
        """Rewrite a statement. Raises DeclinedError if it does something unknown with a packed sequence."""
        found: dict[ast.expr, Expression] = {}
        first: list[Statement] = []
        batch, padded = self._rewrite(statement, found, first)
        used = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id in self._packed]
        inside = {part for node in found for part in ast.walk(node)}
        targets = set[ast.AST]()
        value = None
        if isinstance(statement, ast.Assign):
            targets = {part for target in statement.targets for part in ast.walk(target)}
            value = statement.value
        is_alias = isinstance(value, ast.Name) and value.id in self._packed
        if any(name not in inside and name not in targets for name in used) and not is_alias:
            raise DeclinedError("a packed sequence is used outside a recurrent module")
        if is_alias and isinstance(value, ast.Name):
            batch = self._packed[value.id]
        self.edits += [self.code.replace(node, new) for node, new in found.items()]
        if first:
            self.edits.append(self.code.statements.insert_before(statement, first))
        self._assign(statement, batch, padded)

    def _assign(self, statement: ast.stmt, batch: _Batch | None, padded: ast.Call | None) -> None:
        if not isinstance(statement, ast.Assign):
            if batch is not None:
                raise DeclinedError("a packed sequence leaves the function")
            return
        target = statement.targets[0]
        bound = [n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        for name in bound:
            self._packed.pop(name, None)
        if batch is None:
            return
        if isinstance(target, ast.Tuple) and padded is statement.value:
            target = target.elts[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Name):
            raise DeclinedError("a packed sequence is not assigned to a variable")
        self._packed[target.id] = batch

    def _rewrite(
        self, statement: ast.stmt, found: dict[ast.expr, Expression], first: list[Statement]
    ) -> tuple[_Batch | None, ast.Call | None]:
        """New code for the calls of a statement; what it assigns if that is packed, and the call that ran it."""
        batch: _Batch | None = None
        run: ast.Call | None = None
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        packs = [each for each in calls if self._is(each, "pack_padded_sequence")]
        if len(packs) > 1:
            raise DeclinedError("several batches are packed in one statement")
        for each in packs:
            batch = self._pack(statement, each, first)
            if not any(self._is_recurrent(other) and argument(other, 0, "input") is each for other in calls):
                if getattr(statement, "value", None) is not each:
                    raise DeclinedError("a packed sequence is used outside a recurrent module")
                found[each] = self.code.concrete(batch.source)
        for each in calls:
            if self._is_recurrent(each):
                given = argument(each, 0, "input")
                held = batch if given in packs else self._held(given)
                if held is None:
                    continue
                self._require_reached(held, statement)
                found[each] = self._run(each, held, held.source if given in packs else given)
                batch, run = held, each
                self.runs += 1
                if getattr(statement, "value", None) is not each:
                    raise DeclinedError("the output of a recurrent module is not unpacked")
            elif self._is(each, "pad_packed_sequence"):
                held = self._held(argument(each, 0, "sequence"))
                if held is None:
                    raise DeclinedError("the packed value is not known")
                self._require_reached(held, statement)
                self._pad(statement, each, held, found)
        return batch, run

    def _require_reached(self, batch: _Batch, statement: ast.stmt) -> None:
        tree = self.code.tree
        around = [statement, *(n for n in tree.ancestors(statement) if isinstance(n, ast.stmt))]
        if not any(batch.block is tree.block(each) for each in around if each in tree.parents):
            raise DeclinedError("the sequences are packed only sometimes")

    def _held(self, node: ast.expr | None) -> _Batch | None:
        return self._packed.get(node.id) if isinstance(node, ast.Name) else None

    def _is(self, node: ast.Call, name: str) -> bool:
        value = self.code.value(node.func)
        return isinstance(value, External) and value.name == f"{RNN}.{name}"

    def _is_recurrent(self, node: ast.Call) -> bool:
        return all(map(_is_recurrent, options(self.code.value(node.func))))

    def _pack(self, statement: ast.stmt, node: ast.Call, first: list[Statement]) -> _Batch:
        source, lengths = argument(node, 0, "input"), argument(node, 1, "lengths")
        if source is None or lengths is None or any(k.arg is None for k in node.keywords):
            raise DeclinedError("not all arguments are known")
        numbers, lines = self._lengths(statement, lengths)
        first += lines
        is_sorted = argument(node, 3, "enforce_sorted")
        if not _is_constant(is_sorted, False):
            check = self.code.make(
                "{check}(({lengths}[1:] <= {lengths}[:-1]).all(), {message})",
                check=self.code.name("torch._assert_async", node),
                lengths=numbers,
                message=self.code.string("the lengths are not sorted"),
            )
            if is_sorted is None or _is_constant(is_sorted, True):
                first.append(self.code.statement("{check}", check=check))
            else:
                first.append(self.code.statement("if {sorted}:\n    {check}", sorted=is_sorted, check=check))
        batch_first = argument(node, 2, "batch_first") or ast.Constant(False)
        return _Batch(numbers, self.code.tree.block(statement), batch_first, source)

    def _lengths(self, statement: ast.stmt, node: ast.expr) -> tuple[Expression, list[Statement]]:
        """The lengths as a tensor that stays what it is, and lines to run first."""
        inner = _unread(node)
        function = self.code.tree.function(statement)
        stores = [n.id for n in ast.walk(function or statement) if isinstance(n, ast.Name) and _is_stored(n)]
        known = self.code.surely(is_tensor, inner) or inner is not node
        if known and isinstance(inner, ast.Name) and inner.id not in stores:
            return self.code.concrete(inner), []
        name = self.code.fresh("packed_lengths", statement)
        value: Expression | ast.expr = inner
        if not known:
            tensor = self.code.name("torch.tensor", statement)
            value = self.code.make(
                "{stack}([{tensor}(length) for length in {lengths}])",
                stack=self.code.name("torch.stack", statement),
                tensor=tensor,
                lengths=inner,
            )
        line = self.code.statement("{name} = {value}", name=name, value=value)
        return self.code.make("{name}", name=name), [line]

    def _run(self, node: ast.Call, batch: _Batch, given: ast.expr | None) -> Expression:
        assert given is not None
        state = argument(node, 1, "hx")
        passed = [self.code.concrete(node.func), self.code.concrete(given), batch.lengths]
        options = []
        if state is not None:
            passed.append(self.code.concrete(state))
        if not _is_constant(batch.batch_first, False):
            options.append(keyword("batch_first", self.code.concrete(batch.batch_first)))
        return call(self.helper, *passed, *options)

    def _pad(self, statement: ast.stmt, node: ast.Call, batch: _Batch, found: dict[ast.expr, Expression]) -> None:
        """`pad_packed_sequence(out)`, which gives the sequences and the lengths."""
        code = self.code
        if argument(node, 2, "padding_value") is not None:
            raise DeclinedError("the padding has a value")
        padded, total = code.concrete(node.args[0]), argument(node, 3, "total_length")
        if total is None:
            padded = self._cut(padded, batch)
        elif not _is_length_of(total, batch):
            padded = self._extended(padded, total, batch)
        layout = argument(node, 1, "batch_first") or ast.Constant(False)
        if ast.dump(layout) != ast.dump(batch.batch_first):
            if not isinstance(layout, ast.Constant) or not isinstance(batch.batch_first, ast.Constant):
                raise DeclinedError("the layout of the sequences is not known")
            padded = code.make("{padded}.transpose(0, 1)", padded=padded)
        around = code.tree.parents[node]
        if isinstance(around, ast.Subscript) and isinstance(around.slice, ast.Constant) and around.slice.value == 0:
            found[around] = padded
            return
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
            names = statement.targets[0].elts
            if len(names) == 2 and isinstance(names[1], ast.Name) and names[1].id == "_" and statement.value is node:
                found[statement.targets[0]] = code.concrete(names[0])
                found[node] = padded
                return
        found[node] = code.make("({padded}, {lengths})", padded=padded, lengths=batch.lengths)

    def _cut(self, padded: Expression, batch: _Batch) -> Expression:
        code, first = self.code, batch.batch_first
        longest = code.make("{lengths}.max().item()", lengths=batch.lengths)
        cuts = {True: "{padded}[:, : {longest}]", False: "{padded}[: {longest}]"}
        made = {key: code.make(cut, padded=padded, longest=longest) for key, cut in cuts.items()}
        if isinstance(first, ast.Constant):
            return made[bool(first.value)]
        return code.make("{one} if {first} else {other}", one=made[True], first=first, other=made[False])

    def _extended(self, padded: Expression, total: ast.expr, batch: _Batch) -> Expression:
        """With zeros up to another number of steps."""
        code, first = self.code, batch.batch_first
        if not isinstance(first, ast.Constant):
            raise DeclinedError("the layout of the sequences is not known")
        sides = [0, 0, 0] if first.value else [0, 0, 0, 0, 0]
        missing = code.make("{total} - {padded}.shape[{dim}]", total=total, padded=padded, dim=int(bool(first.value)))
        pad = code.name("torch.nn.functional.pad")
        return code.make("{pad}({padded}, ({*sides}, {missing}))", pad=pad, padded=padded, sides=sides, missing=missing)


def _is_recurrent(value: Value) -> bool:
    """Whether a value may be a recurrent module: nothing else takes a packed sequence."""
    if isinstance(value, Unknown):
        return True
    layer = find_layer(value.name) if isinstance(value, TorchModule) else None
    return layer is not None and layer.recurrent


def _is_constant(node: ast.expr | None, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _unread(node: ast.expr) -> ast.expr:
    """The tensor of which lengths are read: `lengths` of `lengths.cpu().tolist()`."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
            if node.func.attr not in {"tolist", "cpu", "numpy", "detach"}:
                return node
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        else:
            return node


def _is_length_of(total: ast.expr, batch: _Batch) -> bool:
    """Whether it is the number of steps of what was packed: `x.size(1)`, `x.shape[1]`."""
    if isinstance(total, ast.Call) and isinstance(total.func, ast.Attribute) and total.func.attr == "size":
        owner, places = total.func.value, total.args
    elif isinstance(total, ast.Subscript) and isinstance(total.value, ast.Attribute) and total.value.attr == "shape":
        owner, places = total.value.value, [total.slice]
    else:
        return False
    steps = isinstance(batch.batch_first, ast.Constant) and int(bool(batch.batch_first.value))
    return (
        ast.dump(owner) == ast.dump(batch.source)
        and len(places) == 1
        and isinstance(places[0], ast.Constant)
        and isinstance(batch.batch_first, ast.Constant)
        and places[0].value == steps
    )
