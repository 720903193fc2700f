const assert = require("node:assert/strict");

const { findings, open, read, sleep, until, vscode } = require("./support");

module.exports = {
  async "applyAutofix fixes the file in front, and no other"() {
    const other = await open(read("model.py"));
    const document = await open(read("model.py"));
    await findings(other, 4);
    await findings(document, 4);
    await vscode.commands.executeCommand("exportlint.applyAutofix");
    await until("the fixed text", () => document.getText().match(/isinstance/g)?.length === 2);
    assert.equal(other.getText(), read("model.py"));
  },

  async "applyAutofix fixes nothing where no Python file is in front"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    await open("text\n", "notes.txt");
    await vscode.commands.executeCommand("exportlint.applyAutofix");
    await sleep(1500);
    assert.equal(document.getText(), read("model.py"));
  },

  async "debugInformation opens a text"() {
    await open(read("model.py"));
    const text = await vscode.commands.executeCommand("exportlint.debugInformation");
    assert.match(text, /exportlint/);
    assert.equal(vscode.window.activeTextEditor.document.getText(), text);
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  },

  async "each command is there once the server runs"() {
    const names = await vscode.commands.getCommands(true);
    for (const { command } of vscode.extensions.getExtension("exportlint.exportlint").packageJSON.contributes.commands) {
      assert.ok(names.includes(command), command);
    }
  },
};
