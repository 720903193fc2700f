// What several tests need.
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");

const vscode = require("vscode");

const PATIENCE_MS = Number(process.env.EXPORTLINT_PATIENCE_MS ?? 20_000);

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What `get` gives, as soon as it is truthy. */
async function until(what, get, timeout = PATIENCE_MS) {
  for (const deadline = Date.now() + timeout; ; await sleep(50)) {
    const value = await get();
    if (value) {
      return value;
    }
    if (Date.now() > deadline) {
      throw new Error(`not within ${timeout} ms: ${what}`);
    }
  }
}

const root = () => vscode.workspace.workspaceFolders[0].uri.fsPath;

let copies = 0;

/** A file of its own with this content, shown in an editor. */
async function open(content, name = `copy${++copies}.py`) {
  const file = path.join(root(), name);
  fs.writeFileSync(file, content);
  const document = await vscode.workspace.openTextDocument(file);
  await vscode.window.showTextDocument(document, { preview: false });
  return document;
}

/** What a project's file has in it. */
const read = (name) => fs.readFileSync(path.join(root(), name), "utf8");

const codeOf = ({ code }) => String(code?.value ?? code);

/** The diagnostics of a document by exportlint, in their order in the text, as soon as there are `count`. */
async function findings(document, count) {
  const all = () =>
    vscode.languages
      .getDiagnostics(document.uri)
      .filter(({ source }) => source === "exportlint")
      .sort((one, other) => one.range.start.compareTo(other.range.start));
  try {
    return await until(`${count} findings`, () => all().length === count && all());
  } catch (error) {
    throw new Error(`${error.message}, but ${all().length}:\n${all().map(({ message }) => message).join("\n")}`);
  }
}

/** The same, and nothing else comes of it for a while: a second way of telling them would. */
async function settledFindings(document, count) {
  await findings(document, count);
  await sleep(1500);
  return findings(document, count);
}

const actions = (document, range, kind) =>
  vscode.commands.executeCommand("vscode.executeCodeActionProvider", document.uri, range, kind?.value, 50);

/** Do what choosing an action in the menu does. */
async function choose(found, title) {
  const action = found.find((each) => each.title === title);
  if (!action) {
    throw new Error(`no action ${title}, but ${found.map((each) => each.title).join("; ")}`);
  }
  if (action.edit && !(await vscode.workspace.applyEdit(action.edit))) {
    throw new Error(`the edit of ${title} is refused`);
  }
  if (action.command) {
    await vscode.commands.executeCommand(action.command.command, ...(action.command.arguments ?? []));
  }
}

/** Run `work` with settings that hold for the workspace, and take them back. */
async function withSettings(settings, work) {
  const configuration = () => vscode.workspace.getConfiguration();
  const set = async (values) => {
    for (const [key, value] of Object.entries(values)) {
      await configuration().update(key, value, vscode.ConfigurationTarget.Workspace);
    }
  };
  await set(settings);
  try {
    return await work();
  } finally {
    await set(Object.fromEntries(Object.keys(settings).map((key) => [key, undefined])));
  }
}

/** The processes that the extension host has started and that are servers. */
function servers() {
  const lines = execFileSync("ps", ["-ww", "-o", "pid=,args=", "--ppid", String(process.pid)], { encoding: "utf8" });
  return lines.split("\n").filter((line) => / server$/.test(line)).map((line) => Number.parseInt(line, 10));
}

/** The process id of the only server. */
const server = () => until("one server", () => servers().length === 1 && servers()[0]);

/** Whether there is a process with this id. */
function lives(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A program of the workspace, in the language of sh, that finds the file `runs` in `$RUNS`. */
function program(name, script) {
  const file = path.join(root(), name);
  const runs = `${file}.runs`;
  fs.writeFileSync(file, `#!/bin/sh\nRUNS='${runs}'\n${script}\n`, { mode: 0o755 });
  return { path: file, runs };
}

module.exports = {
  actions,
  choose,
  codeOf,
  findings,
  lives,
  open,
  program,
  read,
  root,
  server,
  servers,
  settledFindings,
  sleep,
  until,
  vscode,
  withSettings,
};
