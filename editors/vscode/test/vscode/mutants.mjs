// Servers that are broken on purpose: the tests in the extension host have to notice, and nothing else may fail:
// `node mutants.mjs [name]...`.
import path from "node:path";

import { runSuite } from "./lib/extensionHost.mjs";
import { HERE } from "./lib/place.mjs";

const PLACES = "findings stand where they are, each once, in UTF-16 columns";
const FIX = "a safe fix is preferred and gives the fixed text";
const FIX_ASTRAL = "a fix after characters outside the basic plane hits its place";
const TYPING = "findings follow what is typed, and undone";
const PAGE = "a rule is found by its name, and there is no page without a rule";

/** By mutant: which tests fail, and which pass. */
const EXPECTED = {
  columns_in_code_points: [[PLACES, FIX_ASTRAL], [FIX, TYPING]],
  edits_one_line_off: [[FIX, FIX_ASTRAL], [PLACES, TYPING]],
  deaf_to_changes: [[FIX, TYPING], [PLACES, FIX_ASTRAL]],
  push_and_pull: [[PLACES], [PAGE]],
};

process.env.EXPORTLINT_PATIENCE_MS ??= "6000";
let missed = 0;
const wanted = process.argv.slice(2);
for (const [name, [failing, passing]] of Object.entries(EXPECTED)) {
  if (wanted.length && !wanted.includes(name)) {
    continue;
  }
  process.env.EXPORTLINT_ONLY = JSON.stringify([...failing, ...passing]);
  const mutant = path.join(HERE, "../../../../tests/server/mutants", `${name}.py`);
  const { lines } = await runSuite({ server: [mutant], print: () => undefined });
  const named = (word, test) => lines.some((line) => line.startsWith(`${word} ${test}`));
  if (failing.every((test) => named("not ok", test)) && passing.every((test) => named("ok", test))) {
    console.log(`ok ${name} is noticed`);
  } else {
    missed += 1;
    console.log([`not ok ${name}: expected ${failing.length} of these to fail`, ...lines].join("\n    "));
  }
}
process.exitCode = missed ? 1 : 0;
