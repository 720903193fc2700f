const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const { actions, choose, findings, open, read, root, settledFindings, until, vscode, withSettings } = require("./support");

let copies = 0;

/** A copy of the notebook in its editor, and its code cells. */
async function openNotebook() {
  const file = path.join(root(), `notebook${++copies}.ipynb`);
  fs.writeFileSync(file, read("notebook.ipynb"));
  const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
  await vscode.window.showNotebookDocument(notebook);
  const [first, , last] = notebook.getCells().map(({ document }) => document);
  return { file, notebook, first, last };
}

const close = () => vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");

module.exports = {
  async "cells of a notebook are linted together, and fixed where they are"() {
    const { first, last } = await openNotebook();
    const [finding] = await settledFindings(last, 1);
    assert.equal(last.getText(finding.range), "type(x) is torch.Tensor");
    assert.deepEqual(await findings(first, 0), []);
    await choose(await actions(last, finding.range, vscode.CodeActionKind.QuickFix), "Use `isinstance` (EXP602)");
    assert.match(last.getText(), /if isinstance\(x, torch\.Tensor\):/);
    await settledFindings(last, 0);
    await close();
  },

  async "findings in a notebook follow its cells: edited, added, moved, removed"() {
    const { notebook, last } = await openNotebook();
    await settledFindings(last, 1);
    const change = async (...edits) => {
      const edit = new vscode.WorkspaceEdit();
      edit.set(notebook.uri, edits);
      assert.ok(await vscode.workspace.applyEdit(edit));
    };
    const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, last.getText(), "python");
    await change(vscode.NotebookEdit.insertCells(notebook.cellCount, [cell]));
    const added = notebook.cellAt(notebook.cellCount - 1).document;
    await settledFindings(added, 1);
    await findings(last, 1);
    const typed = new vscode.WorkspaceEdit();
    typed.replace(last.uri, new vscode.Range(2, 0, 2, 1000), "        if x.ndim > 3:");
    await vscode.workspace.applyEdit(typed);
    await settledFindings(last, 0);
    await findings(added, 1);
    await change(vscode.NotebookEdit.deleteCells(new vscode.NotebookRange(2, 3)));
    await settledFindings(added, 1);
    await change(vscode.NotebookEdit.deleteCells(new vscode.NotebookRange(0, 1)));
    // nothing says any more that `torch` is torch
    await settledFindings(added, 0);
    await close();
  },

  async "saving a notebook fixes its cells, where the user wants it to"() {
    const wanted = { "notebook.codeActionsOnSave": { "notebook.source.fixAll.exportlint": "explicit" } };
    await withSettings(wanted, async () => {
      const { file, notebook, first, last } = await openNotebook();
      await findings(last, 1);
      const edit = new vscode.WorkspaceEdit();
      edit.insert(first.uri, new vscode.Position(0, 0), "# changed\n");
      await vscode.workspace.applyEdit(edit);
      await notebook.save();
      await until("the fix in the file", () => fs.readFileSync(file, "utf8").includes("isinstance(x, torch.Tensor)"));
      assert.match(last.getText(), /if isinstance\(x, torch\.Tensor\):/);
      await settledFindings(last, 0);
      await close();
    });
  },

  async "applyAutofix fixes the notebook in front, and no other document"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const { last } = await openNotebook();
    await findings(last, 1);
    await vscode.commands.executeCommand("exportlint.applyAutofix");
    await until("the fixed cell", () => last.getText().includes("isinstance(x, torch.Tensor)"));
    assert.equal(document.getText(), read("model.py"));
    await close();
  },
};
