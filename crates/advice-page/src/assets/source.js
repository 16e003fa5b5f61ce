// Source view: cost of each line, and the marks of the chosen advice.

let rowsOfLines = [];

/** Renders code with the names of MPI highlighted. */
function codeText(text) {
  const line = el("span");
  let at = 0;
  for (const match of text.matchAll(/\bp?mpi_\w+/gi)) {
    line.append(text.slice(at, match.index), el("span", { class: "mpi" }, match[0]));
    at = match.index + match[0].length;
  }
  line.append(text.slice(at) || (at ? "" : " "));
  return line;
}

/** Returns the lines of a file by number from 0, for any line ending; lines that are not in the page are gaps. */
function linesOf(file) {
  if (file.known) return file.known;
  const all = file.text === null ? [] : file.text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
  if (!file.lines) return file.known = all;
  let at = 0;
  file.known = [];
  for (const [first, count] of file.lines) for (let i = 0; i < count; i++) file.known[first - 1 + i] = all[at++];
  return file.known;
}

/** Cost of each line of the shown file [ns]. */
function lineCosts() {
  const by = new Map();
  for (const cost of costs(state.rank)) {
    const [file, line] = data.places[cost.place];
    if (file !== state.file) continue;
    const known = by.get(line);
    if (known) { known.total += cost.total; known.calls += cost.calls; } else by.set(line, { total: cost.total, calls: cost.calls });
  }
  return by;
}

const wholeTime = () => sum(data.uses.map(([ns], rank) => state.rank < 0 || rank === state.rank ? sum(ns) : 0)) + (state.rank < 0 ? sum(data.otherUses) : 0);

function drawSource() {
  const code = $("code"), file = data.files[state.file];
  rowsOfLines = [];
  if (!file) {
    code.replaceChildren(el("p", { class: "empty" }, "The run names no line of a source: it was recorded without debug information (compile with -g), or comes from a trace that has none."));
    return;
  }
  const finding = data.findings[state.finding];
  const marks = new Map();
  for (const mark of finding ? finding.marks : []) {
    if (fileOf(mark.file) !== state.file || mark.line === 0) continue;
    for (let line = mark.line; line <= Math.max(mark.line, Math.min(mark.last_line, mark.line + 20000)); line++) marks.set(line, [...marks.get(line) || [], mark]);
  }
  const refs = new Map();
  data.findings.forEach((other, i) => other.marks.forEach(mark => {
    if (fileOf(mark.file) === state.file && mark.role === "communication") refs.set(mark.line, [...new Set([...refs.get(mark.line) || [], i])]);
  }));
  const cost = lineCosts(), whole = wholeTime();
  const most = Math.max(1, ...[...cost.values()].map(line => line.total));
  const lines = linesOf(file);
  // Without a text, lines known by number are shown.
  const numbers = file.text === null ? [...new Set([...cost.keys(), ...marks.keys(), ...refs.keys()])].filter(Boolean).sort((a, b) => a - b)
    : Object.keys(lines).map(i => Number(i) + 1);
  const parts = [];
  if (file.text === null) parts.push(el("p", { class: "empty" }, file.left_out ? `${file.path} was left out, since the page would be too long: its lines are shown by number.` : `${file.path} could not be read: its lines are shown by number.`));
  let before = file.lines ? 0 : Infinity;
  for (const number of numbers) {
    if (number > before + 1) parts.push(el("div", { class: "say" }, `lines ${count(before + 1)} to ${count(number - 1)} are not in this page`));
    before = file.lines ? number : Infinity;
    const of = marks.get(number) || [], spent = cost.get(number), known = refs.get(number);
    const role = of.length ? of[0].role : "";
    const row = el("div", { class: `row ${role} ${spent || of.length ? "hot" : ""}`, "data-line": number, role: "option", id: `line-${number}`, "aria-selected": "false" },
      el("span", { class: "refs" }, known ? `${known[0] + 1}${known.length > 1 ? `+${known.length - 1}` : ""}` : ""),
      el("span", { class: `glyph ${role}`, "aria-label": role ? data.roles[role] : "" }, [...new Set(of.map(mark => GLYPHS[mark.role]))].join("").slice(0, 2)),
      el("span", { class: "number" }, `${number}`),
      spent && spent.total > 0 ? el("span", { class: "heat", title: `${time(spent.total)}${spent.calls ? ` in ${plural(spent.calls, "call")}` : ""}` }, whole > 0 && spent.total / whole >= 0.0005 ? percent(spent.total / whole) : "", el("i", { style: { width: `${Math.max(1, spent.total / most * 38)}px` } })) : el("span"),
      el("span", { class: "text" }, codeText(file.text === null ? "" : lines[number - 1])));
    if (known) row.firstChild.title = `Advice ${known.map(i => `${i + 1}: ${data.findings[i].title}`).join("\n")}`;
    row.refs = known;
    rowsOfLines[number] = row;
    parts.push(row);
    for (const mark of of) {
      if (number === Math.max(mark.line, mark.last_line)) {
        parts.push(el("div", { class: `say ${role}-say` }, el("b", {}, `${GLYPHS[mark.role]} ${data.roles[mark.role]}`), mark.text ? `: ${mark.text}` : ""));
      }
    }
  }
  code.replaceChildren(...parts);
  markLine();
}

