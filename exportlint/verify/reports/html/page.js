"use strict";
// Findings are hidden by their verdicts; which of them, the address says, so that a page can be passed on as it is seen.
const boxes = [...document.querySelectorAll("input[data-verdict]")];
const hidden = new URLSearchParams(location.hash.slice(1)).getAll("hide");
function show() {
  for (const note of document.querySelectorAll("tr.note")) {
    note.hidden = boxes.some((box) => box.dataset.verdict === note.dataset.verdict && !box.checked);
  }
}
for (const box of boxes) {
  box.checked = !hidden.includes(box.dataset.verdict);
  box.addEventListener("change", () => {
    const off = boxes.filter((other) => !other.checked).map((other) => ["hide", other.dataset.verdict]);
    history.replaceState(null, "", `#${new URLSearchParams(off)}`);
    show();
  });
}
show();
