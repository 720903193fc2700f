const assert = require("node:assert/strict");

const { findings, open, read, until, vscode } = require("./support");

const ask = (what, document, position, ...more) =>
  vscode.commands.executeCommand(`vscode.execute${what}Provider`, document.uri, position, ...more);

async function hoverText(document, position) {
  const hovers = await ask("Hover", document, position);
  return hovers.flatMap(({ contents }) => contents.map(({ value }) => value)).join("\n");
}

const previews = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).map(({ label }) => label);

module.exports = {
  async "hovering over a finding says why, and leads to the page of its rule"() {
    const document = await open(read("model.py"));
    const [first, , third] = await findings(document, 4);
    assert.match(await hoverText(document, first.range.start), /\[tensor-branch \(EXP101\)\]/);
    assert.match(await hoverText(document, third.range.end.translate(0, -1)), /\[tensor-type-test \(EXP602\)\]/);
    assert.equal(await hoverText(document, new vscode.Position(3, 0)), "");
  },

  async "hovering over a code in a comment says what the rule reports"() {
    const document = await open("x = 1  # exportlint: ignore[EXP101]\n");
    const text = await until("the page", () => hoverText(document, new vscode.Position(0, 29)));
    assert.match(text, /\[tensor-branch \(EXP101\)\]/);
  },

  async "codes and names are completed inside a comment"() {
    const document = await open("x = 1  # exportlint: ignore[]\n");
    const { items } = await ask("CompletionItem", document, new vscode.Position(0, 28));
    const labels = items.map(({ label }) => label.label ?? label);
    for (const label of ["EXP101", "tensor-branch"]) {
      assert.ok(labels.includes(label), `${label} is not among ${labels.slice(0, 20).join(", ")}`);
    }
  },

  async "the page of the rule at the cursor opens as a preview"() {
    const document = await open(read("model.py"));
    const [, second] = await findings(document, 4);
    vscode.window.activeTextEditor.selection = new vscode.Selection(second.range.start, second.range.start);
    const text = await vscode.commands.executeCommand("exportlint.showRule");
    assert.match(text, /^# tensor-branch \(EXP101\)/);
    await until("a tab with the page", () => previews().some((label) => label.includes("EXP101.md")));
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  },

  async "a rule is found by its name, and there is no page without a rule"() {
    assert.match(await vscode.commands.executeCommand("exportlint.showRule", "tensor-item"), /\(EXP201\)/);
    const before = previews().length;
    assert.equal(await vscode.commands.executeCommand("exportlint.showRule", "tensor-nonsense"), undefined);
    assert.equal(previews().length, before);
  },
};
