// What asks the server to verify a model. The model itself cannot be built, so nothing needs torch.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const { actions, choose, lives, open, program, root, until, vscode, withSettings } = require("./support");

const MODEL = `from torch import nn


class Scaled(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * self.config.scale
`;

const lenses = (document) => vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 50);

/** The title of the first lens, and what a click on it does. */
async function lens(document) {
  const [{ command }] = await until("a lens", async () => {
    const found = await lenses(document);
    return found.length > 0 && found;
  });
  return command;
}

/** The title and the command of the lens with this title, as soon as there is one. */
const lensWith = (document, title) =>
  until(`the lens ${title}`, async () => (await lenses(document)).find(({ command }) => command.title === title)?.command);

/** Calls what verifies with a Python that never gets to the model; gives its process. */
async function hanging(document) {
  const answer = `["exportlint", "", [3, 11, 0], "2.9.0", []]`;
  const python = program("hanging", `[ "$1" = -c ] && echo '${answer}' && exit\necho $$ > "$RUNS"\nexec sleep 1000`);
  await withSettings({ "exportlint.verify.python": python.path }, async () => {
    await until("the setting at the server", async () => {
      const known = await vscode.commands.executeCommand("exportlint.debugInformation", document.uri.toString());
      return known.includes(python.path);
    });
    await vscode.window.showTextDocument(document);
    const { command } = await lensWith(document, "Verify export");
    await vscode.commands.executeCommand(command);
    await until("a start", () => fs.existsSync(python.runs) && fs.readFileSync(python.runs, "utf8").trim());
  });
  const pid = Number(fs.readFileSync(python.runs, "utf8"));
  fs.rmSync(python.runs);
  assert.ok(lives(pid));
  return pid;
}

const RUNS = `from torch import nn


class Runs(nn.Module):
    def forward(self, x):
        return x
`;

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
    assert.equal(stale.severity, vscode.DiagnosticSeverity.Information);
  },

  async "the command verifies the file in front"() {
    const document = await open(MODEL);
    await lens(document);
    await vscode.commands.executeCommand("exportlint.verifyModule");
    await until("a remark", () => remarks(document).length === 1);
  },

  async "a click on the lens cancels what is verified, and ends all that runs"() {
    const document = await open(RUNS);
    const pid = await hanging(document);
    const { command } = await lensWith(document, "Verifying export… (click to cancel)");
    await vscode.commands.executeCommand(command);
    await until("the end of it", () => !lives(pid));
    await lensWith(document, "Verify export");
  },

  async "a server that is restarted takes what is verified with it"() {
    const document = await open(RUNS);
    const pid = await hanging(document);
    await vscode.commands.executeCommand("exportlint.restart");
    await until("the end of it", () => !lives(pid));
    await lensWith(document, "Verify export");
  },

  async "a target is added for what cannot be built, as the configuration is seen, and verifying reads it"() {
    const document = await open(MODEL, "scaled.py");
    const toml = path.join(root(), "pyproject.toml");
    const configuration = await open("[project]\n", "pyproject.toml");
    try {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(configuration.uri, new vscode.Position(1, 0), 'name = "not saved"\n');
      assert.ok(await vscode.workspace.applyEdit(edit));
      await vscode.window.showTextDocument(document);
      const verify = await lens(document);
      // the command saves both
      await vscode.commands.executeCommand(verify.command);
      const add = await lensWith(document, "Add verify target");
      const again = new vscode.WorkspaceEdit();
      again.insert(configuration.uri, new vscode.Position(2, 0), "# nor this\n");
      assert.ok(await vscode.workspace.applyEdit(again));
      await vscode.commands.executeCommand(add.command);
      await until("the target", () => configuration.getText().includes('model = "scaled:Scaled"'));
      const before = '[project]\nname = "not saved"\n# nor this\n';
      assert.ok(configuration.getText().startsWith(`${before}\n[[tool.exportlint.verify.target]]\n`));
      await until("the configuration in front", () => {
        const editor = vscode.window.activeTextEditor;
        return editor?.document === configuration && editor.selection.active.line === 4;
      });
      assert.equal(fs.readFileSync(toml, "utf8"), '[project]\nname = "not saved"\n');
      await configuration.save();
    } finally {
      fs.rmSync(toml);
    }
  },

  async "a quick fix adds the target to a new file"() {
    const document = await open(MODEL, "anew.py");
    const toml = path.join(root(), "exportlint.toml");
    await vscode.commands.executeCommand((await lens(document)).command);
    const [remark] = await until("a remark", () => remarks(document).length === 1 && remarks(document));
    const found = await actions(document, remark.range, vscode.CodeActionKind.QuickFix);
    try {
      await choose(found, "Add a verify target for `Scaled` to exportlint.toml");
      const shown = await until("the file in front", () => {
        const editor = vscode.window.activeTextEditor;
        return editor?.document.uri.fsPath === toml && editor.document;
      });
      assert.ok(shown.getText().startsWith('[[verify.target]]\nmodel = "anew:Scaled"\n'));
    } finally {
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
      fs.rmSync(toml, { force: true });
    }
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
