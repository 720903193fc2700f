"""Functions of torch that are not operators: its generators, defaults, files, threads and settings."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.values import Scalar, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.library_functions import find, function, functions
from exportlint.analysis.models.externals import ask_host, call_opaque

functions("torch.manual_seed torch.random.manual_seed torch.initial_seed torch.random.initial_seed", source="generator")
functions("torch.random.fork_rng torch.get_rng_state torch.set_rng_state", source="generator")
functions("torch.random.get_rng_state torch.random.set_rng_state", source="generator")
functions("torch.get_default_dtype torch.get_default_device", source="default")
functions("torch.set_num_threads", effect="act")
functions("torch.save", effect="write")
functions("torch.get_num_threads torch.cuda.device_count", strict="refuses")
functions("torch.backends.mps.is_available", strict="refuses", traced_from=(2, 15))
functions("torch.backends.cudnn.is_available torch.jit.fork torch.jit._fork torch.jit.isinstance", strict="refuses")
functions("torch.compiler.reset torch.hub.get_dir torch.utils.data.get_worker_info", strict="refuses")
functions("torch.futures.Future torch.typename torch.is_storage", strict="refuses")
functions("torch.backends.cuda.sdp_kernel torch.is_inference", strict="refuses")
functions("torch.distributions.Distribution.set_default_validate_args", strict="refuses")
functions(
    """
    torch.Tensor.__reduce_ex__ torch.Tensor.__repr__ torch.Tensor.__str__ torch.Tensor.__format__ torch.Tensor.__hash__
    """,
    strict="refuses",
)


@function("torch.Generator", source="generator")
def _generator(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if frame.engine.constructing:
        return Baked("generator", name, trail=frame.trail(node, "`{}` is a generator"))
    return ask_host(frame, find(name), arguments, node)


@function("torch.sym_int", gives="int")
@function("torch.sym_float torch.sym_sqrt", gives="float")
def _converted(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """What a number that was read from a tensor is converted to is one as well."""
    number = arguments.get(0)
    if not isinstance(number, Scalar):
        return call_opaque(frame, name, arguments, node)
    return Scalar(find(name).gives, number.api, number.assumed, number.trail)
