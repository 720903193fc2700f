"""Requests that tests make often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from tests.server.client import Editor


async def actions(
    editor: Editor,
    uri: str,
    at: str | types.Range,
    only: Sequence[str] | None = None,
    diagnostics: Sequence[types.Diagnostic] = (),
    trigger: types.CodeActionTriggerKind | None = None,
) -> list[types.CodeAction]:
    """The code actions for a range, or for a piece of the text that is in it once."""
    place = editor.range_of(uri, at) if isinstance(at, str) else at
    context = types.CodeActionContext(diagnostics, only=only, trigger_kind=trigger)
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
    return list(await editor.answer(editor.client.text_document_code_action_async(params)))


async def resolved(editor: Editor, action: types.CodeAction) -> types.CodeAction:
    """The action as the client has it when it is chosen."""
    if action.edit is not None:
        return action
    found: types.CodeAction = await editor.answer(editor.client.code_action_resolve_async(action))
    return found


async def choose(editor: Editor, title: str, found: Sequence[types.CodeAction]) -> None:
    """Apply the one action that is called so."""
    (action,) = [action for action in found if action.title == title]
    edit = (await resolved(editor, action)).edit
    assert edit is not None
    editor.apply(edit)


async def completion(editor: Editor, uri: str, place: types.Position) -> list[types.CompletionItem]:
    """What is offered at a place, in the order in which a client shows it."""
    params = types.CompletionParams(types.TextDocumentIdentifier(uri), place)
    found: Any = await editor.answer(editor.client.text_document_completion_async(params))
    return [] if found is None else sorted(found.items, key=lambda item: item.sort_text or item.label)


async def hover(editor: Editor, uri: str, place: types.Position) -> types.Hover | None:
    """What is shown at a place."""
    params = types.HoverParams(types.TextDocumentIdentifier(uri), place)
    found: types.Hover | None = await editor.answer(editor.client.text_document_hover_async(params))
    return found


async def lenses(editor: Editor, uri: str, command: str = "exportlint.showFindings") -> list[types.CodeLens]:
    """The lenses of a document that have a command."""
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    found = await editor.answer(editor.client.text_document_code_lens_async(params))
    return [lens for lens in found if lens.command is not None and lens.command.command == command]
