const assert = require("node:assert/strict");
const path = require("node:path");

const { actions, choose, findings, root, settledFindings, vscode } = require("./support");

module.exports = {
  async "cells of a notebook are linted together, and fixed where they are"() {
    const uri = vscode.Uri.file(path.join(root(), "notebook.ipynb"));
    const notebook = await vscode.workspace.openNotebookDocument(uri);
    await vscode.window.showNotebookDocument(notebook);
    const [first, , last] = notebook.getCells().map(({ document }) => document);
    const [finding] = await settledFindings(last, 1);
    assert.equal(last.getText(finding.range), "type(x) is torch.Tensor");
    assert.deepEqual(await findings(first, 0), []);
    await choose(await actions(last, finding.range, vscode.CodeActionKind.QuickFix), "Use `isinstance` (EXP602)");
    assert.match(last.getText(), /if isinstance\(x, torch\.Tensor\):/);
    await settledFindings(last, 0);
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  },
};
