import assert from "node:assert/strict";
import test from "node:test";

import { asCommand, candidates, type Sources } from "../../src/candidates";

const nothing: Sources = {
  path: undefined,
  interpreter: undefined,
  environment: undefined,
  windows: false,
  strategy: "fromEnvironment",
  bundled: "/x/run.py",
};

/** What is tried, without the bundled ones, which `bundled` tells. */
function commands(sources: Partial<Sources>): string[] {
  return all(sources).filter((command) => !command.endsWith("run.py"));
}

function all(sources: Partial<Sources>): string[] {
  return candidates({ ...nothing, ...sources }).map(({ command }) => command.join(" "));
}

test("the bundled exportlint comes last, with each Python that may run it", () => {
  const environment = ["/p/bin/python"] as const;
  const bundled = ["/p/bin/python /x/run.py", "python3 /x/run.py"];
  assert.deepEqual(all({ environment }).slice(-3), ["python3 -m exportlint", ...bundled]);
  assert.deepEqual(all({ interpreter: ["py", "-3.12"] }), ["py -3.12 -m exportlint", "py -3.12 /x/run.py"]);
});

test("the bundled exportlint comes first where the user wants it so, and only a path before it", () => {
  const strategy = "useBundled";
  const environment = ["/p/bin/python"] as const;
  const path = ["/bin/exportlint"] as const;
  assert.deepEqual(all({ strategy, environment }), ["/p/bin/python /x/run.py", "python3 /x/run.py"]);
  assert.deepEqual(all({ strategy, environment, interpreter: ["py"], path }), ["/bin/exportlint", "py /x/run.py"]);
});

test("what is on PATH is tried where nothing is known", () => {
  assert.deepEqual(commands({}), ["exportlint", "python3 -m exportlint"]);
  assert.deepEqual(commands({ windows: true }), ["exportlint", "python -m exportlint"]);
});

test("the interpreter of the project goes before PATH", () => {
  assert.deepEqual(commands({ environment: ["/p/bin/python"] }), [
    "/p/bin/python -m exportlint",
    "exportlint",
    "python3 -m exportlint",
  ]);
});

test("no other interpreter is tried than one that the user names", () => {
  const environment = ["/p/bin/python"] as const;
  assert.deepEqual(commands({ environment, interpreter: ["py", "-3.12"] }), ["py -3.12 -m exportlint"]);
});

test("a path goes first, and gives way to the interpreter where it cannot be used", () => {
  const environment = ["/p/bin/python"] as const;
  const path = ["/bin/exportlint"] as const;
  assert.deepEqual(commands({ environment, interpreter: ["py"], path }), ["/bin/exportlint", "py -m exportlint"]);
  assert.deepEqual(commands({ environment, path }), [
    "/bin/exportlint",
    "/p/bin/python -m exportlint",
    "exportlint",
    "python3 -m exportlint",
  ]);
});

test("candidates know the setting that names them", () => {
  const settings = (sources: Partial<Sources>): unknown[] =>
    candidates({ ...nothing, ...sources }).map(({ setting }) => setting);
  assert.deepEqual(settings({ path: ["a"], interpreter: ["b"] }), ["path", "interpreter", "interpreter"]);
  assert.deepEqual(new Set(settings({ environment: ["c"] })), new Set([undefined]));
});

test("exportlint can be installed for a Python, not for a path", () => {
  assert.deepEqual(candidates({ ...nothing, interpreter: ["py", "-3.12"] })[0]?.python, ["py", "-3.12"]);
  assert.equal(candidates({ ...nothing, path: ["/bin/exportlint"] })[0]?.python, undefined);
});

test("commands are strings or lists, and empty ones are not set", () => {
  assert.deepEqual(asCommand("/a b/python"), ["/a b/python"]);
  assert.deepEqual(asCommand(["py", "-3.12"]), ["py", "-3.12"]);
  for (const empty of ["", "  ", [], [""], null, undefined, 3, {}]) {
    assert.equal(asCommand(empty), undefined);
  }
});
