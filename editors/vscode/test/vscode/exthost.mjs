// The tests inside the extension host; EXPORTLINT_ONLY may be a JSON list of their names.
import { runSuite } from "./lib/extensionHost.mjs";

const { passed } = await runSuite();
process.exitCode = passed ? 0 : 1;
