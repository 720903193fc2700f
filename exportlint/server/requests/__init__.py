"""What the server answers: one file a request or notification, each with its `METHOD` and a `handle`.

A file may also have `wanted(client)`, whether to offer it to that client at all, and `options(client)`, what to say of
it among the server's capabilities. There is no list of them to edit.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import partial
from types import ModuleType

from exportlint.server.server import Server


def register_first(server: Server) -> None:
    """Register what has to be there before it is known what the client can do."""
    for module in _modules():
        if not hasattr(module, "wanted") and not hasattr(module, "options"):
            _register(server, module)


def register_rest(server: Server) -> None:
    """Register what depends on the client."""
    for module in _modules():
        wanted, options = getattr(module, "wanted", None), getattr(module, "options", None)
        if (wanted or options) and (wanted is None or wanted(server.session.client)):
            _register(server, module)


def _register(server: Server, module: ModuleType) -> None:
    options = module.options(server.session.client) if hasattr(module, "options") else None
    server.feature(module.METHOD, options)(partial(module.handle, server))


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(__path__):
        yield importlib.import_module(f"{__name__}.{found.name}")
