"""The settings of `exportlint verify`: how models are run, and which."""

from __future__ import annotations

from typing import Any

from exportlint.config.kinds import BOOL, STRING, Kind, choice, one_of, toml_type
from exportlint.config.option import Option
from exportlint.config.quantities import COUNT, MEMORY, POSITIVE, SECONDS
from exportlint.config.tables import table, tables


def _check_list(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"expected an array, got {toml_type(value)}")
    return tuple(value)


def _check_table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table, got {toml_type(value)}")
    return value


def _check_inputs(value: Any) -> Any:
    if isinstance(value, dict) and not value.keys() <= {"arguments", "keywords"}:
        unknown = next(key for key in value if key not in ("arguments", "keywords"))
        raise ValueError(
            f"`{unknown}` is neither `arguments` nor `keywords`: write {{ keywords = {{ {unknown} = … }} }}"
        )
    if isinstance(value, dict):
        return {key: (_check_list if key == "arguments" else _check_table)(inner) for key, inner in value.items()}
    if not isinstance(value, str | list | tuple):
        raise ValueError(f'expected "pkg.mod:function", an array or a table, got {toml_type(value)}')
    return value


def _check_dynamic(value: Any) -> Any:
    if not isinstance(value, dict | list | tuple):
        raise ValueError(f"expected an array or a table, got {toml_type(value)}")
    return value


def _check_devices(value: Any) -> tuple[str, ...]:
    devices = [value] if isinstance(value, str) else value
    if not isinstance(devices, list | tuple) or not devices or not all(isinstance(d, str) and d for d in devices):
        raise ValueError(f'expected a device such as "cpu" or "cuda:1", or an array of them, got {toml_type(value)}')
    return tuple(dict.fromkeys(devices))


_ARRAY = Kind("list", _check_list, {"type": "array"})
_TABLE = Kind("table", _check_table, {"type": "object"})
_INPUTS = Kind("str | list | table", _check_inputs, one_of("string", "array", "object"))
_DYNAMIC = Kind("list | table", _check_dynamic, one_of("array", "object"))
_DEVICES = Kind(
    "str | list[str]", _check_devices, {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
)
_TIMEOUT = Option("timeout", SECONDS, "", "Seconds after which a run of this target is killed.", "timeout = 60")
_MEMORY = Option("memory", MEMORY, "", "The memory limit of a run of this target.", 'memory = "16 GiB"')

_TARGET = tables(
    Option(
        "model",
        STRING,
        "",
        "The model: a class, an instance, or a function that returns one, as `pkg.mod:Name`, or as "
        "`path/to/file.py::Name` with a path relative to this file.",
        'model = "shop.models:Gate"',
    ),
    Option(
        "name",
        STRING,
        "",
        "The name of the target in reports and on the command line. If unset, it is `model`.",
        'name = "gate-large"',
    ),
    Option(
        "arguments",
        _ARRAY,
        "[]",
        'The arguments of the class or function: values, and tensors as in `inputs`. Text is a string; "None" is None.',
        "arguments = [64, 0.5]",
    ),
    Option(
        "keywords",
        _TABLE,
        "{}",
        "The keyword arguments of the class or function.",
        'keywords = { activation = "relu" }',
    ),
    Option(
        "init-inputs",
        STRING,
        "",
        "A function in the model's module that returns the arguments instead: a list, or a list of a list and a "
        "dictionary.",
        'init-inputs = "get_init_inputs"',
    ),
    Option(
        "inputs",
        _INPUTS,
        "",
        "The inputs of `forward`: an array of tensors and values, a table of `arguments` and `keywords`, or, as "
        "`pkg.mod:function`, a function that returns a tuple of arguments or `(arguments, keywords)`. A tensor is "
        '"float32[batch=2, 3]"; "int64[batch, seq=16] < 1000" and "int64[8] >= 1 < 9" limit its values. A named '
        "dimension is dynamic. Its size is given once, and expressions such as `2*seq + 1` can use it. Arrays and "
        'tables become lists and dictionaries, "(float32[2], int64[2])" is a tuple, "None" is None, "\'text\'" is a '
        "string. If unset, inputs come from `get_inputs` or `example_inputs` in the code, or else are found by "
        "trying.",
        'inputs = ["float32[batch=2, 3, 224, 224]", "int64[batch, seq=16] < 1000"]',
    ),
    Option(
        "dynamic-shapes",
        _DYNAMIC,
        "",
        "The dynamic dimensions of inputs that a function returns, like `dynamic_shapes` of torch.export.export: for "
        "each argument, or by parameter, a table of dimensions and their names, or an array of names.",
        'dynamic-shapes = { x = { 0 = "batch" } }',
    ),
    Option(
        "others",
        STRING,
        "",
        "A function that returns a list of further inputs on which program and model are compared.",
        'others = "shop.tests:more_inputs"',
    ),
    Option(
        "mode",
        choice("non-strict", "strict", "both"),
        "",
        "The mode of torch.export, or both, one after the other. If unset, it is the setting `mode`.",
        'mode = "both"',
    ),
    Option("device", _DEVICES, '"cpu"', "The device, or several, one after the other.", 'device = ["cpu", "cuda"]'),
    Option(
        "dynamic",
        choice("auto", "dynamic"),
        '"auto"',
        "Whether dynamic dimensions are `Dim.AUTO`, which torch may specialize, or `Dim.DYNAMIC`, which it must not.",
        'dynamic = "dynamic"',
    ),
    Option("train", BOOL, "", "Export in training mode. If unset, the setting `train` decides.", "train = true"),
    Option("gradients", BOOL, "false", "Compare gradients as well.", "gradients = true"),
    Option(
        "tolerance",
        POSITIVE,
        "",
        "How much results may differ, relative to the largest number. If unset, it depends on the dtype.",
        "tolerance = 1e-3",
    ),
    _TIMEOUT,
    _MEMORY,
    required=("model",),
)

VERIFY = Option(
    "verify",
    table(
        Option(
            "python",
            STRING,
            "",
            "The interpreter with the project's torch: a path relative to this file, or a command. If unset, it is "
            "the first with torch 2.4 or newer among the active environment, `.venv` or `venv` beside the "
            "configuration, the Python on the PATH, and exportlint's own.",
            'verify.python = ".venv/bin/python"',
        ),
        Option("timeout", SECONDS, "300.0", "Seconds after which a run is killed.", "verify.timeout = 60"),
        Option(
            "memory",
            MEMORY,
            "",
            "The memory limit of a run on Linux, in bytes or with a unit. If unset, half of the machine's memory.",
            'verify.memory = "8 GiB"',
        ),
        Option("jobs", COUNT, "1", "The number of targets to run at a time.", "verify.jobs = 4"),
        Option(
            "calls",
            BOOL,
            "false",
            "Whether calls of torch.export in the code are targets too. Their files are run for this.",
            "verify.calls = true",
        ),
        Option(
            "target",
            _TARGET,
            "",
            "The models to verify and their inputs. They replace the targets of the configuration file that this one "
            "extends.",
            'verify.target = [{ model = "shop.models:Gate", inputs = ["float32[batch=2, 3]"] }]',
        ),
    ),
    "",
    "What `exportlint verify` runs, and how. Each key replaces the one in the configuration file that this one "
    "extends.",
    "verify = { timeout = 60, calls = true }",
)
