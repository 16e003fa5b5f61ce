// Further views of the run: events of a line, hot spots, communication, processor use.

/** Creates a link to a line of the source. */
function lineLink(place) {
  const [file, line] = data.places[place];
  return file < 0 ? el("span", { class: "muted" }, "place not known")
    : el("button", { type: "button", class: "link", title: data.files[file].path, onclick: () => chooseLine(file, line) }, placeName(place));
}

const stack = (ns, most) => el("div", { class: "stack", title: ns.map((t, k) => t > 0 ? `${KINDS[k]} ${time(t)}` : "").filter(Boolean).join("\n") },
  ...ns.map((t, k) => t > 0 ? el("i", { class: `kind-${k}`, style: { width: `${t / most * 100}%` } }) : ""));

function table(head, rows) {
  const numeric = head.map(name => name.startsWith("#"));
  const cell = (tag, content, i) => el(tag, numeric[i] ? { class: "num" } : {}, content);
  return el("table", {}, el("thead", {}, el("tr", {}, ...head.map((name, i) => cell("th", name.replace("#", ""), i)))),
    el("tbody", {}, ...rows.map(row => el("tr", row.lit ? { class: "lit" } : {}, ...(row.cells || row).map((content, i) => cell("td", content, i))))));
}

// --- events of a line ---

let eventOrder = "time";

/** Lists every call of the lit places, one row each; only visible rows are elements. */
function drawEvents() {
  const view = $("view-events");
  const finding = data.findings[state.finding];
  const details = finding ? finding.details.filter(detail => state.rank < 0 || detail.rank === state.rank) : [];
  const found = [];
  ranks.forEach((_, rank) => {
    if (state.rank < 0 || rank === state.rank) for (const span of spansAt(rank, state.lit)) found.push([rank, span]);
  });
  const length = ([rank, i]) => ranks[rank].end[i] - ranks[rank].begin[i], begin = ([rank, i]) => ranks[rank].begin[i];
  found.sort(eventOrder === "length" ? (a, b) => length(b) - length(a) : (a, b) => begin(a) - begin(b) || a[0] - b[0]);

  const lit = [...state.lit].map(placeName);
  const heading = el("div", { class: "bar" }, el("b", {}, lit.length ? `${plural(sum(found.map(([rank, i]) => classes.several[ranks[rank].cls[i]] ? ranks[rank].bytes[i] : 1)), "span")} at ${lit.slice(0, 4).join(", ")}${lit.length > 4 ? ` and ${lit.length - 4} more` : ""}` : "Choose a line of the source, or a piece of advice, to see its events."),
    el("span", { class: "muted" }, state.rank < 0 ? "all ranks" : `rank ${state.rank}`),
    found.length > 1 ? el("button", { type: "button", onclick: () => { eventOrder = eventOrder === "time" ? "length" : "time"; drawEvents(); } }, eventOrder === "time" ? "longest first" : "in the order of time") : null);
  const parts = [heading];
  if (details.length) {
    parts.push(el("div", { class: "details" }, table(["rank", "#event", "what was found there"], details.map(detail => [
      `${detail.rank}`,
      el("button", { type: "button", class: "link", onclick: () => goToEvent(detail.rank, detail.event) }, count(detail.event)),
      detail.text]))));
  }
  const HEIGHT = 22, most = Math.min(found.length, 400000);
  const body = el("div", { style: { height: `${most * HEIGHT}px` } });
  const names = ["rank", "event", "begin", "length", "call", "peer", "bytes", "tag", "line"];
  const grid = el("div", { class: "grid", tabindex: "0", role: "listbox", "aria-label": "Events: arrow keys move, the chosen one is shown in the timeline" },
    el("div", { class: "cells head" }, ...names.map((name, i) => el("span", { class: i > 0 && i < 4 || i > 4 && i < 8 ? "num" : "" }, name))), body);
  const choosing = j => {
    const [rank, span] = found[j];
    choose({ pick: { rank, span } });
    timeline.goTo(rank, ranks[rank].begin[span], ranks[rank].end[span]);
  };
  const rowsInSight = () => {
    const first = Math.max(0, Math.floor((grid.scrollTop - HEIGHT) / HEIGHT) - 5), last = Math.min(most, first + Math.ceil(grid.clientHeight / HEIGHT) + 12);
    body.replaceChildren(...found.slice(first, last).map(([rank, i], j) => {
      const spans = ranks[rank], cls = spans.cls[i], several = classes.several[cls], peer = classes.peer[cls], kind = classes.kind[cls];
      const cells = [`${rank}`, spans.event[i] >= 0 ? count(spans.event[i]) : "", moment(spans.begin[i], 1000), time(spans.end[i] - spans.begin[i]),
        several ? `${count(spans.bytes[i])} of ${KINDS[kind]}` : `${data.calls[classes.call[cls]] || KINDS[kind]}${kind === 3 ? " (waits)" : ""}`,
        peer >= 0 ? `${peer}` : "", several || spans.bytes[i] === 0 ? "" : bytes(spans.bytes[i]), several || kind === 0 ? "" : `${spans.tag[i]}`, placeName(classes.place[cls])];
      const lit = state.pick && state.pick.rank === rank && state.pick.span === i;
      return el("div", { class: `cells item-row ${lit ? "lit" : ""}`, style: { top: `${(first + j + 1) * HEIGHT}px` }, role: "option", "aria-selected": lit ? "true" : "false", onclick: () => choosing(first + j) },
        ...cells.map((text, c) => el("span", { class: c > 0 && c < 4 || c > 4 && c < 8 ? "num" : "" }, text)));
    }));
  };
  grid.addEventListener("scroll", rowsInSight);
  grid.addEventListener("keydown", event => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (!step || found.length === 0) return;
    event.preventDefault();
    const now = found.findIndex(([rank, i]) => state.pick && state.pick.rank === rank && state.pick.span === i);
    const to = Math.max(0, Math.min(most - 1, now + step));
    choosing(to);
    const y = to * HEIGHT;
    if (y < grid.scrollTop || y > grid.scrollTop + grid.clientHeight - 3 * HEIGHT) grid.scrollTop = y - grid.clientHeight / 2;
  });
  view.replaceChildren(el("div", { class: "events" }, ...parts, ...found.length ? [grid] : []));
  view.redrawRows = rowsInSight;
  rowsInSight();
}

