// What a user sees, in a browser. Pictures of it go to out/; some are those of the extension's README.
import fs from "node:fs";
import path from "node:path";

import { HERE, OUT } from "./lib/place.mjs";
import { Screen } from "./lib/screen.mjs";
import { machineSettings, withEditor } from "./lib/session.mjs";

fs.mkdirSync(OUT, { recursive: true });

/** Raise unless `condition`; else say what was seen. */
function see(what, condition) {
  if (!condition) {
    throw new Error(`not seen: ${what}`);
  }
  console.log(`ok ${what}`);
}

await withEditor({ machine: machineSettings() }, async ({ page, url, workspace }) => {
  const screen = new Screen(page, OUT);
  await page.goto(url);
  await screen.openFile("model.py");

  await screen.squiggles("error", 2);
  await screen.squiggles("warning", 2);
  see("what breaks is underlined as errors, what is wrong as warnings", true);
  await screen.lens("export: 2 errors").waitFor();
  await screen.lens("export: 2 warnings").waitFor();
  see("a lens above each module", true);
  see("the status bar names the version", await screen.status(/exportlint \d+\.\d+/));
  await screen.picture("squiggle");

  await screen.hover("error", 1);
  await screen.tooltip("torch.export cannot know which branch to take").waitFor();
  await screen.tooltip("tensor-branch (EXP101)").waitFor();
  see("the message and the page of the rule on hover", true);
  await screen.picture("hover");
  await page.keyboard.press("Escape");

  await screen.openProblems();
  const problems = await screen.problems(4);
  see("four problems", problems.length === 4);
  see("the first one where it is", problems.some((text) => /\[Ln 11, Col 12\]/.test(text)));
  see("a column after characters of two units", problems.some((text) => /\[Ln 22, Col 44\]/.test(text)));
  await screen.picture("problems", screen.problemsPanel);
  await screen.goToProblem("[Ln 23, Col 12]");
  await screen.closeProblems();

  await screen.openQuickFixes();
  await screen.quickFix("Use `isinstance` (EXP602)").waitFor();
  await screen.quickFix("Ignore EXP602 on this line").waitFor();
  see("the quick fixes of the finding", true);
  await screen.picture("quick-fixes");
  await screen.quickFix("Use `isinstance` (EXP602)").click();
  await screen.line("if isinstance(extra, torch.Tensor):").waitFor();
  await screen.squiggles("warning", 1);
  see("the fixed text, and one finding less", true);
  await screen.picture("fixed");

  await screen.save();
  const expected = fs
    .readFileSync(path.join(HERE, "workspace/model.py"), "utf8")
    .replace("type(extra) is torch.Tensor", "isinstance(extra, torch.Tensor)");
  see("the file has the fix and is otherwise as it was", await screen.file(path.join(workspace, "model.py"), expected));

  await page.keyboard.press("Control+Home");
  await screen.peek("export: 2 errors", "model.py");
  see("a click on a lens peeks at the findings", true);
  await screen.picture("lens");
});

const bare = { "exportlint.interpreter": [process.env.EXPORTLINT_PYTHON, "-I", "-S"] };
await withEditor({ machine: bare }, async ({ page, url }) => {
  const screen = new Screen(page, OUT);
  await page.goto(url);
  await screen.openFile("model.py");
  const message = screen.notification("offers no fixes");
  for (const action of ["Install", "Don't show again"]) {
    await message.getByRole("button", { name: action }).waitFor();
  }
  see("without fixes, the bundled exportlint says what is missing", /libcst/.test(await message.innerText()));
  see("and runs", await screen.status(/exportlint \d+\.\d+\.\d+ \(bundled\)/));
  await screen.squiggles("error", 2);
  await screen.picture("bundled");
});

await withEditor({ machine: machineSettings() }, async ({ page, url }) => {
  const screen = new Screen(page, OUT);
  await page.goto(url);
  await screen.openFile("model.py");
  await screen.status(/exportlint \d/);
  await page.setViewportSize({ width: 1300, height: 800 }); // a narrow window shows no pictures
  await screen.command("exportlint: Get Started");
  const walkthrough = page.locator(".gettingStartedContainer");
  const step = (title) => walkthrough.locator(".step-title", { hasText: title });
  await step("See what torch.export rejects").waitFor();
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".gettingStartedContainer img")].some((image) => image.naturalWidth > 100),
  );
  await screen.picture("walkthrough");
  await step("Run the exportlint of your project").click();
  await page.frameLocator("iframe.webview").frameLocator("#active-frame").getByText("Which exportlint runs").waitFor();
  see("the walkthrough, with its pictures and texts", true);
  await step("See what torch.export rejects").click();
  await walkthrough.getByRole("button", { name: "Open an Example" }).click();
  await screen.line("class Classifier(nn.Module):").waitFor();
  await screen.squiggles("error", 2);
  await screen.squiggles("warning", 1);
  see("its example has findings", true);
});

