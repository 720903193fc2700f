// Runs suite/ inside the extension host, where the API of VS Code can be asked what the user sees.
import path from "node:path";

import { HERE } from "./place.mjs";
import { machineSettings, withEditor } from "./session.mjs";

const TIMEOUT_MS = 600_000;

/** Give the lines that the tests report and whether all passed. `server` stands in for exportlint. */
export function runSuite({ server = [], print = console.log } = {}) {
  const settings = { "exportlint.showNotifications": "off" };
  const from = ["workspace", "traps"];
  return withEditor({ settings, machine: machineSettings(server), from }, async ({ page, url }) => {
    const lines = [];
    const ended = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("the tests do not end")), TIMEOUT_MS).unref();
      // the hooks of VS Code's own integration tests in a browser
      void page.exposeFunction("codeAutomationExit", resolve);
    });
    await page.exposeFunction("codeAutomationLog", (_type, words) => {
      for (const line of words.map(String).join(" ").split("\n")) {
        if (line.startsWith("test: ")) {
          lines.push(line.slice("test: ".length));
          print(lines.at(-1));
        }
      }
    });
    const [suite, python] = ["suite", "python"].map((directory) => path.join(HERE, directory));
    await page.addInitScript(develop, { suite, python });
    await page.goto(url);
    const code = await ended;
    if (!lines.length) {
      throw new Error(`no test ran, and the extension host ended with ${code}`);
    }
    return { lines, passed: code === 0 };
  });
}

/**
 * A released VS Code takes the path of tests from the page's own settings only, not from its address. Answering the
 * request for the page instead breaks the websocket to the extension host.
 */
function develop({ suite, python }) {
  const uri = (file) => ({ $mid: 1, scheme: "vscode-remote", authority: "remote", path: file });
  const getAttribute = Element.prototype.getAttribute;
  Element.prototype.getAttribute = function (name) {
    const value = getAttribute.call(this, name);
    if (name !== "data-settings" || this.id !== "vscode-workbench-web-configuration" || !value) {
      return value;
    }
    const configuration = JSON.parse(value);
    configuration.developmentOptions = {
      ...configuration.developmentOptions,
      extensions: [uri(suite), uri(python)],
      extensionTestsPath: uri(`${suite}/index.js`),
    };
    return JSON.stringify(configuration);
  };
}
