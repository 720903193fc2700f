const assert = require("node:assert/strict");

const { codeOf, findings, open, read, settledFindings, vscode, withSettings } = require("./support");

module.exports = {
  async "ignored rules report nothing, until they are wanted again"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    await withSettings({ "exportlint.lint.ignore": ["tensor-branch"] }, async () => {
      const found = await settledFindings(document, 2);
      assert.deepEqual(found.map(codeOf), ["EXP602", "EXP602"]);
    });
    await settledFindings(document, 4);
  },

  async "linting can be switched off"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    await withSettings({ "exportlint.enable": false }, () => settledFindings(document, 0));
    await findings(document, 4);
  },

  async "the configuration may be a file of the workspace"() {
    const document = await open(read("model.py"));
    await open('select = ["EXP6"]\n', "other.toml");
    await withSettings({ "exportlint.configuration": "${workspaceFolder}/other.toml" }, () => findings(document, 2));
    await findings(document, 4);
  },

  async "only saving lints, where the user wants it so"() {
    await withSettings({ "exportlint.lint.run": "onSave" }, async () => {
      const document = await open(read("model.py"));
      await findings(document, 4);
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, document.lineAt(10).range, "        if self.training:");
      await vscode.workspace.applyEdit(edit);
      await settledFindings(document, 4);
      await document.save();
      await findings(document, 3);
    });
  },
};
