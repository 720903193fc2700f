const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const {
  actions,
  choose,
  codeOf,
  findings,
  program,
  server,
  settledFindings,
  until,
  vscode,
} = require("../suite/support");

const folders = () => vscode.workspace.workspaceFolders.map(({ uri }) => uri);

async function show(uri) {
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: false });
  return document;
}

const model = (folder) => show(vscode.Uri.joinPath(folder, "model.py"));

const codes = (found) => found.map(codeOf);

module.exports = {
  async "each folder has its own settings"() {
    const [project, other] = folders();
    assert.deepEqual(codes(await settledFindings(await model(other), 2)), ["EXP602", "EXP602"]);
    assert.deepEqual(codes(await settledFindings(await model(project), 4)), ["EXP101", "EXP101", "EXP602", "EXP602"]);
  },

  async "settings of a folder can change, for this folder only"() {
    const [project, other] = folders();
    const [one, two] = [await model(project), await model(other)];
    await findings(one, 4);
    const settings = vscode.workspace.getConfiguration("exportlint", other);
    const set = (value) => settings.update("lint.ignore", value, vscode.ConfigurationTarget.WorkspaceFolder);
    await set([]);
    await findings(two, 4);
    await set(["tensor-type-test"]);
    assert.deepEqual(codes(await settledFindings(two, 2)), ["EXP101", "EXP101"]);
    assert.deepEqual(codes(await settledFindings(one, 4)).length, 4);
    await set(["tensor-branch"]);
    await settledFindings(two, 2);
  },

  async "folders come and go, and the server stays"() {
    const before = await server();
    const root = fs.mkdtempSync(path.join(os.tmpdir(), "exportlint third "));
    const uri = vscode.Uri.file(root);
    fs.copyFileSync(path.join(folders()[0].fsPath, "model.py"), path.join(root, "model.py"));
    fs.mkdirSync(path.join(root, ".vscode"));
    fs.writeFileSync(path.join(root, ".vscode", "settings.json"), '{ "exportlint.enable": false }');
    const document = await model(uri);
    await findings(document, 4);
    try {
      assert.ok(vscode.workspace.updateWorkspaceFolders(2, 0, { uri }));
      await settledFindings(document, 0);
      assert.ok(vscode.workspace.updateWorkspaceFolders(2, 1));
      await settledFindings(document, 4);
    } finally {
      fs.rmSync(root, { recursive: true });
    }
    assert.equal(await server(), before);
  },

  async "a file in no folder is linted and fixed, with the settings of the user"() {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), "exportlint alone "));
    const file = path.join(root, "model ä%20.py");
    fs.copyFileSync(path.join(folders()[0].fsPath, "model.py"), file);
    try {
      const document = await show(vscode.Uri.file(file));
      const [, , third] = await settledFindings(document, 4);
      await choose(await actions(document, third.range, vscode.CodeActionKind.QuickFix), "Use `isinstance` (EXP602)");
      await findings(document, 3);
      await vscode.commands.executeCommand("exportlint.applyAutofix");
      await findings(document, 2);
    } finally {
      fs.rmSync(root, { recursive: true });
    }
  },

  async "the interpreter is that of Python Environments for the first folder"() {
    const [project, other] = folders();
    const document = await model(project);
    await findings(document, 4);
    const environments = vscode.extensions.getExtension("ms-python.vscode-python-envs").exports;
    const record = `echo "$@" >> "$RUNS"\nexec '${process.env.EXPORTLINT_PYTHON}' "$@"`;
    const mine = program("mine with a space", record);
    const foreign = program("foreign", record);
    environments.choose(other, foreign.path);
    environments.choose(project, mine.path, "-X", "utf8");
    const said = () => (fs.existsSync(mine.runs) ? fs.readFileSync(mine.runs, "utf8") : "");
    await until("the server", () => said().includes("-X utf8 -m exportlint server"));
    await server();
    await findings(document, 4);
    assert.ok(!fs.existsSync(foreign.runs));
  },
};
