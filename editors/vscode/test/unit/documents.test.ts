import assert from "node:assert/strict";
import test from "node:test";

import { isVerified } from "../../src/documents";

for (const [path, languageId, scheme, expected] of [
  ["/a/model.py", "python", "file", true],
  ["/a/model.py", "python", "untitled", false],
  ["/a/pyproject.toml", "toml", "file", true],
  ["/a/exportlint.toml", "plaintext", "file", true],
  ["/a/other.toml", "toml", "file", false],
  ["/a/README.md", "markdown", "file", false],
] as const) {
  test(`${scheme}:${path} is ${expected ? "" : "not "}read when something is verified`, () => {
    assert.equal(isVerified({ languageId, uri: { scheme, path } }), expected);
  });
}