/** Selects a call by its number in its rank's trace. */
function goToEvent(rank, event) {
  const spans = ranks[rank];
  const span = spans ? spans.event.indexOf(event) : -1;
  if (span < 0) return choose({ tab: "timeline", rank });
  choose({ tab: "timeline" });
  timeline.choosePick({ rank, span });
  timeline.goTo(rank, spans.begin[span], spans.end[span]);
}

// --- hot spots ---

function drawHot() {
  const all = costs(state.rank), summed = state.rank >= 0 && data.lines.some(([, rank]) => rank < 0), whole = sum(all.map(cost => cost.total)), most = Math.max(1, ...all.map(cost => cost.total));
  const kinds = [...KINDS.keys()].filter(k => all.some(cost => cost.ns[k] > 0));
  const rows = all.filter(cost => cost.total > 0 || cost.calls > 0).slice(0, 500).map(cost => ({
    lit: state.lit.has(cost.place),
    cells: [lineLink(cost.place), stack(cost.ns, most), time(cost.total), whole > 0 ? percent(cost.total / whole) : "", ...kinds.map(k => cost.ns[k] > 0 ? time(cost.ns[k]) : ""),
      cost.calls > 0 ? count(cost.calls) : "", cost.bytes > 0 ? bytes(cost.bytes) : "", time(cost.longest)],
  }));
  $("view-hot").replaceChildren(summed ? el("p", { class: "empty" }, "Of all ranks: what each of them spent on a line is not in this page.") : "", rows.length ? table(["line", "time by kind", "#time", "#share", ...kinds.map(k => `#${KINDS[k]}`), "#calls", "#bytes", "#longest"], rows)
    : el("p", { class: "empty" }, "Nothing happened in this run."));
}

// --- communication ---

let matrixOf = "bytes";

