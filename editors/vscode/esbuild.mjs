// Bundles the extension into dist/, or with --tests its unit tests into out/.
import { build } from "esbuild";

const production = process.argv.includes("--production");
const common = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  await build({ ...common, entryPoints: ["test/unit/all.ts"], outfile: "out/unit.test.cjs", sourcemap: "inline" });
} else {
  await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"],
    minify: production,
    sourcemap: !production,
  });
}
