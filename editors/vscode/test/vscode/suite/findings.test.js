const assert = require("node:assert/strict");

const { codeOf, findings, open, read, settledFindings, vscode } = require("./support");

module.exports = {
  async "findings stand where they are, each once, in UTF-16 columns"() {
    const document = await open(read("model.py"));
    const found = await settledFindings(document, 4);
    assert.deepEqual(
      found.map(({ range, severity, ...rest }) => [
        codeOf(rest),
        vscode.DiagnosticSeverity[severity],
        range.start.line,
        range.start.character,
        document.getText(range),
      ]),
      [
        ["EXP101", "Error", 10, 11, "images.mean() < 0.1"],
        ["EXP101", "Error", 12, 11, "mask.any()"],
        ["EXP602", "Warning", 21, 43, "type(features) is torch.Tensor"],
        ["EXP602", "Warning", 22, 11, "type(extra) is torch.Tensor"],
      ],
    );
    assert.ok(vscode.extensions.getExtension("exportlint.exportlint").isActive);
  },

  async "a finding has help, a link and the path of the tensor"() {
    const document = await open(read("model.py"));
    const [first] = await findings(document, 4);
    assert.match(first.message, /^`if` on tensor data: .*\nhelp: compute both branches/);
    assert.match(String(first.code.target), /EXP101-tensor-branch/);
    const [step] = first.relatedInformation;
    assert.equal(step.message, "`images` is an input of `Brighten.forward`");
    assert.equal(String(step.location.uri), String(document.uri));
    assert.equal(document.getText(step.location.range), "images: Tensor");
  },

  async "findings follow what is typed, and undone"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), "# 𝄞\n");
    edit.replace(document.uri, new vscode.Range(10, 11, 10, 30), "images.ndim > 3");
    await vscode.workspace.applyEdit(edit);
    const [first] = await settledFindings(document, 3);
    assert.equal(document.getText(first.range), "mask.any()");
    await vscode.commands.executeCommand("undo");
    await settledFindings(document, 4);
  },

  async "text that is in no file is linted"() {
    const document = await vscode.workspace.openTextDocument({ language: "python", content: read("model.py") });
    await vscode.window.showTextDocument(document);
    await settledFindings(document, 4);
  },
};
