// @ts-check
// Configurations of a sweep: a mark of a picture or a row of the table opens the scenario of its point.

/**
 * Names and scenarios of configurations by number, and the numbers in the rows of the first table.
 * @typedef {{of: Record<string, [string, string]>, rows: number[]}} PointsData
 */

/**
 * Shows the scenario of a configuration when its mark or its row is chosen.
 * @param {PointsData} points
 */
function showPoints({ of, rows }) {
  const title = el("h2"), text = el("pre", { id: "point" });
  const panel = el("section", { "aria-label": "Scenario of a point", "aria-live": "polite", tabindex: "-1", hidden: "" }, title,
    el("p", { class: "note" }, "With the first seed and all defaults. hayase run FILE repeats it, with this text as FILE in the folder of the plan."), text);
  /** @type {SVGGElement[]} */
  const marks = [...document.querySelectorAll("[data-point]")].map((mark) => /** @type {SVGGElement} */ (mark));
  const show = (/** @type {string} */ number) => {
    [title.textContent, text.textContent] = of[number];
    marks.forEach((mark) => mark.classList.toggle("chosen", mark.dataset.point === number));
    panel.hidden = false;
    panel.scrollIntoView({ block: "nearest" });
    panel.focus({ preventScroll: true });
  };
  for (const mark of marks) {
    const number = mark.dataset.point || "";
    if (!of[number]) continue;
    mark.setAttribute("tabindex", "0");
    mark.setAttribute("role", "button");
    mark.addEventListener("click", () => show(number));
    mark.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      show(number);
    });
  }
  [...(document.querySelector("table")?.tBodies[0].rows || [])].forEach((row, i) => {
    const cell = row.cells[0], number = String(rows[i]);
    if (!of[number] || !cell) return;
    cell.replaceChildren(el("button", { type: "button", class: "point", title: "Show the scenario", click: () => show(number) }, ...cell.childNodes));
  });
  document.getElementById("figures")?.after(panel);
}
