"""EXP606 strict-reflection: Python looks at values or at the program in a way that strict mode cannot trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.values import NONE, Const
from exportlint.analysis.facts import Call
from exportlint.analysis.facts.tracing import CachedRead, ClassStatement, MethodTest, Text
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.tensor_evidence import surely_tensor
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(None), strict=always(ERROR))
METHOD = Claim(non_strict=always(None), strict={(2, 4): ERROR, (2, 15): None})
CACHED = Claim(non_strict={(2, 4): ERROR, (2, 13): INFO}, strict=always(ERROR))
CALLS = frozenset({
    "builtins.dir", "builtins.globals", "builtins.eval", "builtins.exec", "builtins.compile", "builtins.__import__",
    "sys._getframe", "sys.getrefcount", "sys.getsizeof", "inspect.stack", "inspect.currentframe",
    "inspect.getmembers", "inspect.getsource", "importlib.import_module", "types.SimpleNamespace", "io.StringIO",
    "io.BytesIO", "json.dumps", "json.loads", "pickle.dumps", "ast.literal_eval", "traceback.format_stack",
    "heapq.nsmallest", "bisect.bisect_left", "decimal.Decimal", "datetime.timedelta", "hashlib.md5",
    "builtins.bytearray", "torch.get_num_threads", "torch.cuda.device_count", "copy.copy",
    "builtins.bytes", "builtins.memoryview", "builtins.object", "builtins.property", "builtins.staticmethod",
    "os.system", "os.path.abspath", "os.walk", "sys.stdout.write", "sys.stderr.write", "sys.stdout.flush",
    "sys.stderr.flush", "sys.setrecursionlimit", "shutil.which", "signal.getsignal", "signal.signal",
    "tempfile.NamedTemporaryFile", "datetime.datetime", "calendar.monthrange", "hashlib.sha1", "hashlib.sha256",
    "hashlib.sha512", "hashlib.new", "zlib.crc32", "zlib.adler32", "zlib.compress", "base64.b64encode",
    "base64.b64decode", "binascii.hexlify", "marshal.dumps", "csv.reader", "csv.writer", "fnmatch.fnmatch",
    "glob.glob", "pathlib.Path.exists", "pprint.pprint", "pprint.pformat", "traceback.print_stack",
    "gc.isenabled", "threading.current_thread", "threading.Lock", "threading.RLock",
    "threading.get_ident", "threading.local", "queue.Queue", "statistics.mean", "cmath.sqrt", "heapq.heappush",
    "heapq.heappop", "heapq.heapify", "heapq.nlargest", "bisect.bisect", "bisect.bisect_right", "bisect.insort",
    "array.array", "functools.cmp_to_key", "functools.lru_cache", "types.MethodType", "enum.auto",
    "dataclasses.make_dataclass", "logging.getLogger", "logging.basicConfig", "ast.parse", "locale.getlocale",
    "urllib.parse.quote", "unicodedata.name", "asyncio.sleep", "concurrent.futures.ThreadPoolExecutor",
    "multiprocessing.cpu_count", "multiprocessing.pool.ThreadPool", "ctypes.c_int", "configparser.ConfigParser",
    "numpy.vectorize", "numpy.ndindex", "numpy.interp", "numpy.set_printoptions", "numpy.errstate", "numpy.seterr",
    "numpy.testing.assert_allclose", "numpy.lib.stride_tricks.as_strided", "numpy.apply_along_axis", "numpy.fromiter",
    "numpy.fromstring", "numpy.frombuffer", "numpy.packbits", "numpy.polyfit", "numpy.datetime64",
    "numpy.ndarray.tobytes", "numpy.ndarray.tofile",
    "torch.backends.mps.is_available", "torch.backends.cudnn.is_available", "torch.result_type", "torch.can_cast",
    "torch.is_storage", "torch.typename", "torch.jit.fork", "torch.jit._fork", "torch.jit.isinstance",
    "torch.distributions.Distribution.set_default_validate_args",
    "torch.compiler.reset", "torch.hub.get_dir", "torch.utils.data.get_worker_info", "torch.futures.Future",
    "torch.Tensor.storage_offset", "torch.Tensor.is_pinned", "torch.Tensor.is_shared", "torch.Tensor.dense_dim",
    "torch.Tensor.is_same_size", "torch.Tensor.is_set_to",
    *(f"torch.Tensor.__{name}__" for name in ("reduce_ex", "repr", "str", "format", "hash")),
})  # fmt: skip
"""What TorchDynamo refuses to call, measured on 2.13 by a module that calls nothing else."""

CHOOSES = frozenset({"builtins.max", "builtins.min"})

Looks = Call | Text | MethodTest | ClassStatement | CachedRead


@rule("EXP606", "strict-reflection", Call, Text, MethodTest, ClassStatement, CachedRead)
def strict_reflection(fact: Looks, context: Context) -> Iterator[Report]:
    """`str(x)`, `callable(x.sum)`, `dir(x)`, `globals()`, `eval("x * 2")`, `class` in forward, `cached_property`."""
    claim, what, instead = _verdict(fact)
    severity = context.severity(claim) if claim is not None else None
    if severity is None or (fact.guarded and severity is ERROR):
        return
    message = f"{what} cannot be traced" + (" in strict mode" if context.mode == "strict" else " by every torch")
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact))


def _fix(code: Code, fact: Looks) -> Fix | None:
    if isinstance(fact, MethodTest):
        call = code.node(ast.Call)
        method = call.args[0]
        if not isinstance(method, ast.Attribute):
            raise DeclinedError("the tensor is not to be seen in the call")
        text = f"isinstance({code.operand(method.value)}, {code.name('torch.Tensor', call)})"
        safe = surely_tensor(code, method.value)
        return code.fix("Use `isinstance`", code.replace(call, text), safe=safe)
    if isinstance(fact, Call) and fact.name == "builtins.pow":
        call = code.node(ast.Call)
        if len(call.args) != 2 or call.keywords:
            raise DeclinedError("`**` takes no modulus")
        base, exponent = code.operand(call.args[0], Precedence.ATOM), code.operand(call.args[1], Precedence.UNARY)
        text = f"{base} ** {exponent}"
        return code.fix("Use `**`", code.replace(call, text), safe=True)
    return None


def _verdict(fact: Looks) -> tuple[Claim | None, str, str]:
    if isinstance(fact, Call) and fact.name in CHOOSES:
        is_keyed = fact.keyword("key") not in {None, NONE}
        what = f"`{fact.name.rpartition('.')[2]}()` with a `key`"
        return CLAIM if is_keyed else None, what, "choose with `sorted(..., key=...)[0]`, or in a loop"
    if isinstance(fact, Text):
        shown = f"`{fact.api}`" if fact.api.endswith("()") else f"formatting with `{fact.api}`"
        return CLAIM, f"{shown} of tensor data", 'use `f"{x}"`, or make the text outside of the model'
    if isinstance(fact, MethodTest):
        return METHOD, f"`callable()` of the method `{fact.method}` of a tensor", "use `isinstance(x, torch.Tensor)`"
    if isinstance(fact, ClassStatement):
        return CLAIM, f"the definition of class `{fact.name}`", "define it at the top of the file"
    if isinstance(fact, CachedRead):
        is_tensor = any(True for _ in tensors_in(fact.computed))
        instead = "compute it in `__init__`, a tensor as a buffer"
        return CACHED if is_tensor else CLAIM, f"the `cached_property` `{fact.name}`", instead
    if fact.name.startswith("torch.nn.Module.register_"):
        return CLAIM, f"`{fact.name.rpartition('.')[2]}()`", "register it in `__init__`, or have the module return it"
    if fact.name == "builtins.pow" and any(True for v in fact.positional for _ in tensors_in(v)):
        return CLAIM, "`pow()` of a tensor", "use `x ** y`"
    if fact.name == "copy.copy" and any(True for v in fact.positional for _ in tensors_in(v)):
        return None, "", ""  # refused in either mode
    if fact.name not in CALLS or _is_constant_expression(fact):
        return None, "", ""
    return (
        CLAIM,
        f"`{fact.name.removeprefix('builtins.').removeprefix('torch.Tensor')}()`",
        "do it in `__init__`, or at the top of the file",
    )


def _is_constant_expression(fact: Call) -> bool:
    """`eval("1 + 1")`, which strict mode computes."""
    text = fact.positional[0] if fact.positional else None
    if fact.name != "builtins.eval" or not isinstance(text, Const) or not isinstance(text.value, str):
        return False
    try:
        tree = ast.parse(text.value, mode="eval")
    except SyntaxError:
        return False
    return not any(isinstance(node, ast.Name) for node in ast.walk(tree))
