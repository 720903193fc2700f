const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const { codeOf, findings, open, read, root, servers, settledFindings, sleep, until, vscode, withSettings } = require("./support");

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
    await withSettings({ "exportlint.enable": false }, async () => {
      await settledFindings(document, 0);
      await until("no server", () => servers().length === 0);
      const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri);
      assert.deepEqual(lenses, []);
      await vscode.commands.executeCommand("exportlint.restart");
      assert.deepEqual(servers(), []);
    });
    await findings(document, 4);
  },

  async "the configuration may be a file of the workspace"() {
    const document = await open(read("model.py"));
    await open('select = ["EXP6"]\n', "other.toml");
    await withSettings({ "exportlint.configuration": "${workspaceFolder}/other.toml" }, () => findings(document, 2));
    await findings(document, 4);
  },

  async "files that are not open are reported on, where the user wants it so"() {
    const uri = vscode.Uri.file(path.join(root(), "closed.py"));
    fs.writeFileSync(uri.fsPath, read("model.py"));
    await sleep(1500);
    await findings({ uri }, 0);
    await withSettings({ "exportlint.workspaceDiagnostics": true }, () => settledFindings({ uri }, 4));
    await findings({ uri }, 0);
    fs.rmSync(uri.fsPath);
  },

  async "a configuration file is followed, and what is wrong in it is said there"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const file = path.join(root(), "exportlint.toml");
    const uri = vscode.Uri.file(file);
    try {
      fs.writeFileSync(file, 'select = ["EXP6"]\n');
      await settledFindings(document, 2);
      fs.writeFileSync(file, 'select = ["EXP6"\n');
      await findings({ uri }, 1);
      await findings(document, 2);
    } finally {
      fs.rmSync(file);
    }
    await findings({ uri }, 0);
    await settledFindings(document, 4);
  },

  async "only saving lints, where the user wants it so"() {
    await withSettings({ "exportlint.lint.run": "onSave" }, async () => {
      const document = await open(read("model.py"));
      await findings(document, 4);
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, document.lineAt(10).range, "        if images.ndim > 3:");
      await vscode.workspace.applyEdit(edit);
      await settledFindings(document, 4);
      await document.save();
      await findings(document, 3);
    });
  },
};
