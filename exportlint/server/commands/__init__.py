"""What `workspace/executeCommand` runs: one file a command, each with its `NAME` and a `run`.

`run` is given the server and the arguments of the command as they came. There is no list of commands to edit.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

from exportlint.server.server import Server


def register(server: Server) -> None:
    """Register all commands."""
    for found in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{found.name}")
        _register(server, module.NAME, module.run)


def _register(server: Server, name: str, run: Any) -> None:
    # pygls looks at the signature to know what to give a command: all that came, and nothing else.
    async def command(*arguments: Any) -> Any:
        result = run(server, *arguments)
        return await result if inspect.isawaitable(result) else result

    server.command(name)(command)