/** Highlights the chosen line and scrolls to it. */
function markLine() {
  document.querySelectorAll("#code .current, #code .lit").forEach(row => { row.classList.remove("current", "lit"); row.setAttribute("aria-selected", "false"); });
  for (const place of state.lit) {
    const [file, line] = data.places[place];
    if (file === state.file && rowsOfLines[line]) rowsOfLines[line].classList.add("lit");
  }
  const row = rowsOfLines[state.line];
  $("line-sum").textContent = "";
  if (!row) return;
  row.classList.add("current");
  row.setAttribute("aria-selected", "true");
  $("code").setAttribute("aria-activedescendant", row.id);
  const code = $("code"), box = row.getBoundingClientRect(), frame = code.getBoundingClientRect();
  if (box.top < frame.top + 20 || box.bottom > frame.bottom - 40) code.scrollTop += box.top - frame.top - frame.height * 0.35;
  const spent = lineCosts().get(state.line);
  $("line-sum").textContent = spent ? `line ${state.line}: ${time(spent.total)}${spent.calls ? ` in ${plural(spent.calls, "call")}` : ""}${state.rank < 0 ? " on all ranks" : ` on rank ${state.rank}`}` : `line ${state.line}`;
}

/** Selects a line: its calls are lit in the timeline and listed as events. */
function chooseLine(file, line) {
  choose({ file, line, lit: new Set(placesOf(file, line)) });
}

function setUpSource() {
  const select = $("file");
  const total = new Map();
  for (const cost of costs(-1)) total.set(data.places[cost.place][0], (total.get(data.places[cost.place][0]) || 0) + cost.total);
  // An address without a line is no file.
  const listed = data.files.map((file, i) => file.text !== null || data.places.some(([f, line]) => f === i && line > 0) || data.findings.some(finding => finding.marks.some(mark => mark.file === file.path && mark.line > 0)));
  select.append(...data.files.flatMap((file, i) => listed[i] ? [el("option", { value: i, title: file.path }, `${file.path}${file.text !== null ? "" : file.left_out ? " (left out)" : " (not found)"}`)] : []));
  select.parentElement.hidden = !listed.includes(true);
  select.addEventListener("change", () => choose({ file: Number(select.value), line: 0 }));
  // The most expensive file with a text comes first.
  const order = [...data.files.keys()].filter(i => listed[i]).sort((a, b) => (data.files[a].text === null) - (data.files[b].text === null) || (total.get(b) || 0) - (total.get(a) || 0));
  state.file = order.length ? order[0] : -1;
  $("legend").append(...["communication", "overlap", "forbids"].map(role => el("span", {}, el("b", { class: `glyph ${role}` }, GLYPHS[role]), data.roles[role])),
    el("span", {}, el("i", { class: "swatch", style: { background: "var(--heat)" } }), "time of the line"));

  $("code").addEventListener("click", event => {
    const row = event.target.closest(".row");
    if (!row) return;
    const line = Number(row.dataset.line);
    // Steps through the pieces of advice.
    if (event.target.classList.contains("refs") && row.refs) return chooseFinding(row.refs[(row.refs.indexOf(state.finding) + 1) % row.refs.length]);
    chooseLine(state.file, line);
  });
  $("code").addEventListener("dblclick", event => { if (event.target.closest(".row.hot")) choose({ tab: "events" }); });
  $("code").addEventListener("keydown", event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && state.line) return choose({ tab: "events" });
    if (!step) return;
    event.preventDefault();
    const hot = rowsOfLines.flatMap((row, line) => row && (row.classList.contains("hot") || row.firstChild.textContent) ? [line] : []);
    const to = step > 0 ? hot.find(line => line > state.line) : hot.findLast(line => line < state.line);
    if (to) chooseLine(state.file, to);
  });
  onChange(changes => {
    if ("file" in changes || "finding" in changes || "rank" in changes) {
      select.value = state.file;
      drawSource();
    } else if ("line" in changes || "lit" in changes) markLine();
  });
  select.value = state.file;
  drawSource();
}
