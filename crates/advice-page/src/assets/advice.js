// The ranked list of advice, and the chosen piece in words.

const onRank = (finding, rank) => rank < 0 || finding.ranges.length === 0 || finding.ranges.some(([first, last]) => first <= rank && rank <= last);

/** Formats ranks as ranges. */
const rankList = ranges => ranges.map(([first, last]) => last > first ? `${first}-${last}` : `${first}`).join(", ");
const rankCount = ranges => ranges.reduce((n, [first, last]) => n + last - first + 1, 0);
const ranksText = ({ ranges }) => ranges.length === 0 || rankCount(ranges) === data.ranks ? (data.ranks === 1 ? "rank 0" : "all ranks")
  : rankCount(ranges) === 1 ? `rank ${ranges[0][0]}` : `ranks ${rankList(ranges)}`;

const saved = finding => finding.gain ? finding.gain.before_s - finding.gain.after_s : null;
const savedShare = gain => gain.before_s > 0 ? (gain.before_s - gain.after_s) / gain.before_s : 0;

/** Formats the share of the time that a change saves, with a sign. */
const change = gain => `${gain.after_s < gain.before_s ? "−" : gain.after_s > gain.before_s ? "+" : "±"}${percent(Math.abs(savedShare(gain)))}`;

/** Formats a line of the source, with the shortest unique end of its file's path. */
const lineName = mark => mark.file === "" ? "place not known"
  : `${shortName(fileOf(mark.file))}${mark.line ? `:${mark.line}${mark.last_line > mark.line ? `-${mark.last_line}` : ""}` : ""}`;

function drawAdvice() {
  const most = Math.max(0, ...data.findings.map(finding => saved(finding) ?? 0));
  $("advice-count").textContent = data.findings.length ? `${count(data.findings.length)}, best first` : "";
  $("list").replaceChildren(...data.findings.map((finding, i) => {
    const gain = saved(finding);
    const where = [gain === null ? "" : change(finding.gain), finding.marks.length ? lineName(finding.marks[0]) : "", ranksText(finding), plural(finding.occurrences, "time")].filter(Boolean).join(" · ");
    return el("div", { class: "item", role: "option", id: `advice-${i}`, "aria-selected": "false", onclick: () => chooseFinding(i) },
      el("span", { class: "no" }, `${i + 1}`),
      el("span", { class: "title" }, ...breakable(finding.title)),
      el("span", { class: "gain" }, gain === null ? "" : gain === 0 ? "0" : gain > 0 ? `−${inUnit(finding, gain, 3)}` : `+${inUnit(finding, -gain, 3)}`),
      el("span", { class: "where" }, ...breakable(where), " ", el("span", { class: "tag" }, finding.rule), " ",
        finding.caveats.length > 0 ? el("span", { class: "tag check" }, "check") : null),
      gain === null ? null : el("div", { class: "size" }, el("i", { style: { width: `${most > 0 ? Math.max(0, gain) / most * 100 : 0}%` } })));
  }));
  if (data.findings.length === 0) {
    $("list").append(el("p", { class: "empty" }, "No advice: none of the rules found anything to improve in this run."));
  }
  if (data.together) {
    const { gain, why } = data.together;
    const longest = Math.max(gain.before_s, gain.after_s), unit = { unit: longest >= 1 ? "s" : longest >= 1e-3 ? "ms" : longest >= 1e-6 ? "us" : "ns" };
    $("together").append("All together: ", el("b", {}, `${inUnit(unit, gain.before_s)} → ${inUnit(unit, gain.after_s)}`), ` (${change(gain)})`,
      ...why.map(text => el("div", { class: "muted" }, text)));
  }
  $("notes").hidden = data.notes.length === 0;
  $("notes").querySelector("ul").append(...data.notes.map(note => el("li", {}, note)));
  $("cuts").hidden = data.cuts.length === 0;
  $("cuts").querySelector("ul").append(...data.cuts.map(cut => el("li", {}, cut)));
}

