const assert = require("node:assert/strict");

const { findings, open, read, vscode, withSettings, until } = require("./support");

const lenses = (document) => vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 50);

module.exports = {
  async "lenses above each module count what exporting it runs into, and verify it"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const found = await lenses(document);
    assert.deepEqual(
      found.map(({ range, command }) => [range.start.line, command.title]),
      [
        [6, "export: 2 errors"],
        [6, "Verify export"],
        [17, "export: 2 warnings"],
        [17, "Verify export"],
      ],
    );
  },

  async "a lens has no arguments, which VS Code would forget, and peeks at what it counts"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const { command } = (await lenses(document)).find((lens) => lens.command.title === "export: 2 warnings");
    assert.equal(command.arguments, undefined);
    await vscode.commands.executeCommand(command.command);
    const peeks = () => vscode.window.visibleTextEditors.filter((editor) => editor.document === document);
    await until("a peek beside the editor", () => peeks().length === 2);
    const { selection } = peeks().find((editor) => editor !== vscode.window.activeTextEditor) ?? peeks()[1];
    assert.equal(selection.start.line, 21);
    await vscode.commands.executeCommand("closeReferenceSearch");
  },

  async "lenses can be switched off"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    await withSettings({ "exportlint.codeLens.enable": false }, () =>
      until("no lenses", async () => (await lenses(document)).length === 0),
    );
    await until("lenses again", async () => (await lenses(document)).length === 4);
  },
};
