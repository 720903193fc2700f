import assert from "node:assert/strict";
import test from "node:test";

import { judge, probe, type Run } from "../../src/probe";

const ok: Run = { error: null, stdout: "", stderr: "" };

function failure(fields: Partial<NonNullable<Run["error"]>>): NonNullable<Run["error"]> {
  return Object.assign(new Error("Command failed: python"), fields);
}

test("the version is taken from what it prints", () => {
  assert.deepEqual(judge({ ...ok, stdout: "exportlint 1.2.3\n" }), { kind: "works", version: "1.2.3", fixes: true });
  assert.deepEqual(judge({ ...ok, stdout: "exportlint 1.2.3\r\n" }), { kind: "works", version: "1.2.3", fixes: true });
});

test("what it lacks is taken from what it prints", () => {
  const stdout = "without libcst\nexportlint 1.2.3\n";
  assert.deepEqual(judge({ ...ok, stdout }), { kind: "works", version: "1.2.3", fixes: false });
});

test("something else that ends well is not exportlint", () => {
  assert.deepEqual(judge({ ...ok, stdout: "ruff 0.16.0\n" }), { kind: "fails", why: "ruff 0.16.0" });
  assert.deepEqual(judge(ok), { kind: "fails", why: "it does not say that it is exportlint" });
});

test("a Python without exportlint is told from one where it is broken", () => {
  const error = failure({ code: 1 });
  assert.equal(judge({ ...ok, error, stderr: "/bin/python: No module named exportlint\n" }).kind, "not-installed");
  assert.equal(
    judge({ ...ok, error, stderr: "ModuleNotFoundError: No module named 'exportlint'\n" }).kind,
    "not-installed",
  );
  const broken = judge({ ...ok, error, stderr: "Traceback\nModuleNotFoundError: No module named 'libcst'\n" });
  assert.deepEqual(broken, { kind: "fails", why: "ModuleNotFoundError: No module named 'libcst'" });
});

test("no answer in time is said to be that", () => {
  assert.deepEqual(judge({ ...ok, error: failure({ killed: true, code: null }) }), {
    kind: "fails",
    why: "no answer within 30 s",
  });
});

test("programs are really run, with their arguments", async () => {
  const script = "console.log('exportlint ' + process.argv.slice(1).join('+'))";
  const answer = await probe([process.execPath, "-e", script, "--", "1.0"], process.cwd());
  assert.deepEqual(answer, { kind: "works", version: "1.0+--version", fixes: true });
  assert.deepEqual(await probe(["/nowhere/exportlint"], process.cwd()), { kind: "not-found" });
});

test("a program that neither answers nor lets itself be ended is given up", async () => {
  const deaf = "process.on('SIGTERM', () => {}); setTimeout(() => {}, 15_000)";
  const began = Date.now();
  const answer = await probe([process.execPath, "-e", deaf, "--"], process.cwd(), 2000);
  assert.equal(answer.kind, "fails");
  assert.ok(Date.now() - began < 12_000);
});
