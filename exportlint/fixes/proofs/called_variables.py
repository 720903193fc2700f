"""Variables that hold a function or a module, with which nothing is done but to call it.

`calls_of` lists the calls, and declines any other use.
"""

from __future__ import annotations

import ast

from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError, InapplicableError


def calls_of(code: Code, statement: ast.stmt, name: str) -> list[tuple[int, ast.Call]]:
    """The calls of a variable that nothing else is done with, all behind its only assignment.

    Each with the index of the statement in which it is. Raises DeclinedError.
    """
    function = code.tree.function(statement)
    if function is None:
        raise DeclinedError("the code runs when the file is imported")
    inside, block = set(ast.walk(statement)), code.tree.block(statement)
    places = {n: index for index, each in enumerate(block) for n in ast.walk(each)}
    found: list[tuple[int, ast.Call]] = []
    for node in ast.walk(function):
        if not isinstance(node, ast.Name) or node.id != name or node in inside:
            continue
        use = code.tree.parents[node]
        if not isinstance(use, ast.Call) or use.func is not node or code.tree.function(use) is not function:
            raise DeclinedError("the chosen function is used in other ways than a call")
        if places.get(node, -1) <= code.tree.index(statement):
            raise DeclinedError("the chosen function is also called elsewhere")
        found.append((places[node], use))
    if not found:
        raise InapplicableError("the branch does not choose a function")
    return found
