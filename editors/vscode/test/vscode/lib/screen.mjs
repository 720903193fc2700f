// What is on the screen, in the words of a user.
import fs from "node:fs";
import path from "node:path";

export class Screen {
  constructor(page, pictures) {
    this.page = page;
    this.pictures = pictures;
    page.setDefaultTimeout(Number(process.env.EXPORTLINT_PATIENCE_MS ?? 30_000));
  }

  /** Of the window, or of a part of it. */
  picture(name, part = this.page) {
    return part.screenshot({ path: path.join(this.pictures, `${name}.png`) });
  }

  get problemsPanel() {
    return this.page.locator(".part.panel");
  }

  /** A window that was open before comes back as it was left. */
  async showExplorer() {
    await this.page.locator(".part.statusbar").waitFor();
    await this.page.keyboard.press("Control+Shift+E");
  }

  async openFile(name) {
    const row = this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name });
    await row.first().dblclick({ timeout: 60_000 });
    await this.page.keyboard.press("Control+B");
    // lenses are only asked for while the editor has the focus
    await this.page.locator(".monaco-editor .view-line").first().click();
  }

  /** The line of the editor that has this text. Spaces are not those of the file. */
  line(text) {
    return this.page.locator(".view-line", { hasText: text });
  }

  async squiggles(severity, count) {
    await this.page.waitForFunction(
      ([name, wanted]) => document.querySelectorAll(`.squiggly-${name}`).length === wanted,
      [severity, count],
    );
  }

  /** Squiggles lie over the text: the mouse has to go where they are. */
  async hover(severity, index) {
    const box = await this.page.locator(`.squiggly-${severity}`).nth(index).boundingBox();
    await this.page.mouse.move(box.x + 200, box.y + 100);
    await this.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 5 });
  }

  tooltip(text) {
    return this.page.locator(".monaco-hover", { hasText: text }).first();
  }

  lens(title) {
    return this.page.locator(".codelens-decoration a", { hasText: title });
  }

  /** Click a lens, whose findings are then shown below it. */
  async peek(title, file) {
    await this.lens(title).click();
    await this.page.locator(".peekview-widget", { hasText: file }).waitFor();
    await this.notification("").waitFor({ state: "detached", timeout: 1000 });
  }

  /** As high as can be: rows that do not fit are not there. */
  async openProblems() {
    await this.page.keyboard.press("Control+Shift+M");
    await this.problemsPanel.getByRole("button", { name: /Maximize Panel/ }).click();
  }

  async closeProblems() {
    await this.page.keyboard.press("Control+J");
  }

  /** The texts of the problems, as soon as there are `count`. */
  async problems(count) {
    const rows = this.page.locator(".markers-panel .monaco-list-row", { hasText: "exportlint" });
    await rows.nth(count - 1).waitFor();
    await rows.nth(count).waitFor({ state: "detached" });
    return rows.allInnerTexts();
  }

  async goToProblem(place) {
    await this.page.locator(".markers-panel .monaco-list-row", { hasText: place }).dblclick();
  }

  async openQuickFixes() {
    await this.page.locator(".monaco-editor.focused").waitFor();
    await this.page.keyboard.press("Control+.");
  }

  quickFix(title) {
    return this.page.locator(".action-widget .monaco-list-row.action", { hasText: title });
  }

  notification(text) {
    return this.page.locator(".notification-toast", { hasText: text });
  }

  async status(pattern) {
    const item = this.page.locator('.statusbar-item[id*="exportlint.status"]', { hasText: pattern });
    await item.waitFor();
    return true;
  }

  /** Trust the folder that is open. */
  async trust() {
    await this.command("Workspaces: Manage Workspace Trust");
    await this.page.locator(".workspace-trust-editor").getByRole("button", { name: /^Trust$/ }).click();
  }

  /** Run a command by its name. */
  async command(name) {
    await this.page.keyboard.press("F1");
    await this.page.keyboard.type(name);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().click();
  }

  async save() {
    await this.page.keyboard.press("Control+S");
  }

  /** Whether the file comes to have this content. */
  async file(name, content) {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; await this.page.waitForTimeout(100)) {
      if (fs.existsSync(name) && fs.readFileSync(name, "utf8") === content) {
        return true;
      }
    }
    return false;
  }
}
