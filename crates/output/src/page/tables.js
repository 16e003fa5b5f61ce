// @ts-check
"use strict";

/**
 * Returns the number in a cell without the spaces between its digits, or NaN for other text.
 * @param {string} text
 */
function numberOf(text) {
  const plain = text.replace(/[\s\u202f]/g, "").replace(/%$/, "");
  return plain === "" ? NaN : Number(plain);
}

/**
 * Compares two cells: numbers by value and before text, text by its letters.
 * @param {string} a
 * @param {string} b
 */
function compareCells(a, b) {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) {
    return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a.localeCompare(b, "en");
  }
  return x - y;
}

/**
 * Returns rows of cells as CSV.
 * @param {string[][]} rows
 */
function toCsv(rows) {
  const cell = (/** @type {string} */ text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/** @param {HTMLTableElement} table */
function enliven(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const texts = (/** @type {HTMLTableRowElement} */ row) => [...row.cells].map((cell) => cell.textContent || "");
  const headings = [...(table.tHead?.rows[0].cells || [])];
  let [sorted, descends] = [-1, false];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.title = heading.title || "Sort by this column";
    heading.append(button);
    button.addEventListener("click", () => {
      descends = sorted === column && !descends;
      sorted = column;
      const order = [...rows].sort((a, b) => compareCells(texts(a)[column], texts(b)[column]));
      body.append(...(descends ? order.reverse() : order));
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", descends ? "descending" : "ascending");
    });
  });
  const tools = document.createElement("div");
  tools.className = "tools";
  if (rows.length > 8) {
    const filter = document.createElement("input");
    filter.type = "search";
    filter.placeholder = "filter rows";
    filter.setAttribute("aria-label", "Filter rows");
    const count = document.createElement("span");
    count.setAttribute("aria-live", "polite");
    filter.addEventListener("input", () => {
      const wanted = filter.value.toLowerCase();
      rows.forEach((row) => (row.hidden = !texts(row).join(" ").toLowerCase().includes(wanted)));
      const shown = rows.filter((row) => !row.hidden).length;
      count.textContent = wanted ? `${shown} of ${rows.length}` : "";
    });
    tools.append(filter, count);
  }
  const copy = document.createElement("button");
  copy.type = "button";
  copy.textContent = "copy as CSV";
  copy.addEventListener("click", async () => {
    const shown = [...body.rows].filter((row) => !row.hidden).map(texts);
    const csv = toCsv([headings.map((heading) => heading.textContent || ""), ...shown]);
    try {
      await navigator.clipboard.writeText(csv);
      copy.textContent = "copied";
    } catch {
      // A file opened from disk may have no clipboard: the text is shown to be copied by hand.
      const text = document.createElement("pre");
      text.textContent = csv;
      table.after(text);
      copy.disabled = true;
    }
  });
  tools.append(copy);
  table.before(tools);
}

/** @param {HTMLElement} figure */
function enlarge(figure) {
  const button = document.createElement("button");
  button.type = "button";
  const name = () => (button.textContent = figure.classList.contains("full") ? "fit" : "full size");
  button.addEventListener("click", () => {
    figure.classList.toggle("full");
    name();
  });
  name();
  figure.append(button);
}
