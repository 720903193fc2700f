import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";

interface Setting {
  readonly scope: string;
  readonly default: unknown;
  readonly description?: string;
  readonly markdownDescription?: string;
  readonly enum?: unknown[];
  readonly enumDescriptions?: string[];
}

interface Step {
  readonly title: string;
  readonly description: string;
  readonly media: { readonly image?: string; readonly altText?: string; readonly markdown?: string };
  readonly completionEvents: string[];
}

interface Manifest {
  readonly capabilities: { readonly untrustedWorkspaces: { readonly restrictedConfigurations: string[] } };
  readonly contributes: {
    readonly commands: { readonly command: string }[];
    readonly walkthroughs: { readonly steps: Step[] }[];
    readonly configuration: { readonly properties: Readonly<Record<string, Setting>> };
  };
  readonly engines: { readonly vscode: string };
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const settings = Object.entries(manifest.contributes.configuration.properties);
const readme = readFileSync("README.md", "utf8");

test("every setting says what it is for, where it can be set, and what it is otherwise", () => {
  for (const [name, setting] of settings) {
    assert.match(name, /^exportlint\./);
    assert.ok(setting.description ?? setting.markdownDescription, name);
    assert.ok("scope" in setting && "default" in setting, name);
    if (setting.enumDescriptions) {
      assert.equal(setting.enumDescriptions.length, setting.enum?.length, name);
    }
  }
});

test("what chooses a program or a file is restricted, and no workspace sets it by the way", () => {
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  for (const name of ["path", "interpreter", "importStrategy", "configuration", "logFile", "verify.python"]) {
    assert.ok(restricted.includes(`exportlint.${name}`), name);
  }
  const scopes = Object.fromEntries(settings.map(([name, { scope }]) => [name, scope]));
  assert.equal(scopes["exportlint.path"], "machine-overridable");
  assert.equal(scopes["exportlint.interpreter"], "machine-overridable");
  assert.equal(scopes["exportlint.verify.python"], "machine-overridable");
  assert.equal(scopes["exportlint.logFile"], "machine");
});

test("README lists every setting with its default, and every command", () => {
  for (const [name, setting] of settings) {
    assert.ok(readme.includes(`| \`${name}\` | \`${JSON.stringify(setting.default)}\` |`), name);
  }
  for (const { command } of manifest.contributes.commands) {
    assert.ok(readme.includes(`\`${command}\``), command);
  }
});

test("each step of the walkthrough has its picture or text, and leads to settings and commands that there are", () => {
  const known = new Set(manifest.contributes.commands.map(({ command }) => command));
  const names = new Set(settings.map(([name]) => name));
  const steps = manifest.contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
  assert.ok(steps.length > 0);
  for (const { title, description, media, completionEvents } of steps) {
    assert.ok(existsSync(media.image ?? media.markdown ?? ""), title);
    assert.ok(media.markdown ?? media.altText, title);
    const led = [...description.matchAll(/command:(exportlint\.\w+)/g)].map(([, command]) => command ?? "");
    const ended = completionEvents.map((event) => event.split(":")[1] ?? "");
    for (const name of [...led, ...ended]) {
      assert.ok(known.has(name) || names.has(name), `${title}: ${name}`);
    }
    for (const [, argument] of description.matchAll(/openSettings\?([^)]+)\)/g)) {
      assert.ok(names.has(String((JSON.parse(decodeURIComponent(argument ?? "")) as unknown[])[0])), title);
    }
  }
});

test("the types are those of the oldest VS Code that is supported", () => {
  assert.equal(manifest.devDependencies["@types/vscode"]?.slice(1), manifest.engines.vscode.slice(1));
});
