import assert from "node:assert/strict";
import test from "node:test";

import { codeOf } from "../../src/findings";

test("a code is bare or comes with a link", () => {
  assert.equal(codeOf({ code: "EXP101" }), "EXP101");
  assert.equal(codeOf({ code: { value: "EXP101" } }), "EXP101");
  assert.equal(codeOf({}), undefined);
});