/** Shows a piece of advice on its lines and in the timeline. */
function chooseFinding(i) {
  const finding = data.findings[i];
  if (!finding) return choose({ finding: -1, lit: new Set() });
  const lit = new Set(finding.marks.filter(mark => mark.role !== "overlap" && mark.role !== "forbids").flatMap(mark => {
    const places = [];
    for (let line = mark.line; line <= Math.max(mark.line, Math.min(mark.last_line, mark.line + 1000)); line++) places.push(...placesOf(fileOf(mark.file), line));
    return places;
  }));
  const first = finding.marks.find(hasLine);
  choose({ finding: i, lit, pick: null, ...first ? { file: fileOf(first.file), line: first.line } : {} });
}

/** True if a mark is at a line that the source view shows. */
function hasLine(mark) {
  const file = data.files[fileOf(mark.file)];
  return file !== undefined && mark.line > 0 && (file.text === null || linesOf(file)[mark.line - 1] !== undefined);
}

function drawFinding() {
  const box = $("finding"), finding = data.findings[state.finding];
  box.hidden = !finding;
  if (!finding) return;
  const rule = data.rules.find(rule => rule.id === finding.rule);
  const { gain } = finding;
  const width = t => `${gain.before_s > 0 ? t / Math.max(gain.before_s, gain.after_s) * 100 : 0}%`;
  box.replaceChildren(...[
    el("div", { class: "head" },
      el("span", { class: "tag" }, rule ? `${rule.id} ${rule.name}` : finding.rule),
      finding.caveats.length > 0
        ? el("span", { class: "tag check" }, "to be checked")
        : el("span", { class: "tag proven" }, "proven on this run"),
      el("button", { type: "button", title: "Close (Escape)", "aria-label": "Close", onclick: () => chooseFinding(-1) }, "✕")),
    el("h3", {}, ...breakable(finding.title)),
    gain && el("div", { class: "bars" },
      el("span", { class: "muted" }, "now"), el("i", { class: "before", style: { width: width(gain.before_s) } }), el("span", {}, inUnit(finding, gain.before_s)),
      el("span", { class: "muted" }, "changed"), el("i", { style: { width: width(gain.after_s) } }), el("span", {}, `${inUnit(finding, gain.after_s)}  (${change(gain)})`)),
    ...finding.text.map(text => el("p", {}, ...breakable(text))),
    ...finding.caveats.map(text => el("p", { class: "caveat" }, text)),
    ...finding.notes.map(text => el("p", { class: "note" }, text)),
    finding.facts.length > 0 && el("dl", {}, ...finding.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    ...finding.marks.filter(mark => !hasLine(mark)).map(mark =>
      el("p", {}, ...breakable(`${GLYPHS[mark.role]} ${data.roles[mark.role]}: ${[mark.file === "" ? "" : lineName(mark), mark.text].filter(Boolean).join(" - ")}`))),
    rule && rule.help && el("details", {}, el("summary", {}, rule.summary || "What the rule looks for"), el("pre", {}, rule.help)),
  ].filter(Boolean));
  box.scrollTop = 0;
}

function setUpAdvice() {
  drawAdvice();
  $("list").addEventListener("keydown", event => {
    const to = { ArrowDown: state.finding + 1, ArrowUp: state.finding - 1, Home: 0, End: data.findings.length - 1 }[event.key];
    if (to === undefined || data.findings.length === 0) return;
    event.preventDefault();
    chooseFinding(Math.max(0, Math.min(data.findings.length - 1, to)));
  });
  onChange(changes => {
    if ("finding" in changes) {
      document.querySelectorAll("#list .item").forEach((item, i) => {
        item.setAttribute("aria-selected", i === state.finding);
        if (i === state.finding) item.scrollIntoView({ block: "nearest" });
      });
      if (state.finding >= 0) $("list").setAttribute("aria-activedescendant", `advice-${state.finding}`);
      drawFinding();
    }
    if ("rank" in changes) {
      document.querySelectorAll("#list .item").forEach((item, i) => item.classList.toggle("off", !onRank(data.findings[i], state.rank)));
    }
  });
}
