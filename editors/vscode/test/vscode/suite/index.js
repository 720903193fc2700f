// Runs in the extension host: VS Code loads this and calls `run`.
const fs = require("node:fs");
const path = require("node:path");

const { servers, until, vscode } = require("./support");

exports.run = async function run() {
  const only = JSON.parse(process.env.EXPORTLINT_ONLY ?? "null");
  const files = fs.readdirSync(__dirname).filter((file) => file.endsWith(".test.js")).sort();
  const failed = [];
  await vscode.extensions.getExtension("exportlint.exportlint").activate();
  await until("a server", () => servers().length === 1, 60_000);
  for (const [name, test] of files.flatMap((file) => Object.entries(require(path.join(__dirname, file))))) {
    if (only && !only.includes(name)) {
      continue;
    }
    const start = Date.now();
    try {
      await test();
      console.log(`test: ok ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      failed.push(name);
      console.log(`test: not ok ${name}\n${error.stack}`.replaceAll("\n", "\ntest:     "));
    }
  }
  if (failed.length) {
    throw new Error(`${failed.length} tests failed`);
  }
};
