// What asks the server to verify a model. The model itself cannot be built, so nothing needs torch.
const assert = require("node:assert/strict");
const fs = require("node:fs");

const { open, until, vscode, withSettings } = require("./support");

const MODEL = `from torch import nn


class Scaled(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * self.config.scale
`;

const lenses = (document) => vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 50);

/** The title of the only lens, and what a click on it does. */
async function lens(document) {
  const [{ command }, ...others] = await until("a lens", async () => {
    const found = await lenses(document);
    return found.length > 0 && found;
  });
  assert.equal(others.length, 0);
  return command;
}

const remarks = (document) =>
  vscode.languages.getDiagnostics(document.uri).filter(({ source }) => source === "exportlint-verify");

module.exports = {
  async "a click on the lens verifies what is seen, and what comes of it goes stale with the text"() {
    const document = await open(MODEL);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), "# not saved\n");
    assert.ok(await vscode.workspace.applyEdit(edit));
    const { title, command } = await lens(document);
    assert.equal(title, "Verify export");
    await vscode.commands.executeCommand(command);
    const [remark] = await until("a remark", () => remarks(document).length === 1 && remarks(document));
    assert.equal(document.isDirty, false);
    assert.ok(fs.readFileSync(document.uri.fsPath, "utf8").startsWith("# not saved\n"));
    assert.match(remark.message, /^cannot be verified: its constructor needs `config`/);
    assert.equal(remark.range.start.line, 4);
    assert.equal(remark.severity, vscode.DiagnosticSeverity.Information);
    await until("the verdict in the lens", async () => (await lens(document)).title === "export: cannot be built");
    const more = new vscode.WorkspaceEdit();
    more.insert(document.uri, new vscode.Position(0, 0), "# more\n");
    assert.ok(await vscode.workspace.applyEdit(more));
    const [stale] = await until("a stale remark", () => {
      const found = remarks(document);
      return found.length === 1 && found[0].message.startsWith("stale: ") && found;
    });
    assert.equal(stale.range.start.line, 5);
    assert.deepEqual(stale.tags, [vscode.DiagnosticTag.Unnecessary]);
  },

  async "the command verifies the file in front"() {
    const document = await open(MODEL);
    await lens(document);
    await vscode.commands.executeCommand("exportlint.verifyModule");
    await until("a remark", () => remarks(document).length === 1);
  },

  async "verifying can be switched off"() {
    const document = await open(MODEL);
    await lens(document);
    await withSettings({ "exportlint.verify.enable": false }, () =>
      until("no lens", async () => (await lenses(document)).length === 0),
    );
    await lens(document);
  },
};
