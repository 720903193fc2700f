"""Packages in place of the libraries that AOTInductor made before.

`torch._export.aot_compile(model, args)` becomes
`torch._inductor.aoti_compile_and_package(torch.export.export(model, args, strict=True))`, and what loads its result,
`torch._export.aot_load(path, "cpu")`, becomes `torch._inductor.aoti_load_package(path)`. The program is a strict one,
since the old function traces with TorchDynamo.

Needs: a module, a tuple of arguments, and a result that this function alone loads; a package is another file than a
library. Never safe: the export may fail where the old function passed. Compared with torch 2.13: the same results, also
for other sizes, keyword arguments and outputs that are dictionaries.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.domain.script_values import Unlifted
from exportlint.analysis.facts.exports import ApiUse
from exportlint.analysis.facts.targets import ModelTarget
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import written

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

COMPILERS = frozenset({"torch._export.aot_compile", "torch._inductor.aot_compile"})
LOADER = "torch._export.aot_load"
COMPILE, LOAD = "torch._inductor.aoti_compile_and_package", "torch._inductor.aoti_load_package"

_ALIKE = frozenset({"args", "kwargs", "dynamic_shapes"})
"""The keyword arguments that `torch.export.export` has as well."""
_OF_FILES = "aot_inductor."
"""The options about the file, which a package has otherwise."""


def packaged(code: Code, use: ApiUse) -> Fix:
    """Compiles a package, and loads it where the library was loaded.

    Raises:
        DeclinedError: a program for the same calls is not known, or the library is used for something else.
    """
    call = code.tree.parents.get(code.expression)
    if not isinstance(call, ast.Call) or call.func is not code.expression:
        raise DeclinedError("the function is not called here")
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise DeclinedError("the arguments are not written one by one")
    program = _exported(code, call, use) if use.name == "torch._export.aot_compile" else _of_module(call, use)
    compiled = code.make("{f}({*given})", f=code.name(COMPILE, call), given=[program, *_configs(call)])
    return code.fix("Compile a package", *_edits(code, call, compiled), safe=False)


def _exported(code: Code, call: ast.Call, use: ApiUse) -> Expression:
    """The program of the module and the arguments that a library was made for."""
    if not use.targets or not all(isinstance(target, ModelTarget) for target in use.targets):
        raise DeclinedError("`torch.export.export` takes an `nn.Module`, and this is not known to be one")
    others = [keyword for keyword in call.keywords if keyword.arg not in _ALIKE and keyword.arg != "options"]
    if others or not 1 <= len(call.args) <= len(("mod", "args", "kwargs")):
        shown = f" like `{others[0].arg}`" if others else ""
        raise DeclinedError(f"`torch.export.export` has no argument{shown}")
    given: list[ast.expr | ast.keyword] = [*call.args, *(k for k in call.keywords if k.arg in _ALIKE)]
    return code.make("{f}({*given}, strict=True)", f=code.name("torch.export.export", call), given=given)


def _of_module(call: ast.Call, use: ApiUse) -> ast.expr:
    """The program of which a library was made: `program` where that is `program.module()`."""
    known = bool(use.targets) and all(isinstance(t, Unlifted) and t.program.site is not None for t in use.targets)
    if known and call.args:
        match call.args[0]:
            case ast.Call(func=ast.Attribute(value=program, attr="module"), args=[], keywords=[]):
                return program
    raise DeclinedError("the program of this graph module is not known")


def _configs(call: ast.Call) -> list[ast.keyword]:
    """The options of a library as those of a package, which adds to the dictionary."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "options"), None)
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return []
    keys = given.keys if isinstance(given, ast.Dict) else [None]
    names = [key.value if isinstance(key, ast.Constant) else None for key in keys]
    if not all(isinstance(name, str) and not name.startswith(_OF_FILES) for name in names):
        raise DeclinedError("the options may be about the file, and a package is another file than a library")
    return [ast.keyword("inductor_configs", given)]


def _edits(code: Code, call: ast.Call, compiled: Expression) -> Iterator[Draft]:
    """The package where a library was compiled, and where it is loaded."""
    around = _around(code, call)
    if isinstance(around, ast.Call) and _loads(code, around, call):
        yield code.replace(around, code.make("{f}({path})", f=code.name(LOAD, around), path=compiled))
        return
    if not isinstance(around, ast.Assign) or len(around.targets) != 1 or not isinstance(around.targets[0], ast.Name):
        raise DeclinedError("what loads the library is not known")
    target = around.targets[0]
    scope = code.tree.function(call) or code.tree.root
    names = [name for name in code.tree.contents(scope).named(target.id) if name is not target]
    loads = [(name, _around(code, name)) for name in names]
    if not loads or target.id in code.tree.contents(scope).declared():
        raise DeclinedError("what loads the library is not known")
    yield code.replace(call, compiled)
    for name, used in loads:
        if not isinstance(name.ctx, ast.Load) or not isinstance(used, ast.Call) or not _loads(code, used, name):
            raise DeclinedError(f"`{target.id}` is used for more than loading it, and a package is another file")
        yield code.replace(used, code.make("{f}({path})", f=code.name(LOAD, used), path=name))


def _around(code: Code, node: ast.expr) -> ast.AST | None:
    """What has an expression as a part, or as an argument."""
    around = code.tree.parents.get(node)
    return code.tree.parents.get(around) if isinstance(around, ast.keyword) else around


def _loads(code: Code, call: ast.Call, path: ast.expr) -> bool:
    """Whether a call loads the library at a path for the device that it is made for."""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in {"so_path", "device"})]
    if ast.unparse(call.func) != code.spelled(LOADER, call) or len(given) != len(call.args) + len(call.keywords):
        return False
    match given:
        case [first, device]:
            return first is path and _is_plain(code, device)
    return False


def _is_plain(code: Code, device: ast.expr) -> bool:
    """Whether a device has no number, which is the one that a package takes as well."""
    match device:
        case ast.Constant(value="cpu" | "cuda" | "xpu" | "mps"):
            return True
        case ast.IfExp(body=body, orelse=other):
            return _is_plain(code, body) and _is_plain(code, other)
        case ast.Name():
            try:
                value = written(code, device)
            except DeclinedError:
                return False
            return not isinstance(value, ast.Name) and _is_plain(code, value)
    return False
