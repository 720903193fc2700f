"""Statements in a block of another indentation."""

from __future__ import annotations

from exportlint.fixes.errors import DeclinedError


def reindented(code: str, own: str, indent: str) -> str:
    r"""The lines of statements whose block has the indentation `own`, as they are in one that has `indent`.

    libcst knows which of several lines belong to strings and brackets. Lines end with `\n`. Raises DeclinedError if it
    fails.
    """
    if "\n" not in code:
        return indent + code.removeprefix(own)
    import libcst

    try:
        parsed = libcst.parse_module(f"if 1:\n{code}\n" if own else code + "\n")
    except libcst.ParserSyntaxError:
        raise DeclinedError("statements cannot be moved by libcst") from None
    body = parsed.body
    if own:
        block = libcst.ensure_type(libcst.ensure_type(body[0], libcst.If).body, libcst.IndentedBlock)
        body = block.body  # type: ignore[assignment]
    if not indent:
        return libcst.Module(body).code.rstrip("\n")
    wrapped = libcst.If(libcst.Name("x"), libcst.IndentedBlock(body, indent=indent))
    return libcst.Module([wrapped]).code.partition("\n")[2].rstrip("\n")
