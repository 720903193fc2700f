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
    verify: { enable: true, python: "$x/bin/python" },
  };
  assert.deepEqual(forServer(settings, (text) => text.replace("$x", "/folder"), true), {
    lint: { select: ["EXP1"], ignore: null },
    configuration: "/folder/exportlint.toml",
    mode: "$x",
    verify: { enable: true, python: "/folder/bin/python" },
  });
});

test("a configuration may be a table", () => {
  const settings = { configuration: { "extend-exclude": ["~"] }, verify: {} };
  assert.deepEqual(forServer(settings, () => assert.fail(), true), settings);
});

test("nothing is verified in a folder that is not trusted, whatever its settings say", () => {
  for (const verify of [{ enable: true, python: "" }, {}, undefined]) {
    const given = forServer({ verify }, (text) => text, false);
    assert.deepEqual(given, { verify: { ...verify, enable: false } });
  }
});
