import assert from "node:assert/strict";
import test from "node:test";

import { forServer } from "../../src/serverSettings";

test("the server gets its settings, with the variables in paths replaced", () => {
  const settings = {
    lint: { select: ["EXP1"], ignore: null },
    configuration: "$x/exportlint.toml",
    logFile: "$x/log",
    mode: "$x",
    path: ["p"],
    interpreter: "i",
    showNotifications: "off",
    trace: { server: "off" },
  };
  assert.deepEqual(forServer(settings, (text) => text.replace("$x", "/folder")), {
    lint: { select: ["EXP1"], ignore: null },
    configuration: "/folder/exportlint.toml",
    logFile: "/folder/log",
    mode: "$x",
  });
});

test("a configuration may be a table", () => {
  const settings = { configuration: { "extend-exclude": ["~"] }, logFile: null };
  assert.deepEqual(forServer(settings, () => assert.fail()), settings);
});
