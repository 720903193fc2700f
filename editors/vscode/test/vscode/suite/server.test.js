const assert = require("node:assert/strict");
const fs = require("node:fs");

const {
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
    edit.replace(document.uri, document.lineAt(10).range, "        if self.training:");
    await vscode.workspace.applyEdit(edit);
    await settledFindings(document, 3);
    await server();
  },

  async "another interpreter is another server, also one without exportlint"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const before = await server();
    const python = process.env.EXPORTLINT_PYTHON;
    const without = { "exportlint.path": [], "exportlint.interpreter": [python, "-I", "-S"] };
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
