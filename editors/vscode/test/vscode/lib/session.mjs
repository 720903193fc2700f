// VS Code in a browser, for as long as `work` lasts.
import fs from "node:fs";
import path from "node:path";

import { startBrowser } from "./browser.mjs";
import { startCodeServer } from "./codeServer.mjs";
import { makePlace, OUT } from "./place.mjs";

/** The settings by which the extension runs the exportlint under test, or another server in its place. */
export function machineSettings(server = []) {
  const python = process.env.EXPORTLINT_PYTHON;
  if (!python) {
    throw new Error("EXPORTLINT_PYTHON has to name a Python that has exportlint");
  }
  return server.length ? { "exportlint.path": [python, ...server] } : { "exportlint.interpreter": python };
}

export async function withEditor(options, work) {
  const place = makePlace(options);
  const stops = [() => place.remove()];
  try {
    const editor = await startCodeServer(place);
    stops.unshift(() => editor.stop());
    const { page, stop } = await startBrowser();
    stops.unshift(stop);
    try {
      return await work({ page, url: editor.url, workspace: place.workspace });
    } catch (error) {
      fs.mkdirSync(OUT, { recursive: true });
      await page.screenshot({ path: path.join(OUT, "failure.png") }).catch(() => undefined);
      throw error;
    }
  } finally {
    for (const stop of stops) {
      await stop();
    }
  }
}
