import assert from "node:assert/strict";
import test from "node:test";

import { missingMessage, passedOverMessage, runningMessage, type Attempt } from "../../src/messages";

const path: Attempt = { command: ["/no/exportlint"], setting: "path", answer: { kind: "not-found" } };
const python: Attempt = {
  command: ["python3", "-m", "exportlint"],
  python: ["python3"],
  answer: { kind: "not-installed" },
};
const named: Attempt = { ...python, setting: "interpreter" };
const broken: Attempt = { ...named, answer: { kind: "fails", why: "ImportError: libcst" } };

for (const [name, tried, expected] of [
  [
    "a Python without exportlint",
    [python],
    "exportlint is not installed for `python3`: install it, or set `exportlint.interpreter` to a Python that has it.",
  ],
  [
    "a Python without exportlint that the user named",
    [named],
    "exportlint is not installed for `python3`, which the setting `exportlint.interpreter` names: install it, or choose another Python.",
  ],
  [
    "a path that does not exist, and nothing to fall back to",
    [path, python],
    "exportlint was not found: the setting `exportlint.path`, `/no/exportlint` (no such program); `python3 -m exportlint` (exportlint is not installed there). Set `exportlint.interpreter` to a Python that has it.",
  ],
  [
    "a broken one",
    [broken],
    "exportlint was not found: the setting `exportlint.interpreter`, `python3 -m exportlint` (ImportError: libcst). Set `exportlint.interpreter` to a Python that has it.",
  ],
] as const) {
  test(`${name} is told in one line, in terms of settings`, () => {
    assert.equal(missingMessage({ tried }), expected);
  });
}

test("a setting that was passed over is named, with what is wrong", () => {
  const said = "exportlint cannot be run from the setting `exportlint.path`, `/no/exportlint` (no such program).";
  assert.equal(passedOverMessage(path), said);
  const running = { command: ["exportlint"], version: "1.2" } as const;
  assert.equal(runningMessage(running), "exportlint 1.2 is running: exportlint");
  const python = ["python3"] as const;
  const whose = "exportlint 1.2, bundled with the extension, is running: exportlint";
  assert.equal(runningMessage({ ...running, bundled: { python, fixes: true } }), whose);
  assert.equal(
    runningMessage({ ...running, bundled: { python, fixes: false } }),
    `${whose}\nThe bundled exportlint offers no fixes, because \`python3\` does not have libcst: install exportlint there.`,
  );
  assert.equal(runningMessage({ ...running, passedOver: path }), `${said}\nexportlint 1.2 is running: exportlint`);
});
