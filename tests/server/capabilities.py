"""What clients announce: nothing, everything, or what real editors were recorded to announce."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from cattrs import Converter
from lsprotocol import converters, types

from tests.sampling import first_of_each

ENCODINGS = ("utf-8", "utf-16", "utf-32")

_RECORDED = Path(__file__).parent / "caps"

EDITORS = sorted(file.stem for file in _RECORDED.glob("*.json"))
"""The editors whose capabilities were recorded."""


def minimal() -> types.ClientCapabilities:
    """A client that mentions nothing."""
    return types.ClientCapabilities()


@cache
def _converter() -> Converter:
    return converters.get_converter()


def one_of_each_edit(names: list[str]) -> list[Any]:
    """Clients as parameters of a test about edits: for every run, one of each kind of edit that clients take."""

    def edits(name: str) -> str:
        told = {} if name == "minimal" else json.loads((_RECORDED / f"{name}.json").read_text(encoding="utf-8"))
        return repr(told.get("workspace", {}).get("workspaceEdit", {}).get("documentChanges"))

    return first_of_each(names, edits)


def recorded(editor: str) -> types.ClientCapabilities:
    """What a real editor announced."""
    text = (_RECORDED / f"{editor}.json").read_text(encoding="utf-8")
    return _converter().structure(json.loads(text), types.ClientCapabilities)


def capable(encoding: str = "utf-16", *, pull: bool = False) -> types.ClientCapabilities:
    """A client that can do everything; it has diagnostics pushed or pulls them."""
    capabilities = recorded("vscode-1.139-languageclient-11")
    capabilities.general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)])
    assert capabilities.text_document is not None
    if not pull:
        capabilities.text_document.diagnostic = None
    return capabilities
