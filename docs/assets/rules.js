// Filters for the tables of rules. Without it, the page is the tables.
"use strict";

(function () {
  const heading = document.querySelector("article h1#rules");
  if (!heading) return;
  const sections = [...document.querySelectorAll("article h2[id]")]
    .map((title) => ({ title, table: tableBelow(title) }))
    .filter(({ table }) => table);
  const rules = sections.flatMap((section) => {
    const columns = [...section.table.querySelectorAll("th")].map((cell) => cell.textContent.trim());
    section.table.dataset.rules = ""; // a class would take the theme's style away
    return [...section.table.querySelectorAll("tbody tr")].map((row) => {
      const cells = Object.fromEntries([...row.cells].map((cell, at) => [columns[at], cell.textContent.trim()]));
      [...row.cells].forEach((cell, at) => (cell.dataset.label = columns[at]));
      return { row, cells, section, text: row.textContent.toLowerCase(), family: section.title.id };
    });
  });

  const form = document.createElement("form");
  form.className = "rule-filters";
  form.setAttribute("role", "search");
  const search = field("Search", Object.assign(document.createElement("input"), { type: "search", name: "words", placeholder: "code, name or words" }));
  const family = select("Family", "family", sections.map(({ title }) => [title.id, title.firstChild.textContent.trim()]));
  const severity = select("Severity", "severity", ["error", "warning", "info"].map((name) => [name, name]));
  const mode = select("Mode", "mode", ["non-strict", "strict"].map((name) => [name, name]));
  const fixable = Object.assign(document.createElement("input"), { type: "checkbox", name: "fixable" });
  const check = document.createElement("label");
  check.className = "check";
  check.append(fixable, "has a fix");
  const count = document.createElement("output");
  form.append(check, count);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { show(); remember(); });
  sections[0].title.before(form);

  const wanted = new URLSearchParams(location.search);
  for (const control of [search, family, severity, mode]) if (wanted.has(control.name)) control.value = wanted.get(control.name);
  fixable.checked = wanted.has("fixable");
  show();

  function show() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const modes = mode.value ? [mode.value] : ["non-strict", "strict"];
    let shown = 0;
    for (const rule of rules) {
      const severities = modes.map((name) => rule.cells[name] || "—").join(", ");
      const fits =
        words.every((word) => rule.text.includes(word)) &&
        (!family.value || rule.family === family.value) &&
        (severity.value ? severities.split(", ").includes(severity.value) : !mode.value || /\w/.test(severities)) &&
        (!fixable.checked || rule.cells.fixes !== "—");
      rule.row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    for (const { title, table } of sections) {
      const isEmpty = !table.querySelector("tbody tr:not([hidden])");
      // asked anew each time: the theme puts tables into elements that scroll
      for (const part of [title, table, ...below(title)]) part.hidden = isEmpty;
    }
    count.textContent = `${shown} of ${rules.length} rules`;
  }

  function remember() {
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", chosen.size ? `?${chosen}` : location.pathname);
  }

  function field(text, control) {
    const label = document.createElement("label");
    label.append(text, control);
    form.append(label);
    return control;
  }

  function select(text, name, options) {
    const control = Object.assign(document.createElement("select"), { name });
    for (const [value, shown] of [["", "any"], ...options]) control.append(new Option(shown, value));
    return field(text, control);
  }

  function below(title) {
    const parts = [];
    for (let at = title.nextElementSibling; at && at.tagName !== "H2"; at = at.nextElementSibling) parts.push(at);
    return parts;
  }

  function tableBelow(title) {
    for (const part of below(title)) {
      const table = part.tagName === "TABLE" ? part : part.querySelector("table");
      if (table) return table;
    }
    return null;
  }
})();
