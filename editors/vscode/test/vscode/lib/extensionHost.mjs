// Runs tests inside the extension host, where the API of VS Code can be asked what the user sees.
import path from "node:path";

import { HERE } from "./place.mjs";
import { machineSettings, withEditor } from "./session.mjs";

const TIMEOUT_MS = 600_000;

/** What there is besides the extension, by the directory of the tests. */
const WINDOWS = {
  suite: { python: "python", options: ({ server }) => ({ machine: machineSettings(server), from: ["workspace", "traps"] }) },
  folders: { python: "python-envs", options: () => ({ other: ["workspace", "other"] }) },
};

/** Give the lines that the tests report and whether all passed. `server` stands in for exportlint. */
export function runSuite({ tests = "suite", server = [], print = console.log } = {}) {
  const { python, options } = WINDOWS[tests];
  const settings = { "exportlint.showNotifications": "off" };
  return withEditor({ settings, ...options({ server }) }, async ({ page, url }) => {
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
    const extensions = ["suite", python].map((directory) => path.join(HERE, directory));
    await page.addInitScript(develop, { extensions, index: path.join(HERE, tests, "index.js") });
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
function develop({ extensions, index }) {
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
      extensions: extensions.map(uri),
      extensionTestsPath: uri(index),
    };
    return JSON.stringify(configuration);
  };
}