const without = { "exportlint.interpreter": "/no/python" };
await withEditor({ machine: without }, async ({ page, url }) => {
  const screen = new Screen(page, OUT);
  await page.goto(url);
  await screen.openFile("model.py");
  const message = screen.notification("exportlint was not found");
  await message.waitFor();
  for (const action of ["Choose Interpreter", "Show Log", "Don't show again"]) {
    await message.getByRole("button", { name: action }).waitFor();
  }
  see("a message where no Python runs", true);
  see("it names the setting, and no flag", /`exportlint\.interpreter`/.test(await message.innerText()));
  see("the status bar says that nothing runs", await screen.status(/exportlint\s*$/));
  await screen.picture("missing");
  await message.getByRole("button", { name: "Don't show again" }).click();
  await message.waitFor({ state: "detached" });
  await page.waitForTimeout(8000); // a browser writes down what extensions remember at its leisure
  await page.goto(url);
  await screen.showExplorer();
  await screen.openFile("model.py");
  await screen.status(/exportlint\s*$/);
  await page.waitForTimeout(3000);
  see("it is not shown again", (await message.count()) === 0);
  await screen.command("exportlint: Restart Server");
  await message.waitFor();
  see("but to those who ask", true);
});

await withEditor({ machine: { ...machineSettings(), "exportlint.path": "/no/exportlint" } }, async ({ page, url }) => {
  const screen = new Screen(page, OUT);
  await page.goto(url);
  await screen.openFile("model.py");
  const message = screen.notification("exportlint cannot be run from the setting `exportlint.path`, `/no/exportlint`");
  await message.waitFor();
  await message.getByRole("button", { name: "Open Settings" }).waitFor();
  await screen.squiggles("error", 2);
  see("a path that cannot be run is said, and the interpreter's exportlint runs", await screen.status(/exportlint \d/));
  await screen.picture("path");
});

const disabled = { settings: { "exportlint.enable": false }, machine: { "exportlint.path": "/no/exportlint" } };
await withEditor(disabled, async ({ page, url }) => {
  const screen = new Screen(page, OUT);
  await page.goto(url);
  await screen.openFile("model.py");
  see("where it is disabled, the status bar says so", await screen.status(/exportlint disabled/));
  await page.waitForTimeout(3000);
  see("and nothing is shown", (await screen.notification("exportlint").count()) === 0);
  await screen.squiggles("error", 0);
  await screen.picture("disabled");
});

// A Python that says what it is and then never gets to the model.
const python = `case $1 in -c) echo '["exportlint", "", [3, 11, 0], "2.9.0", []]';; *) echo $$ > "$0.pid"; exec sleep 1000;; esac`;
const slow = {
  machine: { ...machineSettings(), "exportlint.verify.python": "${workspaceFolder}/slow-python" },
  programs: { "slow-python": python },
};
await withEditor(slow, async ({ page, url, workspace }) => {
  const screen = new Screen(page, OUT);
  await page.goto(url);
  await screen.openFile("model.py");
  await screen.lens("Verify export").first().click();
  const progress = screen.notification("Verify export of Brighten");
  await progress.waitFor();
  await screen.lens("Verifying export").waitFor();
  const pid = path.join(workspace, "slow-python.pid");
  while (!fs.existsSync(pid)) {
    await page.waitForTimeout(100);
  }
  await screen.picture("verifying");
  await progress.getByRole("button", { name: "Cancel" }).click();
  await progress.waitFor({ state: "detached" });
  await screen.lens("Verifying export").waitFor({ state: "detached" });
  const process = `/proc/${fs.readFileSync(pid, "utf8").trim()}`;
  for (const deadline = Date.now() + 10_000; fs.existsSync(process) && Date.now() < deadline; ) {
    await page.waitForTimeout(100);
  }
  see("what is verified can be cancelled where it is shown, and is gone soon after", !fs.existsSync(process));
});

// A folder that is not trusted: its settings name a program of its own, and so do those of a careless user.
const evil = 'touch "$(dirname "$0")/ran"\nexec "$EXPORTLINT_PYTHON" -m exportlint "$@"';
const untrusted = {
  machine: { ...machineSettings(), "exportlint.path": "${workspaceFolder}/evil" },
  from: ["workspace", "untrusted"],
  programs: { evil },
  trusted: false,
};
await withEditor(untrusted, async ({ page, url, workspace }) => {
  const screen = new Screen(page, OUT);
  await page.goto(url);
  await screen.openFile("model.py");
  await screen.squiggles("error", 2);
  see("findings in a folder that is not trusted", true);
  see("none of its programs was run", !fs.existsSync(path.join(workspace, "ran")));
  await screen.trust();
  see("once it is trusted, its settings hold", await screen.file(path.join(workspace, "ran"), ""));
});
