"""The messages of torch.export and its kin, one record a family.

A new message of torch is one record here, or a quotation on the page of its rule, which is recognized by itself. In
`text`, `…` stands for anything on the line, and blanks for any blank; the families stand in the order in which they are
tried, the narrower ones first.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that a message may be about: where `line` (a regular expression) is found in the code that raised.

    `said` is one for the message instead, of which any line may match. Empty, they always match.
    """

    code: str
    line: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Messages with one cause. `texts` are how its versions begin or what they contain; `meaning` is one sentence.

    `candidates` are tried in their order; there are none where no rule is about it, and `remedy` says what to do then.
    `is_wrapper`: it only reports another error of the same chain, which is to be explained where it can be.
    """

    name: str
    texts: tuple[str, ...]
    meaning: str
    candidates: tuple[Candidate, ...] = ()
    remedy: str = ""
    is_wrapper: bool = False


_SIZE = r"\.shape\b|\.size\(|\blen\(|numel\(|\bdim\("
_LOOP = Candidate("EXP102", r"^(?:async )?(?:for|while)\b|\bfor\b.+\bin\b.*\brange\(")
_SIZE_CONDITION = Candidate("EXP105", rf"\b(?:if|elif|while|assert)\b.*(?:{_SIZE})")
_ASSERT = Candidate("EXP104", r"^assert\b")
_BRANCH = Candidate("EXP101", r"^(?:if|elif|match|case)\b|\bif\b.+\belse\b|\bfor\b.+\bin\b.+\bif\b")
_RAISE = Candidate("EXP603", r"^raise\b|^if\b.*:\s*raise\b")
_TO_NUMBER = Candidate(
    "EXP202",
    r"(?<![\w.])(?:int|float|complex|round|hex|oct|divmod)\(|\bmath\.\w+\(|operator\.index\(|full_like|new_full",
)
_OPERANDS = Candidate(
    "EXP107",
    r"\b(?:logsumexp|cdist|batch_norm|roll|cummax|cummin|chunk|split|tensor_split|unbind|\w*attention|\w*attn|mha)\(",
)
_VALIDATED = Candidate(
    "EXP209",
    r"\b(?:Normal|Categorical|Bernoulli|Beta|Gamma|Dirichlet|MultivariateNormal|Uniform)\(|\.log_prob\(|\.cdf\(",
)
_SCRIPTED = Candidate("EXP614", r"\bscripted\b|jit\.script")
_TRUTH = Candidate("EXP103")
_CONNECTIVE = Candidate(
    "EXP103", r"^(?!.*\b(?:None|isinstance|training)\b).*(?:(?<!is )\bnot (?!in\b)|\b(?:and|or)\b)|is_nonzero\("
)
_INDEX = Candidate(
    "EXP106", r"\[[^\]]*\]|\b(?:dim|chunks|kernel_size)\s*=|\bdivmod\(|\.index\(|permute\(|sum\(|softmax\("
)

_TIME = r"\b(?:time|perf_counter|monotonic|process_time|now|utcnow|today|sleep|datetime)\b"
_CLOCK = (
    Candidate("EXP503", _TIME),
    Candidate("EXP503", said=r"(?:of|function|builtin|`|\.) ?(?:time\.|sleep|datetime)"),
)
_RANDOM = (
    Candidate("EXP502", r"\b(?:random|uuid\w*|secrets|urandom|default_rng|rng)\b"),
    Candidate("EXP502", said=r"\b(?:numpy\.random|random\.|uuid\b|secrets\b|urandom)"),
)
_LOGGED = Candidate("EXP605", said=r"\(Logger\)|builtin: print|`(?:print|open)`|\blogging\b")
_SIDE_EFFECT = Candidate(
    "EXP605", r"\b(?:print|open|logging|logger|log|warn|warnings|gc|subprocess|Popen|Thread|torch\.save|tqdm|write)\b"
)
_COPY = Candidate("EXP205", r"\b(?:deepcopy|pickle|copy\.copy|torch\.save)\b")
_ENVIRONMENT = Candidate("EXP504", r"\bos\.(?:environ|getenv|path|cpu_count)\b|\bsocket\.|\bplatform\.|\bexists\(")
_GENERATOR = Candidate("EXP505", r"\bmanual_seed\(|\bGenerator\(|rng_state\(")
_HOST_STATE = (
    *_CLOCK,
    *_RANDOM,
    _GENERATOR,
    _VALIDATED,
    Candidate("EXP206", r"dlpack|data_ptr|share_memory"),
    _COPY,
    _ENVIRONMENT,
    _SIDE_EFFECT,
    _LOGGED,
)
_REFLECTION = Candidate("EXP606")

_SIZE_LOOP = Candidate("EXP403", r"^for\b|\bfor\b.+\bin\b|\brange\(|unbind\(|\bsplit\(|\bzip\(|\] \* ")
_SIZE_NUMBER = Candidate("EXP402", r"\b(?:len|int|float|math\.\w+|np\.\w+|as_tensor|tensor)\(")
_SIZE_TEST = Candidate("EXP401", r"^(?:if|elif|while|assert)\b|\bif\b.+\belse\b|==|[<>]")
_FIXED = Candidate("EXP407")

FAMILIES: tuple[Family, ...] = (
    # Wrappers: what they report stands elsewhere in the chain, or in their own text.
    Family(
        "onnx-capture-failed",
        ("Failed to export the model with torch.export.", "Failed to decompose the FX graph for ONNX compatibility"),
        "the ONNX exporter captures the model with torch.export first, and torch.export rejected it",
        is_wrapper=True,
    ),
    Family(
        "interpreter-call-failed",
        ("Failed running call_", "backend=… raised:", "RuntimeError when making fake tensor call"),
        "an operation of the model failed while it was traced with fake tensors",
        (
            Candidate("EXP903", r"\bcond\("),
            Candidate("EXP501", said=r"(?i)not linked with support for cuda|No CUDA|NVIDIA driver|cuda devices?\b"),
        ),
        "run the model in eager with the same example inputs: shapes, dtypes or devices do not fit there",
        is_wrapper=True,
    ),
    # Draft export's report.
    Family(
        "draft-data-dependent",
        ("Data dependent error.",),
        "the code branches on the value of a tensor; draft_export used the value from the example inputs",
        (_SIZE_CONDITION, _LOOP, _ASSERT, _BRANCH, _TO_NUMBER, _OPERANDS, _INDEX, _TRUTH),
    ),
    Family(
        "missing-fake-kernel",
        (
            "There was no fake impl registered for",
            "there was no fake impl or Meta kernel",
            "is missing a fake kernel implementation",
            "Missing fake kernel.",
            "no meta function or decomposition",
            "with Meta tensors, but there was no",
            "UnsupportedOperatorException: …",
            "Operator does not support running with fake tensors",
            "Could not run '…' with arguments from the 'Meta' backend",
        ),
        "an operator cannot be traced, because it has no fake kernel that gives the shape and dtype of its result",
        (
            Candidate("EXP402", said=r"aten::_to_sparse|histogram"),
            Candidate("EXP615", said=r"\baten(?:::|\.)|\bprim(?:::|\.)|quantized"),
            Candidate("EXP906"),
        ),
    ),
    Family(
        "mismatched-fake-kernel",
        (
            "Mismatched fake kernel.",
            "has a fake kernel implementation, but it has incorrect behavior",
            "Unable to cast (FakeTensor",
        ),
        "the fake kernel of a custom operator does not return what the real one does",
        (Candidate("EXP907"),),
    ),
    # Constraints on dynamic shapes.
    Family(
        "constraints-violated",
        (
            "Constraints violated",
            "ConstraintViolationError",
            "Constraint violation error.",
            "conflicts between user-specified ranges and inferred ranges",
        ),
        "the code restricts a dimension that `dynamic_shapes` says may vary",
        (
            # torch.export takes sizes of 0 and 1 in the example for fixed ones.
            Candidate("EXP805", said=r"constant \((?:0|1)\)|inferred ranges|specialized to be [01]\b"),
            Candidate("EXP401", said=r"satisfy the generated guard|Ne\(|<|>"),
            _FIXED,
        ),
    ),
    Family(
        "unknown-dynamic-shapes",
        (
            "When `dynamic_shapes` is specified",
            "its top-level keys must be the arg names",
            "Detected mismatch between the structure of `inputs` and `dynamic_shapes`",
            "expected the number of dims in `dynamic_shapes`",
            "Expected … in `dynamic_shapes`",
            "Unexpected … in dynamic_shapes",
            "Unexpected dynamic_shape …",
        ),
        "`dynamic_shapes` does not have the structure of the inputs",
        (Candidate("EXP811"),),
    ),
    Family(
        "bad-dim",
        (
            "Dim …: expected …",
            "Invalid min/max",
            "Dim min must be",
            "Cannot create Dim with inconsistent",
            "Found a non-positive or infinite factor",
            "Expected … to be an identifier",
        ),
        "a dynamic dimension is declared with bounds or a name that it cannot have",
        (Candidate("EXP805"),),
    ),
    # The call of export.
    Family(
        "not-a-module",
        ("Expected `mod` to be an instance of `torch.nn.Module`", "Exporting a ScriptModule is not supported"),
        "torch.export takes an `nn.Module`",
        (Candidate("EXP801"),),
    ),
    Family(
        "args-not-a-tuple",
        (
            "Expecting `args` to be a tuple",
            "Expecting `kwargs` to be a dict",
            "forward() missing … required",
            "forward() takes … positional",
            "missing a required argument:",
            "too many positional arguments",
            "got an unexpected keyword argument",
        ),
        "the example inputs do not fit the parameters of the model's forward",
        (Candidate("EXP802"),),
    ),
    Family(
        "program-called",
        (
            "Unable to call ExportedProgram directly",
            "'ExportedProgram' object has no attribute",
            "Calling train() is not supported yet",
            "Calling eval() is not supported yet",
        ),
        "an `ExportedProgram` is not a module",
        (Candidate("EXP807"),),
    ),
    Family(
        "removed-api",
        (
            "cannot import name '…' from 'torch.export'",
            "cannot import name '…' from 'torch._export'",
            "module 'torch.export' has no attribute",
            "module 'torch._export' has no attribute",
            "capture_pre_autograd_graph() is deprecated",
            "`torch.export.export_for_training` is deprecated",
            "torch.onnx.dynamo_export is deprecated",
        ),
        "the function is not part of this version of torch",
        (Candidate("EXP809"),),
    ),
    Family(
        "guard-failed",
        (
            "Guard failed:",
            "Expected input at …shape[…] to be",
            "Expected input …shape[…] to be equal to",
            "input to exported program",
        ),
        "the exported program rejects an input whose size differs from the one at export",
        (
            Candidate("EXP803", r"\.module\(\)|(?:program|exported|ep|gm)\w*\("),
            _SIZE_LOOP,
            _SIZE_NUMBER,
            Candidate("EXP407", r"\[:\s*-?\d|\.(?:view|reshape|expand|zeros|ones)\("),
            Candidate("EXP401", said=r"[<>]|!=|%"),
            Candidate("EXP803"),
        ),
    ),
    # Data that decides.
    Family(
        "specialized-integer",
        ("Could not extract specialized integer from data-dependent expression",),
        "Python needs a concrete number that depends on the values of a tensor",
        (
            Candidate("EXP208", r"\bone_hot\("),
            Candidate("EXP202", r"operator\.index\("),
            _LOOP,
            _OPERANDS,
            Candidate("EXP105", r"\blen\("),
            _INDEX,
            _BRANCH,
            _TO_NUMBER,
            Candidate("EXP106"),
        ),
    ),
    Family(
        "dynamic-control-flow",
        ("Dynamic control flow is not supported at the moment",),
        "Python branches on the value of a tensor, which torch.export does not have while tracing",
        (_SIZE_CONDITION, _RAISE, _CONNECTIVE, _ASSERT, _LOOP, Candidate("EXP101")),
    ),
    Family(
        "data-dependent-guard",
        (
            "Could not guard on data-dependent expression",
            "Data-dependent branching",
            "Data-dependent jump",
            "generic_jump TensorVariable",
            "generic_jump SymNodeVariable",
            "Tried to use data-dependent value in the subsequent computation",
            "It appears that you're trying to get a value out of symbolic int/float",
            "Data dependent operation … needs its value",
            "Boolean value of Tensor with more than one value is ambiguous",
            "bool of a symbolic",
        ),
        "Python asks for the value of a tensor, which torch.export does not have while tracing",
        (
            _SCRIPTED,
            _VALIDATED,
            Candidate("EXP502", r"\b(?:np|numpy)\.random\.|(?<![\w.])random\.\w+\("),
            Candidate("EXP204", r"%\.?\d*[df]|:\.?\d*[fe]\}"),
            Candidate("EXP208", r"\btorch\.(?:_assert|equal|allclose)\(|\bone_hot\("),
            Candidate("EXP202", said=r"expression zuf\d+ \(unhinted"),
            _SIZE_CONDITION,
            _RAISE,
            Candidate("EXP107", r"\bpad_sequence\("),
            _CONNECTIVE,
            _ASSERT,
            _LOOP,
            Candidate(
                "EXP103", r"(?<![\w.])(?:bool|any|all|sorted|filter|min|max|next|list\.index)\(|\breturn not\b|= not\b"
            ),
            _BRANCH,
            Candidate("EXP105", r"\blen\("),
            _TO_NUMBER,
            _OPERANDS,
            Candidate("EXP107", said=r"^Caused by: .*(?:_meta_registrations\.py|_refs/|_decomp/)|Caused by: \(_meta"),
            Candidate("EXP106", r"\[[^\]]*:[^\]]*\]\s*=|\w\[[a-z_]\w*\]"),
            _TRUTH,
        ),
    ),
    Family(
        "data-dependent-assertion",
        ("Data-dependent assertion failed", "assert with non-string message", "torch._assert_async"),
        "an `assert` asks for the value of a tensor",
        (_ASSERT, _RAISE, Candidate("EXP104")),
    ),
    Family(
        "data-dependent-output",
        (
            "DataDependentOutputException: …",
            "Attempted to use `torch.nn.functional.one_hot`",
            "dynamic shape operator",
            "Dynamic shape operator",
            "data dependent operator: …",
            "Data dependent operator",
        ),
        "an operator computes a Python value or a size from tensor data",
        (
            _ASSERT,
            Candidate("EXP202", r"(?<![\w.])(?:int|float|complex)\(", r"_local_scalar_dense"),
            Candidate("EXP101", r"^(?:if|elif)\b", r"_local_scalar_dense"),
            Candidate("EXP201", said=r"_local_scalar_dense|Tensor\.item"),
            Candidate("EXP105", said=r"nonzero|unique|masked_select"),
            Candidate("EXP208"),
        ),
    ),
    Family(
        "tolist",
        (
            "Tensor.tolist() with non-integer tensor",
            "call_method … tolist",
            "Unsupported Tensor.item() call",
            "`Tensor.item` with capture_scalar_outputs",
            "Tensor.item",
        ),
        "`.item()` and `.tolist()` give Python values, which tracing does not have",
        (Candidate("EXP204", r"json\.dumps|:\.\d|%\s*\."), Candidate("EXP201")),
    ),
    # Leaving the graph.
    Family(
        "numpy",
        (
            ".numpy() is not supported for tensor subclasses",
            "Can't call numpy() on Tensor that requires grad",
            "Unsupported ndarray",
            "NumpyNdarrayVariable",
            "numpy ndarray",
            "can't convert … tensor to numpy",
            "__array__",
            "Unsupported numpy",
            "attempted to trace numpy function",
        ),
        "NumPy needs the values of a tensor, which torch.export does not have while tracing",
        (Candidate("EXP203"),),
    ),
    Family(
        "formatted-tensor",
        (
            "unsupported format string passed to FakeTensor",
            "unsupported format string passed to Sym",
            "is not JSON serializable",
            "must be real number, not SymFloat",
            "must be real number, not FakeTensor",
        ),
        "formatting needs the value of a tensor",
        (_TO_NUMBER, Candidate("EXP204")),
    ),
    Family(
        "copied-tensor",
        (
            "Attempted to copy.deepcopy a tensor",
            "Can't pickle",
            "Only Tensors created explicitly by the user",
            "cannot pickle",
            "torch.* op returned non-Tensor",
            "elem.device.type must be",
        ),
        "Python cannot copy a tensor that has no data",
        (Candidate("EXP205"),),
    ),
    Family(
        "data-pointer",
        (
            "Cannot access data pointer of",
            "Data pointer comparison",
            "data_ptr",
            "_share_fd_",
            "method_share_memory_",
            "Cannot access storage",
            "Attempted to access `data_ptr`",
        ),
        "tensors have no memory while torch.export traces",
        (_COPY, Candidate("EXP206")),
    ),
    Family(
        "tensor-of-tensors",
        ("The tensor has a non-zero number of elements, but its data is not allocated yet",),
        "a tensor is built from a Python list of traced tensors, whose concrete values are not known while tracing",
        (_COPY, Candidate("EXP207")),
    ),
    Family(
        "packed-sequence",
        (
            "zeros(): argument 'size' failed to unpack",
            "_pack_padded_sequence",
            "'lengths' argument should be a 1D CPU int64 tensor",
        ),
        "packed sequences depend on lengths that are not known while tracing",
        (Candidate("EXP210"),),
    ),
    # Mutation and state.
    Family(
        "constant-mutation",
        ("Constant … is mutated in the forward method",),
        "`forward` writes to a tensor that is not a buffer",
        (Candidate("EXP311"),),
    ),
    Family(
        "assigned-attribute",
        (
            "was assigned during export. Such attributes must be registered as buffers",
            "were assigned during export. Such attributes must be registered",
        ),
        "`forward` assigns an attribute, and the exported program does not keep the new value",
        (Candidate("EXP306"),),
    ),
    Family(
        "leaked-fake-tensor",
        (
            "We found a fake tensor in the exported program constant's list",
            "is not tracked with proxy for",
            "Detected … fake tensors that are still alive",
            "It appears that some tensors were leaked",
            "does not reference an nn.Module, nn.Parameter, or buffer",
            "fake tensors leaked",
        ),
        "a fake tensor from tracing ends up in the program as a constant",
        (
            Candidate("EXP608", r"autograd|backward"),
            Candidate("EXP301"),
        ),
    ),
    Family(
        "mutated-requires-grad",
        (
            "Unsupported Tensor.requires_grad_() call",
            "setattr() on Tensor.requires_grad",
            "you can only change requires_grad flags of leaf variables",
        ),
        "`requires_grad` is set in the traced code",
        (Candidate("EXP607"),),
    ),
    Family(
        "autograd-in-forward",
        (
            "using `torch.autograd.grad`",
            "Tensor.retain_grad()",
            "tag_activation_checkpoint",
            "_checkpoint_context_fn",
            "Unsupported Tensor.backward() call",
            "Unsupported Tensor.retain_grad() call",
            "element 0 of tensors does not require grad",
            "Tensor.register_hook",
            "Compilation of intermediate hooks",
        ),
        "`forward` computes gradients",
        (Candidate("EXP608"),),
    ),
    Family(
        "resized-tensor",
        (
            "Unsupported Tensor.resize_",
            "tried to directly modify sizes",
            "Shape mismatch with out= tensor variant",
            "out= op was called where output tensor was non-contiguous",
            "set_() … not allowed",
        ),
        "a tensor is resized in place",
        (Candidate("EXP314"),),
    ),
    Family(
        "input-metadata-mutation",
        ("Unsupported function call (delayed)", "sources must not be empty for symbol", "metadata mutation"),
        "the code changes the shape or the storage of a tensor in place",
        (Candidate("EXP314", r"resize"), Candidate("EXP303")),
    ),
    Family(
        "module-move",
        ("_apply(): Couldn't swap", "Couldn't swap … weight", "call_method NNModuleVariable() to"),
        "a module is moved or cast in `forward`",
        (Candidate("EXP305"),),
    ),
    Family(
        "parameter-in-forward",
        ("Attempted to use `torch.nn.Parameter()`", "torch.nn.Parameter with data type", "nn.Parameter() constructor"),
        "a parameter is created in the traced code",
        (Candidate("EXP309"),),
    ),
    Family(
        "unregistered-module",
        (
            "KeyError: 'L__self___",
            "KeyError: 'self___",
            "param_buffer_table[dynamo_name]",
            "KeyError: 'L['self']",
            "pop from empty list",
        ),
        "the model uses parameters that no module has registered",
        (Candidate("EXP310"),),
    ),
    # Inputs and outputs.
    Family(
        "unregistered-output",
        (
            "in output, which is not a known type",
            "Encountered unrecognized type … at output",
            "It looks like one of the outputs with type",
            "Unsupported output type",
            "Only Tensors or None are supported as … output",
            "Traced function … output … unsupported type",
        ),
        "the model returns an object of a type that torch.export does not accept as an output",
        (Candidate("EXP701"),),
    ),
    Family(
        "unregistered-input",
        (
            "unsupported object of type … while writing the metadata",
            "call_function args: UserDefinedObjectVariable",
            "Export only supports pytree containers of basic types",
            "Unsupported input type",
            "Expected … to be a tensor, int, float",
            "It looks like one of the inputs with type",
            "in input, which is not a known type",
            "is not supported as an input",
            "Encountered input whose type is not supported",
        ),
        "the model is called with an object of a type that torch.export does not accept as an input",
        (Candidate("EXP702"),),
    ),
    # Sizes as Python values.
    Family(
        "size-as-key",
        ("unhashable type: non-nested SymInt", "unhashable type: 'SymInt'"),
        "a dynamic size is used as a key",
        (Candidate("EXP405"),),
    ),
    Family(
        "size-in-numpy",
        (
            "'SymInt' object has no attribute",
            "'SymFloat' object has no attribute",
            "loop of ufunc does not support argument … of type SymInt",
            "'SymInt' object cannot be interpreted",
        ),
        "Python needs a plain number, and a size that varies is symbolic while tracing",
        (Candidate("EXP402"),),
    ),
    # The environment.
    Family(
        "tensor-to-number",
        (
            "doesn't define __round__ method",
            "Tensor method `__round__`",
            "cond must be a bool, but got a Tensor",
            "Unhandled tensor method",
        ),
        "Python asks a traced tensor for a number",
        (Candidate("EXP202"),),
    ),
    Family(
        "sorted-tensors",
        ("sort with non-constant keys",),
        "Python compares tensors",
        (Candidate("EXP103"),),
    ),
    Family(
        "data-assignment",
        ("Failed to mutate tensor data attribute",),
        "`.data` of a tensor is assigned",
        (Candidate("EXP302"),),
    ),
    Family(
        "certain-raise",
        ("NotImplementedError",),
        "the traced code raises an exception",
        (
            Candidate("EXP619", r"\braise\b", r"^NotImplementedError|Observed exception"),
            Candidate("EXP619", said=r"^NotImplementedError: (?!Could not run|.*\baten)"),
        ),
    ),
    Family(
        "no-such-device",
        (
            "PyTorch is not linked with support for",
            "Found no NVIDIA driver",
            "Torch not compiled with CUDA enabled",
            "No CUDA GPUs are available",
            "Unhandled FakeTensor Device Propagation",
            "Expected all tensors to be on the same device",
        ),
        "the code names a device that the example inputs are not on",
        (Candidate("EXP501"),),
    ),
    Family(
        "random-input",
        ("Dynamo attempts to add additional input during export", "RandomValueSource"),
        "Python's random numbers are read in the traced code",
        (*_RANDOM, *_CLOCK, Candidate("EXP502")),
    ),
    Family(
        "opaque-object",
        ("An opaque object was created in the middle of the program", "torch.Generator"),
        "a random generator is created in the traced code",
        (Candidate("EXP505"),),
    ),
    Family(
        "device-context",
        ("Unsupported context manager", "'with' on …", "setup_with", "Setting device context"),
        "Dynamo, which traces in strict mode, cannot trace the context manager",
        (
            Candidate("EXP617", r"inference_mode"),
            Candidate("EXP618", r"autocast"),
            Candidate("EXP508", r"\bdevice\("),
            _REFLECTION,
        ),
    ),
    Family(
        "autocast-dtype",
        ("Tensor dtype mismatch! Expected",),
        "in strict mode, the exported program loses the dtype of autocast",
        (Candidate("EXP618"),),
    ),
    # Operators that run functions.
    Family(
        "branch-mutates",
        (
            "Higher order ops do not support input mutation",
            "might be modifying the input",
            "mutating a tensor in a higher order",
            "side effects in the body",
            "Mutating a variable not in the current scope",
            "HigherOrderOperator: Mutating",
            "Higher Order Operator: …mutat",
        ),
        "a function passed to an operator such as `torch.cond` changes something defined outside it",
        (Candidate("EXP901"),),
    ),
    Family(
        "branch-aliases",
        ("to avoid aliasing", "might be aliasing the input", "do not support aliasing"),
        "a function passed to an operator such as `torch.cond` returns one of its operands",
        (Candidate("EXP902"),),
    ),
    Family(
        "branch-mismatch",
        (
            "Expected branches to return",
            "Expected … and carried_inputs to have",
            "Expected each tensor to have same metadata",
            "mismatch … between … branches",
            "pytree structure … branches",
            "carried_inputs and body_output",
            "Expected carried_inputs",
        ),
        "the functions passed to an operator such as `torch.cond` return different kinds of results",
        (Candidate("EXP903"),),
    ),
    Family(
        "operator-operands",
        (
            "Expect operands to be a tuple",
            "Expected pred to be",
            "Expected … operands to be",
            "cond must be called with",
        ),
        "an operator such as `torch.cond` does not take these operands",
        (Candidate("EXP904"),),
    ),
    Family(
        "branch-captures-number",
        ("Unbacked SymInt input is not supported yet",),
        "a function passed to an operator such as `torch.cond` captures a number that was read from a tensor",
        (Candidate("EXP905"),),
    ),
    Family(
        "uncapturable-branches",
        (
            "Cond doesn't work unless it is captured completely",
            "This higher order operator doesn't work unless it is captured completely",
            "That operator doesn't work unless captured",
        ),
        "a function passed to an operator such as `torch.cond` cannot be traced",
        (Candidate("EXP903", r"\bcond\("), Candidate("EXP904")),
    ),
    # What tracing does not see.
    Family(
        "message-closure",
        ("Can't convert torch._check*() message closure", "message of torch._check"),
        "the message of `torch._check` is not a function of constants",
        (Candidate("EXP613"),),
    ),
    Family(
        "disabled-call",
        (
            "Skip calling `torch.compiler.disable()`d function",
            "call torch._dynamo.disable() wrapped function",
            "Call to `torch._dynamo.graph_break()`",
            "'Logger.…' … graph_break",
        ),
        "a function is excluded from tracing",
        (Candidate("EXP616"),),
    ),
    Family(
        "skipped-function",
        (
            "Attempted to call function marked as skipped",
            "'skip function …",
            "skip function …",
            "call_function … in skip_files",
            "Graph break due to unsupported builtin",
            "Failed to trace builtin operator",
            "Unsupported method call",
            "Unsupported function call",
            "Attempted to inline function marked as skipped",
            "Unsupported … builtin",
            "Dynamo does not know how to trace",
            "call_function BuiltinVariable",
            "builtin: …",
            "inline in skipfiles",
            "Import failure",
        ),
        "Dynamo, which traces in strict mode, cannot trace the function",
        (
            *_HOST_STATE,
            Candidate("EXP604", r"^(?:try|except)\b"),
            Candidate("EXP203", r"\bnp\.|numpy"),
            _REFLECTION,
        ),
    ),
    Family(
        "strict-reflection",
        (
            "Invalid call to __build_class__",
            "hasattr TensorVariable",
            "Unsupported hasattr call",
            "Reconstruction failure",
            "UserDefinedObjectVariable",
            "UserDefinedClassVariable",
            "call_method UserDefined",
            "missing: …",
            "Attempted to read undefined local variable",
            "repr() on tensor",
            "Unsupported Tensor.",
            "as_subclass",
        ),
        "Dynamo, which traces in strict mode, cannot trace this Python code",
        (Candidate("EXP615", r"as_subclass"), *_HOST_STATE, _REFLECTION),
    ),
    # Beyond torch.export.
    Family(
        "onnx-no-translation",
        (
            "No ONNX function found for",
            "No decompositions registered for the real-valued input",
            "Unsupported FX nodes",
            "DispatchError",
            "Exporting the operator '…' to ONNX opset version",
        ),
        "torch.export passed; the ONNX exporter has no translation for an operator of the program",
        remedy="give `torch.onnx.export` a translation with `custom_translation_table`, or use other operators",
    ),
    Family(
        "executorch-out-variant",
        ("Missing out variants", "to its out variant with error"),
        "torch.export passed; ExecuTorch has no `out` variant of an operator of the program",
        remedy="link or register the kernel library that has the operator, or let a backend take it (`to_backend`)",
    ),
    Family(
        "executorch-not-core-aten",
        ("is not Aten Canonical", "is not in Core ATen opset", "SpecViolationError", "Operator … is not in the core"),
        "torch.export passed; the program has an operator outside of Core ATen",
        remedy="decompose it with `program.run_decompositions()`, "
        "or allow it with `EdgeCompileConfig(_core_aten_ops_exception_list=[...])`",
    ),
    Family(
        "executorch-dynamic-shape",
        ("Cannot evaluate the shape upper bound of a dynamic-shaped tensor", "Unbounded dynamic shape"),
        "torch.export passed; ExecuTorch plans memory and needs an upper bound for every size",
        remedy="give the dimension a `max` in `torch.export.Dim`, or bound the size with `torch._check(n <= ...)`",
    ),
    Family(
        "inductor-lowering",
        ("LoweringException", "InductorError", "CppCompileError", "AOTInductor"),
        "torch.export passed; Inductor could not compile the program",
        remedy="compile the operator alone to see whether Inductor knows it; the program itself is correct",
        is_wrapper=True,
    ),
    Family(
        "symbol-not-bound",
        ("PendingUnbackedSymbolNotFound", "Pending unbacked symbols"),
        "an operator creates a data-dependent size that does not appear in its result",
        (Candidate("EXP906", r"torch\.ops\."), Candidate("EXP106", r"\w_\(|\]\s*\S{0,2}=(?!=)"), Candidate("EXP105")),
    ),
)
