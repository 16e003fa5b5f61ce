// @ts-check
// Links and switches: a panel with their loads and messages, and the load over time on the picture of the fabric.

/** Number of links in the list. */
const LISTED = 40;

/**
 * Link, with loads in ten-thousandths, and indices of its messages if they are known.
 * @typedef {{id: number, name: string, capacity: number, bytes: number, use: number, busy: number, lost: number, peak: number,
 *   load: number[], ends: [[number, string], [number, string]] | null, all?: number, flows?: number[],
 *   senders?: [number, string], receivers?: [number, string], first?: number, last?: number, jobs?: number[]}} Link
 * Message: sender, receiver, number among those of the sender, bytes, begin, end, time lost [s].
 * @typedef {[number, number, number, number, number, number, number]} Message
 * @typedef {{rows: Link[], used: number, of: number, span: number, unknown: string, delays: boolean, lost: boolean,
 *   messages: Message[], limit: number, colours: string[], all: {peak: number, levels: string[]} | null}} LinksData
 */

/**
 * Returns the colour of a load on a scale up to `limit`.
 * @param {string[]} colours from idle to busy
 * @param {number} load
 * @param {number} limit
 */
function colourOf(colours, load, limit) {
  const place = Math.max(0, Math.min(1, load / limit)) * (colours.length - 1), below = Math.min(colours.length - 2, Math.floor(place));
  const parts = [1, 3, 5].map((i) => {
    const [a, b] = [colours[below], colours[below + 1]].map((colour) => parseInt(colour.slice(i, i + 2), 16));
    return Math.round(a + (b - a) * (place - below)).toString(16).padStart(2, "0");
  });
  return `#${parts.join("")}`;
}

/** Returns a round end of a scale for loads up to this one. @param {number} largest */
const limitOf = (largest) => [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1].find((limit) => largest <= limit * 1.000001) || 1;

/** Returns the load of a link in an interval, or on average for -1. @param {Link} link @param {number} at */
const loadAt = (link, at) => (at < 0 ? link.use : (link.load[at] || 0) / 1e4);

/** Returns the links of a switch that lead to it and from it. @param {Link[]} links @param {number} vertex */
function linksOf(links, vertex) {
  const at = (/** @type {0 | 1} */ end) => links.filter((link) => link.ends && link.ends[end][0] === vertex);
  return { inward: at(1), outward: at(0) };
}

/**
 * Returns the links whose names contain a text, most loaded first: by the time lost, or by the load in an interval.
 * @param {LinksData} links
 * @param {string} text
 * @param {number} at
 */
function matching({ rows }, text, at) {
  const wanted = text.trim().toLowerCase();
  const found = rows.filter((link) => link.name.toLowerCase().includes(wanted));
  return at < 0 ? found : [...found].sort((a, b) => loadAt(b, at) - loadAt(a, at) || a.id - b.id);
}

/** Draws a small line of loads. @param {number[]} loads @param {number} at @param {string} name */
function smallLine(loads, at, name) {
  const [width, height] = [300, 56], most = Math.max(1, ...loads), step = width / loads.length;
  const points = loads.flatMap((load, i) => [i, i + 1].map((x) => `${(x * step).toFixed(1)},${(height - (load / most) * (height - 4)).toFixed(1)}`));
  const marks = at < 0 ? [] : [drawn("rect", { class: "at", x: at * step, y: 0, width: Math.max(2, step), height })];
  const line = drawn("svg", { class: "small", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name }, ...marks,
    drawn("polygon", { points: `0,${height} ${points.join(" ")} ${width},${height}` }));
  return line;
}

/**
 * Shows the panel of links and, if the load over time is known, the slider.
 * @param {PageData} data
 * @param {LinksData} links
 */
