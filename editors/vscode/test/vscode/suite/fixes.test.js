const assert = require("node:assert/strict");

const { actions, choose, findings, open, read, settledFindings, vscode, withSettings } = require("./support");

const QUICK = vscode.CodeActionKind.QuickFix;
const titles = (found) => found.map(({ title }) => title);

module.exports = {
  async "a safe fix is preferred and gives the fixed text"() {
    const document = await open(read("model.py"));
    const [, , , last] = await findings(document, 4);
    const found = await actions(document, last.range, QUICK);
    const title = "Use `isinstance` (EXP602)";
    assert.deepEqual(titles(found.filter(({ isPreferred }) => isPreferred)), [title]);
    await choose(found, title);
    const expected = read("model.py").replace("type(extra) is torch.Tensor", "isinstance(extra, torch.Tensor)");
    assert.equal(document.getText(), expected);
    await settledFindings(document, 3);
  },

  async "a fix after characters outside the basic plane hits its place"() {
    const document = await open(read("model.py"));
    const [, , third] = await findings(document, 4);
    await choose(await actions(document, third.range, QUICK), "Use `isinstance` (EXP602)");
    const expected = read("model.py").replace("type(features) is torch.Tensor", "isinstance(features, torch.Tensor)");
    const joined = (text) => text.replace(/\s+/g, ""); // the fixed line is a long one, which is wrapped
    assert.equal(joined(document.getText()), joined(expected));
  },

  async "an unsafe fix says so and is not preferred"() {
    const document = await open(read("model.py"));
    const [first] = await findings(document, 4);
    const found = await actions(document, first.range, QUICK);
    const title = "Choose with `torch.where` (unsafe) (EXP101)";
    assert.ok(titles(found).includes(title), titles(found).join("; "));
    assert.ok(!found.find((action) => action.title === title).isPreferred);
    await choose(found, title);
    assert.match(document.getText(), /\n {8}images = torch\.where\(images\.mean\(\) < 0\.1, images \* 2, images\)\n/);
  },

  async "all findings of a rule are fixed in the file"() {
    const document = await open(read("model.py"));
    const [, , , last] = await findings(document, 4);
    await choose(await actions(document, last.range, QUICK), "Fix all tensor-type-test (EXP602) in this file");
    assert.equal(document.getText().match(/isinstance/g).length, 2);
    await settledFindings(document, 2);
  },

  async "a finding is ignored on its line, or in the file"() {
    const document = await open(read("model.py"));
    const [first] = await findings(document, 4);
    await choose(await actions(document, first.range, QUICK), "Ignore EXP101 on this line");
    assert.match(document.lineAt(10).text, /# exportlint: ignore\[EXP101\]/);
    const [second] = await settledFindings(document, 3);
    await choose(await actions(document, second.range, QUICK), "Ignore EXP101 in this file");
    assert.match(document.getText(), /# exportlint: file-ignore\[EXP101\]/);
  },

  async "fix all takes what is safe"() {
    const document = await open(read("model.py"));
    await findings(document, 4);
    const everything = new vscode.Range(0, 0, document.lineCount, 0);
    const kind = vscode.CodeActionKind.SourceFixAll.append("exportlint");
    const found = await actions(document, everything, kind);
    assert.deepEqual(titles(found), ["Fix all with exportlint"]);
    await choose(found, "Fix all with exportlint");
    assert.equal(document.getText().match(/isinstance/g).length, 2);
    assert.ok(!document.getText().includes("torch.where"));
  },

  async "saving fixes, where the user wants it to"() {
    const wanted = { "editor.codeActionsOnSave": { "source.fixAll.exportlint": "explicit" } };
    await withSettings(wanted, async () => {
      const document = await open(read("model.py"));
      await findings(document, 4);
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(0, 0), "# changed\n");
      await vscode.workspace.applyEdit(edit);
      await document.save();
      assert.ok(!document.isDirty);
      assert.equal(document.getText().match(/isinstance/g)?.length, 2);
    });
  },
};
