const assert = require("node:assert/strict");

const { findings, open, read, vscode, withSettings, until } = require("./support");

const lenses = (document) => vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 50);

module.exports = {
  async "a lens above each module counts what exporting it runs into"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const found = await lenses(document);
    assert.deepEqual(
      found.map(({ range, command }) => [range.start.line, command.title]),
      [
        [6, "export: 2 errors"],
        [17, "export: 2 warnings"],
      ],
    );
    const { command, arguments: given } = found[0].command;
    assert.equal(command, "editor.action.goToLocations");
    assert.deepEqual(
      given[2].map(({ range }) => document.getText(range)),
      ["images.mean() < 0.1", "mask.any()"],
    );
  },

  async "lenses can be switched off"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    await withSettings({ "exportlint.codeLens.enable": false }, () =>
      until("no lenses", async () => (await lenses(document)).length === 0),
    );
    await until("lenses again", async () => (await lenses(document)).length === 2);
  },
};
