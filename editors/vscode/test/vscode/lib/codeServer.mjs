// A running VS Code: code-server with the extension installed from its .vsix.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

import { HERE } from "./place.mjs";

const ENTRY = path.join(HERE, "node_modules/code-server/out/node/entry.js");
const VSIX = path.join(HERE, "../../dist/exportlint.vsix");

export async function startCodeServer(place) {
  const env = { ...process.env, ...place.environment };
  const log = fs.openSync(path.join(place.root, "code-server.log"), "a");
  execFileSync(process.execPath, [ENTRY, ...place.arguments, "--install-extension", VSIX], {
    env,
    stdio: ["ignore", log, log],
  });
  const port = await freePort();
  const flags = ["--auth=none", `--bind-addr=127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  const more = [...place.flags, "--disable-getting-started-override"];
  const server = spawn(process.execPath, [ENTRY, ...place.arguments, ...flags, ...more], {
    env,
    stdio: ["ignore", log, log],
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  for (const deadline = Date.now() + 30_000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    if (await fetch(`http://127.0.0.1:${port}/healthz`).then(({ ok }) => ok, () => false)) {
      break;
    }
    if (server.exitCode !== null || Date.now() > deadline) {
      throw new Error(`code-server does not start: see ${place.root}/code-server.log`);
    }
  }
  return {
    url: `http://127.0.0.1:${port}/?${place.query}`,
    stop: () => (server.kill(), exited),
  };
}

async function freePort() {
  const socket = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => socket.once("listening", resolve));
  const { port } = socket.address();
  await new Promise((resolve) => socket.close(resolve));
  return port;
}
