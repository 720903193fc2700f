from __future__ import annotations

from collections.abc import Sequence

import pytest
from lsprotocol import types

from tests.sampling import each_value
from tests.server.capabilities import ENCODINGS, capable
from tests.server.client import Editor

IMPORTS = "import torch\nfrom torch import nn"
MODEL = """\
%load_ext autoreload
class Model(nn.Module):
    def forward(self, x):
        "😀"; kind = "😀" if type(x) is torch.Tensor else "other"
        y = x.data
        return y if y.sum() > 0 else -y"""
AT = "vscode-notebook-cell:/nb/a%20model.ipynb#"


class Cells:
    """An editor with a notebook, each cell of which it knows by a number."""

    def __init__(self, editor: Editor, *texts: str, uri: str = "") -> None:
        self.editor = editor
        self.uri = uri or editor.uri("a%20model.ipynb")
        self.version = 1
        self.order = [f"{AT}{number}" for number, _ in enumerate(texts)]
        for cell, text in zip(self.order, texts, strict=True):
            editor.texts[cell], editor.versions[cell] = text, 1
        editor.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(self.uri, "jupyter-notebook", 1, list(map(self._cell, self.order))),
                [self._item(cell) for cell in self.order],
            )
        )

    @staticmethod
    def _cell(uri: str) -> types.NotebookCell:
        return types.NotebookCell(types.NotebookCellKind.Code, uri)

    def _item(self, uri: str) -> types.TextDocumentItem:
        return types.TextDocumentItem(uri, "python", self.editor.versions[uri], self.editor.texts[uri])

    def _did_change(self, **change: object) -> None:
        self.version += 1
        cells = types.NotebookDocumentCellChanges(**change)  # type: ignore[arg-type]
        self.editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(self.version, self.uri),
                types.NotebookDocumentChangeEvent(cells=cells),
            )
        )

    def write(self, number: int, text: str) -> None:
        """Replace the text of a cell."""
        cell = f"{AT}{number}"
        self.editor.texts[cell] = text
        self.editor.versions[cell] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.editor.versions[cell], cell)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self._did_change(text_content=[types.NotebookDocumentCellContentChanges(identifier, [whole])])

    def splice(self, start: int, gone: int, *numbers: int, opened: Sequence[int] = ()) -> None:
        """Take cells away, and put others there."""
        cells = [f"{AT}{number}" for number in numbers]
        self.order[start : start + gone] = cells
        array = types.NotebookCellArrayChange(start, gone, list(map(self._cell, cells)))
        items = [self._item(f"{AT}{number}") for number in opened]
        self._did_change(structure=types.NotebookDocumentCellChangeStructure(array, did_open=items or None))

    async def found(self) -> dict[str, list[str]]:
        """What is shown, by the text that it is about, in each cell."""
        pieces: dict[str, list[str]] = {}
        for cell in self.order:
            shown = await self.editor.diagnostics(cell)
            pieces[cell] = [f"{each.code} {self.editor.piece(cell, each.range)}" for each in shown]
        return {cell.removeprefix(AT): found for cell, found in pieces.items() if found}


FOUND = ["EXP602 type(x) is torch.Tensor", "EXP301 x.data", "EXP101 y.sum() > 0"]


@pytest.mark.parametrize(("pull", "encoding"), each_value([False, True], [*ENCODINGS]))
class TestEachWay:
    @pytest.fixture
    def capabilities(self, encoding: str, pull: bool) -> types.ClientCapabilities:
        return capable(encoding, pull=pull)

    async def test_findings_are_in_their_cells(self, editor: Editor) -> None:
        assert await Cells(editor, IMPORTS, "x = 1", MODEL).found() == {"2": FOUND}

    async def test_a_quick_fix_edits_its_cell(self, editor: Editor) -> None:
        await Cells(editor, IMPORTS, MODEL).found()
        actions = await actions_at(editor, f"{AT}1", "type(x) is torch.Tensor", "quickfix")
        fix = next(action for action in actions if action.is_preferred)
        assert fix.edit is not None
        editor_apply(editor, fix.edit)
        assert editor.texts[f"{AT}1"] == MODEL.replace("type(x) is torch.Tensor", "isinstance(x, torch.Tensor)")


async def actions_at(editor: Editor, cell: str, piece: str, kind: str) -> Sequence[types.CodeAction]:
    only: list[types.CodeActionKind | str] = [kind]
    context = types.CodeActionContext(await editor.diagnostics(cell), only)
    params = types.CodeActionParams(types.TextDocumentIdentifier(cell), editor.range_of(cell, piece), context)
    return await editor.answer(editor.client.text_document_code_action_async(params)) or []


def editor_apply(editor: Editor, edit: types.WorkspaceEdit) -> None:
    """Apply an edit of cells to the texts, without telling the server."""
    from tests.server import texts

    for part in edit.document_changes or ():
        assert isinstance(part, types.TextDocumentEdit)
        uri = part.text_document.uri
        assert part.text_document.version == editor.versions[uri]
        editor.texts[uri] = texts.edited(editor.texts[uri], part.edits, editor.encoding)