function drawTraffic() {
  const view = $("view-traffic"), { pairs, block } = data;
  const side = Math.ceil(data.ranks / block), mine = ([a, b]) => state.rank < 0 || Math.floor(state.rank / block) === a || Math.floor(state.rank / block) === b;
  const value = pair => matrixOf === "bytes" ? pair[3] : pair[2];
  const most = Math.max(1, ...pairs.map(value));
  const show = n => matrixOf === "bytes" ? bytes(n) : count(n);
  const name = i => block > 1 ? `${i * block}-${Math.min(data.ranks, (i + 1) * block) - 1}` : `${i}`;
  const panes = [];
  if (pairs.length) {
    const cell = Math.max(3, Math.min(40, Math.floor(304 / side))), left = 34, top = 30, size = side * cell;
    const ratio = window.devicePixelRatio || 1;
    const canvas = el("canvas", { width: Math.round((left + size + 8) * ratio), height: Math.round((top + size + 4) * ratio), style: { width: `${left + size + 8}px`, height: `${top + size + 4}px` }, role: "img", id: "matrix",
      "aria-label": `Communication matrix of ${side} by ${side}; the busiest pairs are in the table beside it` });
    const ink = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), colour = id => style.getPropertyValue(`--${id}`).trim();
    ink.scale(ratio, ratio);
    ink.fillStyle = colour("idle");
    ink.fillRect(left, top, size, size);
    ink.textAlign = "center";
    ink.textBaseline = "middle";
    for (const pair of pairs) {
      const share = Math.sqrt(value(pair) / most), x = left + pair[1] * cell, y = top + pair[0] * cell;
      ink.globalAlpha = (mine(pair) ? 1 : 0.25) * (0.12 + 0.88 * share);
      ink.fillStyle = colour("accent");
      ink.fillRect(x, y, cell - (cell > 6 ? 1 : 0), cell - (cell > 6 ? 1 : 0));
      ink.globalAlpha = 1;
      if (cell >= 34) {
        ink.fillStyle = share > 0.55 ? colour("panel") : colour("ink");
        ink.font = "9px system-ui, sans-serif";
        ink.fillText(matrixOf === "bytes" ? bytes(value(pair)).replace(" ", "") : count(value(pair)), x + cell / 2, y + cell / 2, cell - 3);
      }
    }
    ink.fillStyle = colour("muted");
    ink.font = "10px system-ui, sans-serif";
    const every = Math.ceil(16 / cell);
    for (let i = 0; i < side; i += every) {
      ink.fillText(name(i), left + i * cell + cell / 2, top - 8);
      ink.textAlign = "right";
      ink.fillText(name(i), left - 5, top + i * cell + cell / 2);
      ink.textAlign = "center";
    }
    ink.textAlign = "left";
    ink.fillText("from ↓   to →", 0, 8);
    const known = new Map(pairs.map(pair => [`${pair[0]},${pair[1]}`, pair]));
    const under = event => {
      const box = canvas.getBoundingClientRect(), to = Math.floor((event.clientX - box.left - left) / cell), from = Math.floor((event.clientY - box.top - top) / cell);
      return to >= 0 && from >= 0 && to < side && from < side ? [from, to] : null;
    };
    canvas.addEventListener("pointermove", event => {
      const at = under(event), pair = at && known.get(`${at[0]},${at[1]}`);
      if (at) tip.show(event.clientX, event.clientY, `${name(at[0])} → ${name(at[1])}\n${pair ? `${plural(pair[2], "message")}, ${bytes(pair[3])}` : "nothing"}`); else tip.hide();
    });
    canvas.addEventListener("pointerleave", () => tip.hide());
    panes.push(el("div", {}, el("h3", {}, `Who sends to whom (${matrixOf === "bytes" ? "bytes" : "messages"}; darker is more) `,
      el("button", { type: "button", onclick: () => { matrixOf = matrixOf === "bytes" ? "messages" : "bytes"; drawTraffic(); } }, matrixOf === "bytes" ? "messages" : "bytes")), canvas));
  }
  const calls = new Map();
  for (const [call, rank, n, ns, longest, size] of data.callSums) {
    if (state.rank >= 0 && rank >= 0 && rank !== state.rank) continue;
    const known = calls.get(call) || [0, 0, 0, 0];
    calls.set(call, [known[0] + n, known[1] + ns, Math.max(known[2], longest), known[3] + size]);
  }
  const rows = [...calls].sort((a, b) => b[1][1] - a[1][1]).map(([call, [n, ns, longest, size]]) => [data.calls[call] || "?", count(n), time(ns), n ? time(ns / n) : "", time(longest), size ? bytes(size) : ""]);
  if (rows.length) panes.push(el("div", {}, el("h3", {}, `Calls${state.rank < 0 ? " of all ranks" : ` of rank ${state.rank}`}`), table(["call", "#calls", "#time", "#mean", "#longest", "#bytes"], rows)));
  if (pairs.length) {
    const busiest = pairs.filter(mine).sort((a, b) => value(b) - value(a)).slice(0, 10);
    panes.push(el("div", {}, el("h3", {}, "Busiest pairs"), table(["from", "to", "#messages", "#bytes"], busiest.map(([a, b, n, size]) => [name(a), name(b), count(n), bytes(size)]))));
    const tallest = Math.max(...data.sizes.map(([, n]) => n));
    panes.push(el("div", {}, el("h3", {}, `Sizes of ${plural(data.messages, "message")}, ${bytes(data.bytes)} in all`), table(["size", "", "#messages", "#bytes"], data.sizes.map(([bits, n, size]) => [
      bits === 0 ? "empty" : `${bytes(2 ** (bits - 1))} to ${bytes(2 ** bits - 1)}`, el("div", { class: "stack", style: { width: "140px" } }, el("i", { style: { width: `${n / tallest * 100}%`, background: "var(--accent)" } })), count(n), bytes(size)]))));
  }
  view.replaceChildren(panes.length ? el("div", { class: "panes" }, ...panes) : el("p", { class: "empty" }, "No communication in this run."));
}

// --- processor use ---

