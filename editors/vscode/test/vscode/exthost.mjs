// The tests inside the extension host: `node exthost.mjs [suite|folders]...`. EXPORTLINT_ONLY may be a JSON list of the
// names of those to run.
import { runSuite } from "./lib/extensionHost.mjs";

const wanted = process.argv.slice(2);
for (const tests of wanted.length ? wanted : ["suite", "folders"]) {
  const { passed } = await runSuite({ tests });
  process.exitCode ||= passed ? 0 : 1;
}