class TestChanges:
    async def test_an_edit_of_a_cell(self, editor: Editor) -> None:
        cells = Cells(editor, IMPORTS, MODEL, "done = True")
        assert await cells.found() == {"1": FOUND}
        cells.write(0, "import torch.nn as nn\nimport torch\n\n")
        assert await cells.found() == {"1": FOUND}
        cells.write(1, MODEL.replace("x.data", "x.detach()"))
        assert await cells.found() == {"1": [FOUND[0], FOUND[2]]}

    async def test_cells_come_go_and_move(self, editor: Editor) -> None:
        cells = Cells(editor, IMPORTS, MODEL)
        assert await cells.found() == {"1": FOUND}
        editor.texts[f"{AT}7"], editor.versions[f"{AT}7"] = "z = (\n", 1
        cells.splice(1, 0, 7, opened=[7])
        assert [entry.split()[0] for entry in (await cells.found())["7"]] == ["EXP001"]
        cells.splice(0, 3, 1, 0)
        assert await cells.found() == {"1": FOUND}
        cells.splice(0, 2, 0, 1)
        assert await cells.found() == {"1": FOUND}
        cells.splice(1, 1)
        assert await cells.found() == {}

    async def test_closing_takes_away_what_was_shown(self, editor: Editor) -> None:
        cells = Cells(editor, IMPORTS, MODEL)
        assert await cells.found() == {"1": FOUND}
        editor.client.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(cells.uri), [])
        )
        await editor.until(lambda: not editor.client.published[f"{AT}1"].diagnostics)

    async def test_one_that_is_not_saved(self, editor: Editor) -> None:
        assert await Cells(editor, IMPORTS, MODEL, uri="untitled:Untitled-1").found() == {"1": FOUND}


class TestActions:
    async def test_everything_is_fixed_at_once_in_all_cells(self, editor: Editor) -> None:
        await Cells(editor, IMPORTS, MODEL, MODEL.replace("Model", "Other")).found()
        kind = "notebook.source.fixAll.exportlint"
        (action,) = await actions_at(editor, f"{AT}0", "import torch", kind)
        action = await editor.answer(editor.client.code_action_resolve_async(action))
        assert action.kind == kind
        assert action.edit is not None
        editor_apply(editor, action.edit)
        assert "isinstance(x, torch.Tensor)" in editor.texts[f"{AT}1"]
        assert "isinstance(x, torch.Tensor)" in editor.texts[f"{AT}2"]
        assert editor.texts[f"{AT}0"] == IMPORTS

    async def test_each_cell_is_fixed_by_itself_for_a_client_that_asks_all_of_them(self, editor: Editor) -> None:
        """As VS Code does when it saves: where the first cell is Markdown, nobody is asked about the notebook."""
        cells = [IMPORTS, MODEL, MODEL.replace("Model", "Other")]
        await Cells(editor, *cells).found()
        kind = "source.fixAll.exportlint"
        for number, piece in ((1, "x.data"), (2, "x.data")):
            (action,) = await actions_at(editor, f"{AT}{number}", piece, kind)
            assert action.kind == kind
            action = await editor.answer(editor.client.code_action_resolve_async(action))
            assert action.edit is not None
            editor_apply(editor, action.edit)
            changed = [editor.texts[f"{AT}{n}"] != text for n, text in enumerate(cells)]
            assert changed == [False, True, number == 2]

    async def test_an_import_may_go_to_another_cell(self, editor: Editor) -> None:
        await Cells(
            editor,
            "from torch import nn",
            MODEL.replace("torch.Tensor", "Tensor").replace("%l", "from torch import Tensor\n%l"),
        ).found()
        actions = await actions_at(editor, f"{AT}1", "y.sum() > 0", "quickfix")
        where = next(action for action in actions if "torch.where" in action.title)
        assert where.edit is not None
        editor_apply(editor, where.edit)
        whole = editor.texts[f"{AT}0"] + editor.texts[f"{AT}1"]
        assert whole.count("import torch\n") == 1
        assert "torch.where(y.sum() > 0, y, -y)" in whole

    async def test_a_finding_is_ignored_in_its_cell(self, editor: Editor) -> None:
        cells = Cells(editor, IMPORTS, MODEL)
        await cells.found()
        actions = await actions_at(editor, f"{AT}1", "x.data", "quickfix")
        ignore = next(action for action in actions if action.title == "Ignore EXP301 on this line")
        assert ignore.edit is not None
        editor_apply(editor, ignore.edit)
        assert "y = x.data  # exportlint: ignore[EXP301]\n" in editor.texts[f"{AT}1"]
        cells.write(1, editor.texts[f"{AT}1"])
        assert await cells.found() == {"1": [FOUND[0], FOUND[2]]}