function showFabric(data, links) {
  /** @type {NodeListOf<HTMLElement>} */
  const figures = document.querySelectorAll("figure");
  const figure = [...figures].find((each) => each.querySelector("[data-link]"))
    || [...figures].find((each) => each.dataset.name === "loads.svg") || [...figures].find((each) => each.dataset.name === "x.svg");
  const drawing = figure?.querySelector("svg");
  const byId = new Map(links.rows.map((link) => [link.id, link]));
  const intervals = links.rows.reduce((most, link) => Math.max(most, link.load.length), 0);
  const peak = limitOf(links.rows.reduce((most, link) => link.load.reduce((a, b) => Math.max(a, b / 1e4), most), links.all?.peak || 0));
  const frames = framesOf(drawing), isWhole = links.used <= links.rows.length || links.all !== null;
  let at = -1, text = "";
  /** @type {{link: number} | {vertex: number} | null} */
  let chosen = null;
  /** @type {any} */
  let opener = null;
  const aside = el("aside", { class: "links", "aria-label": "Links and switches", tabindex: -1 });
  const around = el("div", { class: "beside" });
  // A picture that is too large for the page leaves the panel alone.
  (figure || document.querySelector("#origin"))?.before(around);
  around.append(...(figure ? [figure] : []), aside);
  const holder = figure || aside.parentElement || around;
  const whenText = () => `${momentText(at * links.span, links.span)} to ${momentText((at + 1) * links.span, links.span)}`;

  // --- the panel ---

  /** @param {[string, string | Node][]} rows */
  const facts = (rows) => el("dl", {}, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  /** @param {Link} link @param {string} [name] */
  const linkButton = (link, name) => el("button", { type: "button", class: "link", click: () => { opener = null; choose({ link: link.id }); } },
    el("span", { class: "name" }, name || link.name), el("span", { class: "bar" }, el("i", { style: `width:${Math.min(100, (loadAt(link, at) / limit()) * 100)}%` })),
    el("span", { class: "value" }, percentText(loadAt(link, at))));
  /** @param {[number, string]} vertex */
  const vertexButton = ([vertex, name]) => el("button", { type: "button", click: () => { opener = null; choose({ vertex }); } }, name);
  const limit = () => (at < 0 ? links.limit : peak);

  function list() {
    const found = matching(links, text, at), shown = found.slice(0, LISTED);
    const rows = el("div", { class: "list" }, ...shown.map((link) => linkButton(link)));
    const search = el("input", { type: "search", value: text, placeholder: "find a link", "aria-label": "Find a link by its name", input: () => {
      text = search.value;
      const next = matching(links, text, at);
      rows.replaceChildren(...next.slice(0, LISTED).map((link) => linkButton(link)));
      note.textContent = noteOf(next.length);
    } });
    const noteOf = (/** @type {number} */ n) => `${n > LISTED ? `${LISTED} of ` : ""}${countText(n, "link")}, ${
      at >= 0 ? "most loaded first" : links.delays ? "most lost time first" : "most loaded first"}.${
      links.used > links.rows.length ? ` The page holds ${links.rows.length} of ${links.used} used links.` : ""}`;
    const note = el("p", { class: "note", "aria-live": "polite" }, noteOf(found.length));
    const hint = drawing?.querySelector("[data-link]") ? " Click a link or switch of the picture, or choose one here."
      : frames.length ? ` Click a place of the picture for its busiest link, or choose one here.${isWhole || at < 0 ? "" : " The picture shows the mean."}` : "";
    return [el("h2", {}, "Links"), el("p", { class: "note" }, `Load ${at < 0 ? "over the run" : whenText()}.${hint}`), search, rows, note];
  }

  const back = () => el("button", { type: "button", class: "back", click: () => choose(null) }, "← all links");

  /** @param {Link} link */
  function ofLink(link) {
    /** @type {[string, string | Node][]} */
    const rows = [["carried", bytesText(link.bytes)], ["utilisation", percentText(link.use)]];
    if (at >= 0) rows.push(["load in this interval", `${percentText(loadAt(link, at))}, ${whenText()}`]);
    if (link.busy > 0) rows.push(["busy", `${timeText(link.busy)} (${percentText(link.busy / data.end)})`]);
    rows.push(["time lost here", links.delays ? timeText(link.lost) : "not measured"], ["bandwidth", `${bytesText(link.capacity)}/s`]);
    if (link.peak > 0) rows.push(["peak flows", String(link.peak)]);
    if (link.senders?.[0]) rows.push(["senders", `${link.senders[0]}: ranks ${link.senders[1]}`]);
    if (link.receivers?.[0]) rows.push(["receivers", `${link.receivers[0]}: ranks ${link.receivers[1]}`]);
    if (link.all && link.first !== undefined && link.last !== undefined) rows.push(["in use", `${timeText(link.first)} to ${timeText(link.last)}`]);
    for (const [job, bytes] of (link.jobs || []).entries()) if (bytes) rows.push([`for ${data.jobs[job][0]}`, bytesText(bytes)]);
    const parts = [back(), el("h2", {}, link.name), facts(rows)];
    if (link.ends) parts.push(el("p", { class: "ends" }, "from ", vertexButton(link.ends[0]), " to ", vertexButton(link.ends[1])));
    if (link.load.length) parts.push(smallLine(link.load, at, "Load over time"), el("p", { class: "note" }, `Load over time; the highest is ${percentText(Math.max(...link.load) / 1e4)}.`));
    if (links.unknown) return [...parts, el("p", { class: "note" }, `Its messages are not known: ${links.unknown}.`)];
    const flows = (link.flows || []).map((i) => links.messages[i]), all = link.all || 0;
    if (!flows.length) return [...parts, el("p", { class: "note" }, all ? `Its ${countText(all, "message")} are left out, so that the page stays small.` : "No message crossed it.")];
    const shortName = (/** @type {number} */ rank) => (data.jobs.length ? rankText(data.jobs, rank) : String(rank));
    const order = links.lost ? "most time lost on the whole way" : "most bytes";
    const head = el("tr", {}, ...["message", "size", "begin", "end", ...(links.lost ? ["lost"] : [])].map((name) => el("th", { scope: "col" }, name)));
    const body = flows.map(([src, dst, index, bytes, begin, end, lost]) => el("tr", {}, el("td", { title: `message ${index}` },
      `${shortName(src)} → ${shortName(dst)}`, el("small", {}, ` no. ${index}`)), ...[bytesText(bytes), timeText(begin), timeText(end),
      ...(links.lost ? [timeText(lost)] : [])].map((figure) => el("td", {}, figure))));
    return [...parts, el("h3", {}, flows.length < all ? `The ${flows.length} of ${countText(all, "message")} with ${order}` : `${countText(all, "message")}, ${order} first`),
      el("div", { class: "wide" }, el("table", { class: "plain" }, el("thead", {}, head), el("tbody", {}, ...body)))];
  }

  /** @param {number} vertex */
  function ofSwitch(vertex) {
    const { inward, outward } = linksOf(links.rows, vertex), all = [...inward, ...outward];
    const name = all.flatMap((link) => link.ends || []).find(([id]) => id === vertex)?.[1]
      || drawing?.querySelector(`[data-switch="${vertex}"] title`)?.textContent || "";
    const sum = (/** @type {Link[]} */ of, /** @type {"bytes" | "lost"} */ key) => of.reduce((total, link) => total + link[key], 0);
    const loads = Array.from({ length: intervals }, (_, i) => all.reduce((total, link) => total + (link.load[i] || 0), 0) / Math.max(1, all.length));
    const group = (/** @type {string} */ title, /** @type {Link[]} */ of) => (of.length ? [el("h3", {}, title), el("div", { class: "list" },
      ...[...of].sort((a, b) => loadAt(b, at) - loadAt(a, at)).map((link) => linkButton(link)))] : []);
    return [back(), el("h2", {}, name), facts([["into it", bytesText(sum(inward, "bytes"))], ["out of it", bytesText(sum(outward, "bytes"))],
      ["time lost on its links", links.delays ? timeText(sum(all, "lost")) : "not measured"], ["used links", String(all.length)]]),
      ...(links.used > links.rows.length ? [el("p", { class: "note" }, `Sums of its links among the ${links.rows.length} of this page.`)] : []),
      ...(intervals && all.length ? [smallLine(loads, at, "Mean load of its links over time")] : []),
      ...group("Links to it", inward), ...group("Links from it", outward)];
  }

  function render() {
    const link = chosen && "link" in chosen ? byId.get(chosen.link) : undefined;
    const parts = !chosen ? list() : "vertex" in chosen ? ofSwitch(chosen.vertex) : link ? ofLink(link)
      : [back(), el("p", {}, drawing?.querySelector(`[data-link="${chosen.link}"] title`)?.textContent
        || (links.used > links.rows.length ? `Link ${chosen.link} is not among the ${links.rows.length} most used links, which this page holds.` : "Nothing crossed this link."))];
    aside.replaceChildren(...parts);
    drawing?.querySelectorAll(".chosen").forEach((each) => each.classList.remove("chosen"));
    if (chosen) drawing?.querySelector("link" in chosen ? `[data-link="${chosen.link}"]` : `[data-switch="${chosen.vertex}"]`)?.classList.add("chosen");
  }

  /** @param {{link: number} | {vertex: number} | null} next */
  function choose(next) {
    chosen = next;
    render();
    if (next) aside.focus({ preventScroll: true });
    else (opener || aside).focus({ preventScroll: true });
    if (next && aside.getBoundingClientRect().top > innerHeight * 0.8) aside.scrollIntoView({ block: "nearest" });
  }
  aside.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" && chosen) choose(null);
  });

  // --- the picture ---

  const parts = /** @type {SVGGElement[]} */ ([...(drawing?.querySelectorAll("[data-link], [data-switch]") || [])]);
  const open = (/** @type {SVGGElement} */ part) => {
    opener = part;
    choose(part.dataset.link ? { link: Number(part.dataset.link) } : { vertex: Number(part.dataset.switch) });
  };
  parts.forEach((part, i) => {
    part.setAttribute("role", "button");
    // The tab key goes past the picture in one step; arrows go from part to part.
    part.setAttribute("tabindex", i === parts.length - 1 ? "0" : "-1");
    part.setAttribute("aria-label", part.querySelector("title")?.textContent || "");
    part.addEventListener("click", () => open(part));
    part.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = { ArrowRight: -1, ArrowDown: -1, ArrowLeft: 1, ArrowUp: 1 }[event.key];
      if (event.key === "Enter" || event.key === " ") open(part);
      else if (step) {
        const next = parts[(i + step + parts.length) % parts.length];
        part.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      } else return;
      event.preventDefault();
    });
  });
  /** @param {number} id */
  const loadOf = (id) => {
    const link = byId.get(id);
    return link ? loadAt(link, at) : at < 0 || !links.all ? 0 : levelOf(links.all.levels[id]?.[at]) * links.all.peak;
  };
  frames.forEach((frame) => frame.rect.addEventListener("click", (event) => {
    const id = busiestAt(frame, event, loadOf);
    opener = null;
    if (id >= 0) choose({ link: id });
  }));
  const lines = parts.filter((part) => part.dataset.link).map((part) => ({ link: byId.get(Number(part.dataset.link)),
    lines: [...part.querySelectorAll("polyline")].map((line, i) => ({ line, isCasing: i % 2 === 0, colour: line.getAttribute("stroke") || "", width: Number(line.getAttribute("stroke-width")) })) }));
  const ticks = [...(drawing?.querySelectorAll("[data-tick]") || [])].map((tick) => ({ tick, text: tick.textContent }));

  function paint() {
    for (const { link, lines: all } of lines) for (const { line, isCasing, colour, width } of all) {
      const load = link ? loadAt(link, at) : 0, next = 1.2 + 3.3 * Math.min(1, load / peak);
      line.setAttribute("stroke", at < 0 || isCasing ? colour : colourOf(links.colours, load, peak));
      line.setAttribute("stroke-width", String(at < 0 ? width : next + (isCasing ? 0.8 : 0)));
    }
    if (isWhole) frames.forEach((frame) => paintFrame(frame, at < 0 ? null : (load) => colourOf(links.colours, load, peak), loadOf));
    for (const { tick, text: average } of isWhole || !frames.length ? ticks : []) tick.textContent = at < 0 ? average : percentText(Number(/** @type {SVGElement} */ (tick).dataset.tick) * peak);
  }

  if (intervals > 1) {
    const range = el("input", { type: "range", min: 0, max: intervals, value: 0, "aria-label": "Time, from the left: all, then each interval" });
    const says = el("output", {}), play = el("button", { type: "button" }, "▶ play"), all = el("button", { type: "button" }, "all");
    let timer = 0;
    const stop = () => {
      clearInterval(timer);
      timer = 0;
      play.textContent = "▶ play";
    };
    const go = (/** @type {number} */ to) => {
      at = to - 1;
      range.value = String(to);
      says.textContent = at < 0 ? "mean over the run" : whenText();
      range.setAttribute("aria-valuetext", says.textContent);
      holder.dataset.at = String(at);
      paint();
      // What is typed or chosen in the panel stays.
      if (!aside.contains(document.activeElement) || document.activeElement === aside || !timer) render();
    };
    range.addEventListener("input", () => { stop(); go(Number(range.value)); });
    all.addEventListener("click", () => { stop(); go(0); });
    play.addEventListener("click", () => {
      if (timer) return stop();
      play.textContent = "❚❚ pause";
      if (at >= intervals - 1) go(0);
      timer = setInterval(() => (at + 2 > intervals ? stop() : go(at + 2)), 250);
    });
    holder.prepend(el("div", { class: "tools slider" }, play, all, range, says));
    go(0);
  } else render();
}
