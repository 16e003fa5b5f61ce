// @ts-check
// Timeline of ranks on a canvas. Spans smaller than a pixel are drawn as the shares of a column, from running sums.

/** Width of a column of shares [pixels], of the names of ranks, and heights of a row and of the axis [pixels]. */
const COLUMN = 3, LABEL = 118, LEAST_ROW = 13, AXIS = 20;

/**
 * @typedef {{unit: number, kinds: [string, string, number, number][], rows?: number[][],
 *   path: [number, number, number, string, number | null][], steps: number,
 *   sums?: {span: number, together: number, count: number, kinds: number, rows: number[][]}}} TimelineData
 * @typedef {{end: number, ranks: number, jobs: [string, number][], nodes: string[] | null, timeline: TimelineData | null,
 *   links: LinksData | null, points?: PointsData}} PageData
 */

/** Returns a colour as a word of the pixels of a canvas, mixed with white. @param {string} hex @param {number} part */
function wordOf(hex, part) {
  const [r, g, b] = [1, 3, 5].map((i) => Math.round(parseInt(hex.slice(i, i + 2), 16) * part + 255 * (1 - part)));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/**
 * Shows the timeline of a run.
 * @param {PageData} data
 * @param {TimelineData} given
 */
function showTimeline(data, given) {
  const { kinds, sums } = given, unit = given.unit, K = sums ? sums.kinds : kinds.length;
  const end = data.end / unit, together = sums ? sums.together : 1;
  /** @type {(SpanRow | SumRow)[]} */
  const rows = sums ? sums.rows.map((row) => unpackSums(row, K, sums.span / unit)) : (given.rows || []).map((row) => unpackRow(row, K));
  const spans = rows.reduce((sum, row) => sum + ("n" in row ? row.n : 0), 0);
  // Several messages may be under way at once: the fullest column of sums has the full height.
  let fullest = 1;
  if (sums) for (const row of sums.rows) for (let i = 0; i < row.length; i += K) {
    let sum = 0;
    for (let k = 0; k < K; k++) sum += row[i + k] / 100;
    fullest = Math.max(fullest, sum);
  }
  let view = { from: 0, to: end }, marked = -1, hasPath = false, dirty = false;
  /** @type {{row: number, span: number} | null} */
  let picked = null;
  const height = Math.max(LEAST_ROW, Math.min(34, Math.floor(440 / Math.max(1, rows.length))));

  const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "Timeline of ranks: plus and minus zoom, 0 shows all, "
    + "left and right move, up and down go from rank to rank, Enter picks a span", "aria-describedby": "timeline-panel" });
  const inner = el("div", { class: "inner" }, canvas), scroll = el("div", { class: "scroll" }, inner);
  const where = el("span", { class: "where" });
  const panel = el("p", { id: "timeline-panel", "aria-live": "polite" }, "Click a row to see what happened there.");
  const tip = el("div", { class: "tip", hidden: "" });
  const search = el("input", { type: "search", placeholder: "find a rank", "aria-label": "Find a rank by number, node or job" });
  const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ click) =>
    el("button", { type: "button", "aria-label": label, title: label, click }, text);
  const path = el("button", { type: "button", "aria-pressed": "false", click: () => {
    hasPath = !hasPath;
    path.setAttribute("aria-pressed", String(hasPath));
    redraw();
  } }, given.steps > given.path.length ? `end of the critical path (${given.path.length} of ${given.steps} steps)` : "critical path");
  const tools = el("div", { class: "tools" }, button("−", "Zoom out", () => zoom(0.5)), button("+", "Zoom in", () => zoom(2)),
    button("all", "Show the whole run", () => show({ from: 0, to: end })), ...(given.path.length ? [path] : []), search, where);
  const used = kinds.map(() => false);
  for (const row of rows) if ("n" in row) for (let i = 0; i < row.n; i++) used[row.kind[i]] = true;
  if (sums) kinds.forEach((_, k) => (used[k] = k < K && (K === 1 || rows.some((row) => "until" in row && row.until[row.columns * K + k] > 0))));
  const legend = el("p", { class: "legend" }, ...kinds.flatMap(([name, colour], k) => {
    if (!used[k]) return [];
    return [el("span", {}, el("i", { class: isWait(k) ? "wait" : "", style: `background-color:${colour}` }), name)];
  }));
  const notes = ["Wheel (after a click) or + and − zoom, dragging moves, 0 or “all” shows everything."];
  if (sums) {
    const many = `${countText(sums.count, K > 1 ? "activity" : "message").replace(/ys$/, "ies")} are summed up`;
    notes.unshift(`${many}${together > 1 ? `, ${together} ranks a row` : ""}. The height is the mean number under way`
      + `${fullest > 1 ? `; a full row is ${Number(fullest.toPrecision(3))}` : ", at most 1"}.`);
  }
  const section = el("section", { id: "timeline", "aria-label": "Timeline" }, el("h2", {}, "Timeline"), tools, legend, scroll, tip, panel,
    el("p", { class: "note" }, notes.join(" ")));
  const picture = document.querySelector('figure[data-name="timeline.svg"]'), beside = document.querySelector(".beside");
  if (beside) beside.after(section); else (picture || document.querySelector("#origin"))?.before(section);
  if (picture) {
    const also = el("details", { class: "also" }, el("summary", {}, "The timeline as a picture (timeline.svg)"));
    section.after(also);
    also.append(picture);
  }

  /** @param {number} kind */
  function isWait(kind) { return kinds[kind][0].includes("wait"); }

  const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  let wide = 600, high = 200, ratio = 1;
  /** @type {ImageData | null} */
  let image = null;
  const words = kinds.map(([, colour]) => [wordOf(colour, 1), wordOf(colour, 0.45)]);

  function measure() {
    ratio = window.devicePixelRatio || 1;
    const width = Math.max(240, scroll.clientWidth);
    wide = width - LABEL - 8;
    const all = AXIS + rows.length * height + 4;
    high = Math.min(all, Math.max(160, Math.min(480, Math.round(innerHeight * 0.6))));
    scroll.style.height = `${high}px`;
    inner.style.height = `${all}px`;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${high}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(high * ratio);
    image = null;
    redraw();
  }

  const toX = (/** @type {number} */ t) => LABEL + ((t - view.from) / (view.to - view.from)) * wide;
  const toTime = (/** @type {number} */ x) => view.from + ((x - LABEL) / wide) * (view.to - view.from);
  const toY = (/** @type {number} */ row) => AXIS + row * height - scroll.scrollTop;

  function redraw() {
    if (!dirty) requestAnimationFrame(() => { dirty = false; draw(); });
    dirty = true;
  }

  /** @param {View} next */
  function show(next) {
    view = next;
    redraw();
  }

  function zoom(/** @type {number} */ factor, around = (view.from + view.to) / 2) {
    show(zoomed(view, end, factor, around));
  }

  const dark = matchMedia("(prefers-color-scheme: dark)");

  function draw() {
    const start = performance.now();
    const style = getComputedStyle(document.documentElement);
    const [paper, text, rule, accent] = ["--panel", "--ink", "--rule", "--accent"].map((name) => style.getPropertyValue(name).trim());
    const first = Math.max(0, Math.floor(scroll.scrollTop / height));
    const last = Math.min(rows.length, Math.ceil((scroll.scrollTop + high - AXIS) / height));
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.fillStyle = paper;
    ink.fillRect(0, 0, canvas.width, canvas.height);
    const length = view.to - view.from;
    let seen = 0;
    /** @type {[number, number, number][]} */
    const single = [];
    /** @type {number[]} */
    const dense = [];
    for (let r = first; r < last; r++) {
      const row = rows[r];
      if ("until" in row) { dense.push(r); continue; }
      const i0 = firstIndex(0, row.n, (i) => row.begin[i] > view.from - row.longest);
      const i1 = firstIndex(i0, row.n, (i) => row.begin[i] > view.to);
      let count = 0;
      for (let i = i0; i < i1; i++) if (row.end[i] >= view.from) count++;
      seen += count;
      if (count > wide / 4) dense.push(r); else single.push([r, i0, i1]);
    }
    if (dense.length) drawColumns(dense, paper);
    const ticks = ticksOf(view, wide / 120);
    ink.font = "11px system-ui, sans-serif";
    ink.textBaseline = "middle";
    for (const tick of ticks) {
      const x = Math.round(toX(tick)) + 0.5;
      ink.fillStyle = rule;
      ink.fillRect(x, AXIS - 4, 1, high);
    }
    for (const [r, i0, i1] of single) drawSpans(/** @type {SpanRow} */ (rows[r]), toY(r), i0, i1);
    if (hasPath) drawPath(first, last, text, paper);
    if (picked) {
      const row = rows[picked.row];
      if ("n" in row && picked.span >= 0) {
        const x0 = Math.max(LABEL, toX(row.begin[picked.span])), x1 = Math.min(LABEL + wide, toX(row.end[picked.span]));
        ink.strokeStyle = text;
        ink.lineWidth = 2;
        if (x1 >= x0) ink.strokeRect(x0, toY(picked.row) + 1, Math.max(2, x1 - x0), height - 2);
      }
    }
    // The axis and the names stay in front of what scrolls below them.
    ink.fillStyle = paper;
    ink.fillRect(0, 0, LABEL + wide + 8, AXIS - 3);
    ink.fillRect(0, 0, LABEL - 2, high);
    ink.fillStyle = text;
    ink.textAlign = "center";
    for (const tick of ticks) {
      const x = toX(tick);
      if (x > LABEL + 10 && x < LABEL + wide - 24) ink.fillText(momentText(tick * unit, length * unit), x, 8);
    }
    ink.textAlign = "right";
    for (let r = first; r < last; r++) {
      const isMarked = marked >= 0 && r === Math.floor(marked / together), y = toY(r);
      if (y < AXIS - height / 2) continue;
      ink.fillStyle = isMarked ? accent : text;
      ink.font = `${isMarked ? "700 " : ""}11px system-ui, sans-serif`;
      const name = together > 1 ? `${r * together} to ${Math.min(data.ranks, (r + 1) * together) - 1}` : rankText(data.jobs, r);
      ink.fillText(`${isMarked ? "▸ " : ""}${name.length > 18 ? `${name.slice(0, 8)}…${name.slice(-8)}` : name}`, LABEL - 8, y + height / 2, LABEL - 12);
      if (isMarked) {
        ink.strokeStyle = accent;
        ink.lineWidth = 1.5;
        ink.strokeRect(LABEL - 1, y + 0.5, wide + 2, height - 1);
      }
    }
    where.textContent = `${momentText(view.from * unit, length * unit)} to ${momentText(view.to * unit, length * unit)}`
      + (sums ? "" : ` · ${countText(seen, "span")}`);
    const ms = performance.now() - start;
    Object.assign(canvas.dataset, { from: view.from / end, to: view.to / end, first, last, seen, marked, path: hasPath, ms: ms.toFixed(2), spans });
  }

  /** Draws rows with more spans than fit: each column is divided by the shares of the kinds in its time. @param {number[]} dense @param {string} paper */
  function drawColumns(dense, paper) {
    const width = Math.max(1, Math.round(wide * ratio)), tall = canvas.height;
    if (!image || image.width !== width || image.height !== tall) image = ink.createImageData(width, tall);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(wordOf(/^#[0-9a-f]{6}$/i.test(paper) ? paper : "#ffffff", 1));
    const bin = Math.max(1, Math.round(COLUMN * ratio)), length = view.to - view.from;
    const until = new Float64Array(K), next = new Float64Array(K), edges = new Float64Array(K);
    // Messages and activities of a pattern have bands of their own; all others share one.
    const split = kinds[0][3] > 0 && K > 1 && rows.some((row) => "n" in row) ? kinds[0][3] : 0;
    for (const r of dense) {
      const y0 = Math.round((toY(r) + 1) * ratio), tallRow = Math.max(1, Math.round((height - 2) * ratio));
      let hint = timeUntil(rows[r], view.from, until);
      for (let x = 0; x < width; x += bin) {
        const right = Math.min(width, x + bin);
        hint = timeUntil(rows[r], view.from + (right / width) * length, next, hint);
        const whole = ((right - x) / width) * length * fullest;
        for (let k = 0; k < K; k++) { edges[k] = (next[k] - until[k]) / whole; until[k] = next[k]; }
        let low = tallRow, band = split ? Math.round(tallRow * (1 - split)) : tallRow;
        for (let k = split ? 1 : 0; k < K; k++) low = fill(k, low, Math.round(edges[k] * band), x, right);
        if (split) fill(0, Math.round(tallRow * split), Math.round(edges[0] * tallRow * split), x, right);
      }
      /** Fills part of a column upwards; returns its upper edge. @param {number} k @param {number} low @param {number} part @param {number} x @param {number} right */
      function fill(k, low, part, x, right) {
        const top = Math.max(0, low - part), [full, pale] = words[k], waits = isWait(k);
        for (let line = top; line < low; line++) {
          const y = y0 + line;
          if (y < 0 || y >= tall) continue;
          for (let at = x; at < right; at++) pixels[y * width + at] = waits && (at + line) % 5 > 1 ? pale : full;
        }
        return top;
      }
    }
    ink.putImageData(image, Math.round(LABEL * ratio), 0);
  }

  /** @param {SpanRow} row @param {number} y @param {number} i0 @param {number} i1 */
  function drawSpans(row, y, i0, i1) {
    const room = height - 2;
    for (let i = i0; i < i1; i++) {
      const x0 = Math.max(LABEL, toX(row.begin[i])), x1 = Math.min(LABEL + wide, toX(row.end[i]));
      if (x1 < LABEL) continue;
      let [, colour, top, low] = kinds[row.kind[i]];
      if (row.kind[i] === 0) {
        const lane = (low - top) / row.lanes;
        [top, low] = [top + lane * row.lane[i], top + lane * (row.lane[i] + 1)];
      }
      const width = Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 0.8 : 0)), from = y + 1 + top * room, tall = Math.max(1, (low - top) * room - 0.4);
      ink.fillStyle = colour;
      ink.fillRect(x0, from, width, tall);
      if (row.kind[i] === 0 && row.peer[i] >= 0 && width > 34 && tall > 9) {
        ink.fillStyle = "#ffffff";
        ink.font = "10px system-ui, sans-serif";
        ink.textAlign = "left";
        ink.fillText(`→ ${jobOf(data.jobs, row.peer[i])?.[1] ?? row.peer[i]}`, x0 + 3, from + tall / 2, width - 5);
      }
    }
  }

  /** @param {number} first @param {number} last @param {string} text @param {string} paper */
  function drawPath(first, last, text, paper) {
    ink.save();
    ink.beginPath();
    ink.rect(LABEL, AXIS, wide, high);
    ink.clip();
    ink.beginPath();
    for (const [rank, begin, until, kind, peer] of given.path) {
      if (until < view.from || begin > view.to) continue;
      const from = kind === "network" && peer !== null ? peer : rank;
      if (Math.max(from, rank) < first * together || Math.min(from, rank) > last * together) continue;
      const [y0, y1] = [from, rank].map((of) => toY(Math.floor(of / together)) + height / 2);
      ink.moveTo(toX(begin), y0);
      ink.lineTo(toX(until), y1);
    }
    for (const [width, colour] of /** @type {[number, string][]} */ ([[5, paper], [2.5, text]])) {
      ink.lineWidth = width;
      ink.strokeStyle = colour;
      ink.stroke();
    }
    ink.restore();
  }

  /** Returns the row at a place, and its span; -1 where there is none. @param {number} x @param {number} y */
  function hit(x, y) {
    const r = Math.floor((y - AXIS + scroll.scrollTop) / height), row = rows[r];
    if (!row || x < LABEL || y < AXIS) return row && y >= AXIS ? { row: r, span: -1 } : null;
    if ("until" in row) return { row: r, span: -1 };
    const [t, near] = [toTime(x), (view.to - view.from) / wide], inRow = (((y - AXIS + scroll.scrollTop) % height) - 1) / (height - 2);
    const i0 = firstIndex(0, row.n, (i) => row.begin[i] > t - row.longest - near), i1 = firstIndex(i0, row.n, (i) => row.begin[i] > t + near);
    let best = -1;
    for (let i = i0; i < i1; i++) {
      if (row.end[i] < t - near) continue;
      const [, , top, low] = kinds[row.kind[i]];
      if (best < 0 || (inRow >= top && inRow <= low)) best = i;
    }
    return { row: r, span: best };
  }

  /** Describes the span or the columns at a place. @param {{row: number, span: number}} at @param {number} t */
  function describe(at, t) {
    const row = rows[at.row], node = data.nodes?.[at.row];
    const job = jobOf(data.jobs, at.row);
    const name = together > 1 ? `ranks ${at.row * together} to ${Math.min(data.ranks, (at.row + 1) * together) - 1}`
      : `rank ${at.row}${job ? ` (${job[0]}, its rank ${job[1]})` : ""}${node ? ` on ${node}` : ""}`;
    if ("n" in row && at.span >= 0) {
      const i = at.span, [begin, until] = [row.begin[i] * unit, row.end[i] * unit], length = (view.to - view.from) * unit;
      const peer = row.peer[i] < 0 ? "" : ` ${row.kind[i] === 0 ? "to" : "with"} ${rankText(data.jobs, row.peer[i])}`;
      return `${name}: ${kinds[row.kind[i]][0]}${peer}${row.bytes[i] ? `, ${bytesText(row.bytes[i])}` : ""}, `
        + `${momentText(begin, length)} to ${momentText(until, length)} (${timeText(until - begin)})`;
    }
    if (t < 0) return name;
    const near = ((view.to - view.from) / wide) * COLUMN, shares = new Float64Array(K), before = new Float64Array(K);
    const [from, until] = [Math.max(0, t - near), Math.min(end, t + near)];
    timeUntil(row, until, shares);
    timeUntil(row, from, before);
    const parts = kinds.slice(0, K).flatMap(([kind], k) => {
      const mean = (shares[k] - before[k]) / (until - from);
      return mean >= 0.005 ? [fullest > 1 ? `${mean.toFixed(2)} of ${kind}` : `${kind} ${percentText(mean)}`] : [];
    });
    return `${name} at ${momentText(t * unit, (view.to - view.from) * unit)}: ${parts.join(", ") || "nothing"}`;
  }

  /** @param {number} rank */
  function mark(rank) {
    marked = rank;
    const y = Math.floor(rank / together) * height;
    if (y < scroll.scrollTop || y + height > scroll.scrollTop + high - AXIS) scroll.scrollTop = Math.max(0, y - (high - AXIS) / 2);
    redraw();
  }

  /** @param {{row: number, span: number}} at @param {number} t */
  function pick(at, t) {
    picked = at;
    panel.textContent = describe(at, t);
    mark(at.row * together);
  }

  search.addEventListener("input", () => {
    const rank = findRank(search.value, data);
    if (rank >= 0) {
      mark(rank);
      panel.textContent = describe({ row: Math.floor(rank / together), span: -1 }, -1);
    } else if (search.value) panel.textContent = "There is no such rank.";
  });
  canvas.addEventListener("wheel", (/** @type {WheelEvent} */ event) => {
    // A page is scrolled by the wheel unless the timeline is in use.
    if (event.shiftKey || !(event.ctrlKey || document.activeElement === canvas)) return;
    event.preventDefault();
    zoom(Math.exp(-Math.sign(event.deltaY) * Math.min(0.4, Math.abs(event.deltaY) / 300)), toTime(Math.max(LABEL, event.offsetX)));
  }, { passive: false });
  /** @type {{x: number, y: number, from: number, top: number, far: boolean} | null} */
  let drag = null;
  canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0) return;
    drag = { x: event.offsetX, y: event.offsetY, from: view.from, top: scroll.scrollTop, far: false };
    canvas.setPointerCapture(event.pointerId);
    tip.hidden = true;
  });
  canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const { offsetX: x, offsetY: y } = event;
    if (drag) {
      drag.far ||= Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4;
      if (!drag.far) return;
      const length = view.to - view.from;
      scroll.scrollTop = drag.top + drag.y - y;
      return show(moved({ from: drag.from, to: drag.from + length }, end, ((drag.x - x) / wide) * length));
    }
    const at = hit(x, y);
    tip.hidden = !at;
    if (!at) return;
    tip.textContent = describe(at, x < LABEL ? -1 : toTime(x));
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 18}px`;
  });
  canvas.addEventListener("pointerleave", () => (tip.hidden = true));
  canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
    const at = drag && !drag.far ? hit(event.offsetX, event.offsetY) : null;
    drag = null;
    if (at) pick(at, event.offsetX < LABEL ? -1 : toTime(event.offsetX));
  });
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const length = view.to - view.from, step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") zoom(2);
    else if (event.key === "-") zoom(0.5);
    else if (event.key === "0") show({ from: 0, to: end });
    else if (event.key === "ArrowLeft") show(moved(view, end, -length / 4));
    else if (event.key === "ArrowRight") show(moved(view, end, length / 4));
    else if (step) {
      const next = Math.max(0, Math.min(rows.length - 1, (marked < 0 ? -1 : Math.floor(marked / together)) + step));
      pick({ row: next, span: -1 }, -1);
    } else if (event.key === "Enter" && marked >= 0) {
      const r = Math.floor(marked / together), row = rows[r];
      if (!("n" in row)) return pick({ row: r, span: -1 }, (view.from + view.to) / 2);
      const after = picked && picked.row === r ? picked.span + 1 : 0;
      const shown = firstIndex(0, row.n, (i) => row.begin[i] >= view.from);
      const span = Math.max(after, shown);
      if (span < row.n && row.begin[span] <= view.to) pick({ row: r, span }, row.begin[span]);
      else pick({ row: r, span: -1 }, -1);
    } else return;
    event.preventDefault();
  });
  scroll.addEventListener("scroll", redraw);
  dark.addEventListener("change", redraw);
  new ResizeObserver(measure).observe(section);
  measure();
}
