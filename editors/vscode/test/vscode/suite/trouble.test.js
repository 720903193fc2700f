// Servers that do not do what they should.
const assert = require("node:assert/strict");
const fs = require("node:fs");

const {
  findings,
  lives,
  open,
  program,
  read,
  server,
  servers,
  settledFindings,
  sleep,
  until,
  vscode,
  withSettings,
} = require("./support");

const VERSION = 'if [ "$1" = --version ]; then echo exportlint 9.9; exit; fi\n';

/** The number of times that the server `program` was started. */
const starts = (runs) => (fs.existsSync(runs) ? fs.readFileSync(runs, "utf8").split("\n").length - 1 : 0);

module.exports = {
  async "restart replaces a server that hangs, and ends it"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const before = await server();
    process.kill(before, "SIGSTOP");
    await vscode.commands.executeCommand("exportlint.restart");
    await until("no hanging server", () => !lives(before));
    assert.notEqual(await server(), before);
    await findings(document, 4);
  },

  async "a server that does not start is not tried again and again, and another one takes its place"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const { path, runs } = program("broken", `${VERSION}echo run >> "$RUNS"\nexit 2`);
    await withSettings({ "exportlint.path": [path] }, async () => {
      await until("a start", () => starts(runs) > 0);
      await sleep(3000);
      assert.equal(starts(runs), 1);
      assert.deepEqual(servers(), []);
    });
    await server();
    await findings(document, 4);
  },

  async "a path that cannot be run gives way to the interpreter"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const { path, runs } = program("refused", 'echo "$@" >> "$RUNS"\nexit 3');
    const python = process.env.EXPORTLINT_PYTHON;
    await withSettings({ "exportlint.path": [path], "exportlint.interpreter": [python] }, async () => {
      await until("a try", () => starts(runs) > 0);
      await server();
      await settledFindings(document, 4);
      assert.match(fs.readFileSync(runs, "utf8"), /^(--version\n)+$/);
    });
    await server();
    await findings(document, 4);
  },

  async "a server that never answers gives way to another one, and ends"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const { path, runs } = program("silent", `${VERSION}echo $$ >> "$RUNS"\nexec sleep 1000`);
    await withSettings({ "exportlint.path": [path] }, () => until("a start", () => starts(runs) > 0));
    await until("no silent server", () => !lives(Number(fs.readFileSync(runs, "utf8"))));
    await server();
    await findings(document, 4);
  },

  async "a server that dies again and again is left alone at last, and restart starts it"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const dead = [];
    while (dead.length < 5) {
      const pid = await until(`server ${dead.length + 1}`, () => servers().find((each) => !dead.includes(each)));
      // its commands are there while it runs
      await until("an answer", async () => (await vscode.commands.getCommands()).includes("exportlint.showRule"));
      await findings(document, 4);
      process.kill(pid, "SIGKILL");
      dead.push(pid);
    }
    await sleep(3000);
    assert.deepEqual(servers(), []);
    await vscode.commands.executeCommand("exportlint.restart");
    await server();
    await findings(document, 4);
  },
};
