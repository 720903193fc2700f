// Runs in the extension host: VS Code loads this and calls `run`.
const fs = require("node:fs");
const path = require("node:path");

const { servers, until, vscode } = require("./support");

exports.run = () => exports.runAll(__dirname);

/** Run the tests in the files of a directory. */
exports.runAll = async function runAll(directory) {
  const only = JSON.parse(process.env.EXPORTLINT_ONLY ?? "null");
  const files = fs.readdirSync(directory).filter((file) => file.endsWith(".test.js")).sort();
  const start = async () => {
    const extension = await until("the extension", () => vscode.extensions.getExtension("exportlint.exportlint"));
    await extension.activate();
    await until("a server", () => servers().length === 1, 60_000);
  };
  const failed = [];
  const all = files.flatMap((file) => Object.entries(require(path.join(directory, file))));
  const chosen = all.filter(([name]) => !only || only.includes(name));
  for (const [name, test] of [["the server starts", start], ...chosen]) {
    const began = Date.now();
    try {
      await test();
      console.log(`test: ok ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed.push(name);
      console.log(`test: not ok ${name}\n${error.stack}`.replaceAll("\n", "\ntest:     "));
    }
  }
  if (failed.length) {
    throw new Error(`${failed.length} tests failed`);
  }
};
