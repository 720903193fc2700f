// The browser that shows VS Code.
import fs from "node:fs";

import { chromium } from "playwright-core";

const KNOWN = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function startBrowser() {
  const executablePath = process.env.CHROME ?? KNOWN.find((file) => fs.existsSync(file));
  if (!executablePath) {
    throw new Error("no Chromium or Chrome found: install one, or name it by CHROME");
  }
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const context = await browser.newContext({ viewport: { width: 900, height: 660 } });
  return { page: await context.newPage(), stop: () => browser.close() };
}
