import assert from "node:assert/strict";
import test from "node:test";

import { expand, isInFolder } from "../../src/expand";

const around = { home: "/home/me", folder: "/work $& dir", environment: { VENV: "/v", EMPTY: "" } };

for (const [text, expected] of [
  ["~/bin/exportlint", "/home/me/bin/exportlint"],
  ["~", "/home/me"],
  ["~other/bin", "~other/bin"],
  ["a~/b", "a~/b"],
  ["${workspaceFolder}/.venv/bin/python", "/work $& dir/.venv/bin/python"],
  ["${userHome}/x", "/home/me/x"],
  ["${env:VENV}/bin:${env:VENV}", "/v/bin:/v"],
  ["${env:MISSING}/bin", "/bin"],
  ["${unknown}/bin", "${unknown}/bin"],
] as const) {
  test(`${text} becomes ${expected}`, () => {
    assert.equal(expand(text, around), expected);
  });
}

test("without a folder its variable stays, so that the log shows what is wrong", () => {
  assert.equal(expand("${workspaceFolder}/x", { ...around, folder: undefined }), "${workspaceFolder}/x");
});

test("what is in the folder is told from what is elsewhere", () => {
  assert.ok(isInFolder("${workspaceFolder}/.venv/bin/python"));
  assert.ok(!isInFolder("${userHome}/bin/python"));
});
