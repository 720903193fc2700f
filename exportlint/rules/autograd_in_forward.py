"""EXP608 autograd-in-forward: forward computes gradients, or says how they are computed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Tensor, Tuple
from exportlint.analysis.facts import Call
from exportlint.analysis.facts.plain import FunctionName
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix, Severity
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

GRAD = Claim(non_strict={(2, 4): ERROR, (2, 6): INFO}, strict=always(ERROR))
UNTRACED = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING, (2, 13): ERROR}, strict=always(ERROR))
STRICT_ONLY = Claim(non_strict=always(INFO), strict=always(ERROR))
CHECKPOINT = Claim(non_strict=always(INFO), strict={(2, 4): INFO, (2, 9): ERROR})
HOOK = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING}, strict={(2, 4): ERROR, (2, 13): WARNING})
CALLS = frozenset({
    "torch.autograd.backward", "torch.Tensor.backward", "torch.Tensor.retain_grad", "torch.utils.checkpoint.checkpoint",
    "torch.utils.checkpoint.checkpoint_sequential", "torch.autograd.functional.jacobian",
    "torch.autograd.functional.vjp", "torch.autograd.graph.saved_tensors_hooks", "torch.autograd.graph.save_on_cpu",
    "torch.autograd.set_detect_anomaly",
})  # fmt: skip


@rule("EXP608", "autograd-in-forward", Call)
def autograd_in_forward(fact: Call, context: Context) -> Iterator[Report]:
    """`torch.autograd.grad(y, x)`, `y.backward()`, `checkpoint(f, x)`, `y.register_hook(h)`."""
    is_hook = fact.name == "torch.Tensor.register_hook" and _changes_the_gradient(fact)
    is_untraced = fact.name == "torch.autograd.grad" and _reads_what_is_untraced(fact)
    claim = UNTRACED if is_untraced else GRAD if fact.name == "torch.autograd.grad" else HOOK if is_hook else None
    if fact.name == "torch.utils.checkpoint.checkpoint":
        claim = CHECKPOINT
    severity = context.severity(claim or STRICT_ONLY) if claim or fact.name in CALLS else None
    if severity is None or fact.guarded:
        return
    shown = fact.name.replace("torch.Tensor.", "")
    if is_hook:
        yield Report(
            severity,
            "the hook is not exported: the program's gradients come from its operators alone",
            "use an operator that already has the gradient you want",
        )
    elif is_untraced:
        yield Report(
            severity,
            f"`{shown}()`: the gradient reads a tensor that torch.export does not trace",
            "write the gradient with operators, or compute it outside the exported program",
        )
    else:
        yield Report(
            severity,
            f"`{shown}()`: strict mode cannot trace it",
            "export in non-strict mode",
            fix=lambda code: _fix(code, fact, severity),
        )


OPTIONS = frozenset({"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"})


def _fix(code: Code, fact: Call, severity: Severity) -> Fix:
    """What a checkpoint saves is memory in training, so it is not safe to leave one out."""
    call = code.node(ast.Call)
    if severity is not ERROR:
        raise DeclinedError("it is harmless here")
    if fact.name != "torch.utils.checkpoint.checkpoint" or not call.args or isinstance(call.args[0], ast.Starred):
        raise DeclinedError("the program computes only the gradients of its operators")
    arguments: list[ast.expr | ast.keyword] = [*call.args[1:], *(k for k in call.keywords if k.arg not in OPTIONS)]
    direct = code.make("{function}({*arguments})", function=call.args[0], arguments=arguments)
    return code.fix("Call the function itself", code.replace(call, direct), safe=False)


def _reads_what_is_untraced(fact: Call) -> bool:
    """Whether an output was surely made by an operator such as `exp`, whose gradient is computed from its result."""
    outputs = fact.positional[0] if fact.positional else fact.keyword("outputs")
    values = outputs.items if isinstance(outputs, Tuple) else (outputs,)
    return any(isinstance(value, Tensor) and value.untraced_backward for value in values)


def _changes_the_gradient(fact: Call) -> bool:
    """Whether a hook returns something."""
    hook = fact.positional[1] if len(fact.positional) > 1 else None
    return isinstance(hook, FunctionName) and hook.returns