/** Draws a pie as paths; each kind has the same texture as elsewhere. */
function pie(ns, whole, size) {
  const picture = svg("svg", { width: size, height: size, viewBox: "-50 -50 100 100", role: "img", "aria-label": ns.map((t, k) => t > 0 ? `${KINDS[k]} ${percent(t / whole)}` : "").filter(Boolean).join(", ") || "nothing" });
  picture.append(svg("circle", { r: 48, fill: "var(--idle)", stroke: "var(--rule)" }));
  let angle = 0;
  ns.forEach((t, k) => {
    if (t <= 0 || whole <= 0) return;
    const turn = t / whole, end = angle + turn, point = a => `${48 * Math.sin(a * 2 * Math.PI)} ${-48 * Math.cos(a * 2 * Math.PI)}`;
    const shape = turn > 0.99999 ? svg("circle", { r: 48 }) : svg("path", { d: `M0 0L${point(angle)}A48 48 0 ${turn > 0.5 ? 1 : 0} 1 ${point(end)}Z` });
    shape.setAttribute("fill", `url(#texture-${k})`);
    shape.setAttribute("stroke", "var(--panel)");
    picture.append(shape);
    if (turn > 0.09 && size > 120) {
      const middle = (angle + turn / 2) * 2 * Math.PI, x = turn > 0.99999 ? 0 : 31 * Math.sin(middle), y = turn > 0.99999 ? 0 : -31 * Math.cos(middle);
      picture.append(svg("rect", { x: x - 14, y: y - 6, width: 28, height: 11, rx: 2, fill: "var(--panel)", opacity: 0.85 }), svg("text", { x, y: y + 2.6, "text-anchor": "middle", style: "font-size:7.5px" }, percent(turn)));
    }
    angle = end;
  });
  return picture;
}

function textures() {
  const tile = (k, ...shapes) => svg("pattern", { id: `texture-${k}`, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: k === 3 ? "rotate(45)" : "" }, ...shapes);
  const fill = (k, opacity) => svg("rect", { width: 5, height: 5, fill: `var(--${KINDS[k]})`, opacity });
  return svg("svg", { width: 0, height: 0, style: "position:absolute", "aria-hidden": "true" }, svg("defs", {}, tile(0, fill(0, 1)), tile(1, fill(1, 1)),
    tile(2, fill(2, 0.45), svg("rect", { width: 5, height: 3.6, fill: "var(--receive)" })), tile(3, fill(3, 0.3), svg("rect", { width: 2, height: 5, fill: "var(--wait)" })),
    tile(4, fill(4, 0.4), svg("rect", { width: 3.4, height: 5, fill: "var(--collective)" }))));
}

function drawUse() {
  const whole = Math.max(1, data.end), shown = data.uses.slice(0, 1024);
  const withRest = (ns, length) => [...ns, Math.max(0, length - sum(ns))];
  const kinds = [...KINDS.keys(), K].filter(k => data.uses.some(([ns]) => withRest(ns, whole)[k] > whole * 0.0005));
  const total = KINDS.map((_, k) => sum(data.uses.map(([ns]) => ns[k])) + data.otherUses[k]);
  const chosen = state.rank >= 0 && data.uses[state.rank] ? data.uses[state.rank][0] : total;
  const length = state.rank >= 0 ? whole : whole * Math.max(1, data.ranks);
  const rows = shown.map(([ns, end], rank) => ({ lit: rank === state.rank, cells: [
    el("button", { type: "button", class: "link", onclick: () => choose({ rank: rank === state.rank ? -1 : rank }) }, `rank ${rank}`),
    stack(ns, whole), ...kinds.map(k => percent(withRest(ns, whole)[k] / whole)), time(end, 4)] }));
  const pies = shown.slice(0, 64).map(([ns], rank) => el("figure", { class: rank === state.rank ? "lit" : "", onclick: () => choose({ rank: rank === state.rank ? -1 : rank }) }, pie(ns, whole, 62), el("figcaption", {}, `rank ${rank}`)));
  $("view-use").replaceChildren(textures(), data.ranks ? el("div", { class: "panes" },
    el("div", {}, el("h3", {}, state.rank < 0 ? "All ranks" : `Rank ${state.rank}`), pie(chosen, length, 170),
      el("div", { class: "legend", style: { "flex-direction": "column", "margin-top": "8px" } }, ...kinds.map(k => el("span", {}, el("i", k < K ? { class: `swatch kind-${k}` } : { class: "swatch", style: { background: "var(--idle)" } }),
        `${KINDS[k] || "after its end"}: ${time(withRest(chosen, length)[k], 4)}, ${percent(withRest(chosen, length)[k] / length)}`)))),
    el("div", {}, el("h3", {}, "Each rank, of the time until the last one ends"), table(["", "time by kind", ...kinds.map(k => `#${KINDS[k] || "rest"}`), "#end"], rows)),
    el("div", {}, el("h3", {}, "Each rank"), el("div", { class: "pies" }, ...pies))) : el("p", { class: "empty" }, "The run has no ranks."));
}
