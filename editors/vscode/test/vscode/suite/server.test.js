const assert = require("node:assert/strict");
const fs = require("node:fs");

const {
  actions,
  choose,
  findings,
  open,
  program,
  read,
  server,
  servers,
  settledFindings,
  until,
  vscode,
  withSettings,
} = require("./support");

const commandOf = (pid) => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");

module.exports = {
  async "restart runs another server and findings stay"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const before = await server();
    await vscode.commands.executeCommand("exportlint.restart");
    assert.notEqual(await server(), before);
    await settledFindings(document, 4);
  },

  async "a server that dies is started again"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const before = await server();
    process.kill(before, "SIGKILL");
    await until("another server", () => servers().some((pid) => pid !== before));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, document.lineAt(10).range, "        if images.ndim > 3:");
    await vscode.workspace.applyEdit(edit);
    await settledFindings(document, 3);
    await server();
  },

  async "an interpreter without exportlint runs the bundled one, without fixes if libcst is not there"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const before = await server();
    const python = process.env.EXPORTLINT_PYTHON;
    await withSettings({ "exportlint.path": [], "exportlint.interpreter": [python, "-I", "-S"] }, async () => {
      await until("the bundled server", async () => commandOf(await server()).includes("bundled/run.py"));
      const range = (await settledFindings(document, 4))[3].range;
      const titles = (await actions(document, range, vscode.CodeActionKind.QuickFix)).map(({ title }) => title);
      assert.deepEqual(titles.filter((title) => /EXP602/.test(title)), ["Ignore EXP602 on this line", "Ignore EXP602 in this file"]);
    });
    assert.notEqual(await server(), before);
    await findings(document, 4);
  },

  async "the bundled exportlint runs where the user wants it, with the fixes if libcst is there"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    await withSettings({ "exportlint.path": [], "exportlint.importStrategy": "useBundled" }, async () => {
      await until("the bundled server", async () => commandOf(await server()).includes("bundled/run.py"));
      const range = (await settledFindings(document, 4))[3].range;
      await choose(await actions(document, range, vscode.CodeActionKind.QuickFix), "Use `isinstance` (EXP602)");
      await findings(document, 3);
    });
    await until("the server of the environment", async () => !commandOf(await server()).includes("bundled/run.py"));
  },

  async "another interpreter is another server, also one that cannot run"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const before = await server();
    const without = { "exportlint.path": [], "exportlint.interpreter": ["/no/python"] };
    await withSettings(without, async () => {
      await until("no server", () => servers().length === 0);
      await settledFindings(document, 0);
    });
    assert.notEqual(await server(), before);
    await findings(document, 4);
  },

  async "the interpreter is that of the Python extension, also when another is chosen there"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const python = vscode.extensions.getExtension("ms-python.python").exports;
    await withSettings({ "exportlint.path": [], "exportlint.interpreter": [] }, async () => {
      for (const name of ["one", "other"]) {
        const run = `echo "$@" >> "$RUNS"\nexec '${process.env.EXPORTLINT_PYTHON}' "$@"`;
        const { path: interpreter, runs } = program(name, run);
        python.choose(interpreter);
        await until("the server", () => fs.existsSync(runs) && /-m exportlint server/.test(fs.readFileSync(runs, "utf8")));
        await server();
        await findings(document, 4);
      }
    });
    python.choose(undefined);
  },

  async "what is said to the server can be traced, without a restart"() {
    const document = await open(read("model.py"));
    const python = `'${process.env.EXPORTLINT_PYTHON}' -m exportlint`;
    const { path, runs } = program("recorded", `[ "$1" = server ] || exec ${python} "$@"\ntee -a "$RUNS" | ${python} server`);
    const said = (words) => until(words, () => fs.existsSync(runs) && fs.readFileSync(runs, "utf8").includes(words));
    await withSettings({ "exportlint.path": [path] }, async () => {
      await said('"method":"initialized"');
      const before = await server();
      for (const value of ["verbose", "messages"]) {
        await withSettings({ "exportlint.trace.server": value }, () => said(`{"value":"${value}"}`));
      }
      assert.equal(await server(), before);
    });
    await findings(document, 4);
  },
};
