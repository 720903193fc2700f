import assert from "node:assert/strict";
import test from "node:test";

import { asCommand, candidates, type Sources } from "../../src/candidates";

const nothing: Sources = { path: undefined, interpreter: undefined, environment: undefined, windows: false };

function commands(sources: Partial<Sources>): string[] {
  return candidates({ ...nothing, ...sources }).map(({ command }) => command.join(" "));
}

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

test("an interpreter that the user names is the last candidate", () => {
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
  assert.deepEqual(settings({ path: ["a"], interpreter: ["b"] }), ["path", "interpreter"]);
  assert.deepEqual(settings({ environment: ["c"] }), [undefined, undefined, undefined]);
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
