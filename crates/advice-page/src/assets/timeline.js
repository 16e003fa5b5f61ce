// Timeline with one row for each rank. Spans smaller than a pixel are drawn as the shares of a column, from running sums.

const timeline = (() => {
  const AXIS = 20 + regions.height, MOST_LINES = 3000, MOST_HEIGHT = 8000;
  /** Width of a column of shares [pixels]; narrower columns would be noise. */
  const BIN = 5;
  /** Left edge of the rows, after the names of the ranks and, if there is room, their shares of waiting. */
  let LABEL = 58;
  const canvas = $("timeline"), overview = $("overview");
  let from = 0, to = Math.max(1, data.end), row = 20, wide = 1, dirty = false, colours = {}, patterns = {};
  /** Indices of the lit spans of each rank, ascending. */
  let hits = ranks.map(() => new Uint32Array(0));
  let shares = null, inView = 0, lines = [], tooMany = 0;

  // --- appearance ---

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of [...KINDS, "idle", "ink", "muted", "rule", "panel", "line", "accent"]) colours[name] = style.getPropertyValue(`--${name}`).trim();
    const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
    const word = ([r, g, b], opacity = 255) => ((opacity << 24) | (b << 16) | (g << 8) | r) >>> 0;
    colours.words = KINDS.map(kind => word(rgb(colours[kind])));
    colours.pale = KINDS.map(kind => word(rgb(colours[kind]).map((c, i) => Math.round(c * 0.42 + rgb(colours.panel)[i] * 0.58))));
    colours.idleWord = word(rgb(colours.idle));
    const wait = rgb(colours.wait), panel = rgb(colours.panel), ink = rgb(colours.ink);
    const mixed = (a, b, part) => word(a.map((c, i) => Math.round(c * part + b[i] * (1 - part))));
    // From hardly any waiting to nothing but waiting: darker against the page, and denser.
    colours.heat = [[0, 0], [0.16, 0.6], [0.3, 0.75], [0.55, 1], [1, 1]].map(([ground, mark], step) => step === 0 ? [colours.idleWord, colours.idleWord]
      : step === 4 ? [mixed(wait, ink, 0.82), mixed(wait, ink, 0.82)] : [mixed(wait, panel, ground), mixed(wait, panel, mark)]);
    patterns = KINDS.map((kind, k) => {
      const tile = el("canvas", { width: 12, height: 12 }), ink = tile.getContext("2d");
      const pixels = ink.createImageData(12, 12), words = new Uint32Array(pixels.data.buffer);
      for (let i = 0; i < 144; i++) words[i] = texture(k, i % 12, Math.floor(i / 12));
      ink.putImageData(pixels, 0, 0);
      return canvas.getContext("2d").createPattern(tile, "repeat");
    });
  }

  /** Returns the texture of a kind, which distinguishes it without colour. */
  function texture(kind, x, y) {
    const dense = kind < 2 || (kind === 2 ? y % 4 !== 0 : kind === 3 ? (x + y) % 6 < 2 : x % 4 !== 0);
    return dense ? colours.words[kind] : colours.pale[kind];
  }

  /** Returns the step of a share of waiting, of the five in the legend. */
  const heatStep = share => share < 0.1 ? 0 : share < 0.25 ? 1 : share < 0.5 ? 2 : share < 0.75 ? 3 : 4;

  /** Returns the texture of a step: dots, lines, close lines, solid. */
  function heat(step, x, y) {
    const [ground, mark] = colours.heat[step];
    const marked = step === 1 ? x % 3 === 0 && y % 3 === 0 : step === 2 ? (x + y) % 5 === 0 : step === 3 ? (x + y) % 4 < 2 : false;
    return marked ? mark : ground;
  }

  function measure() {
    const ratio = window.devicePixelRatio || 1, box = $("rows");
    const width = Math.max(200, box.clientWidth), shown = Math.max(1, ranks.length);
    LABEL = width < 560 ? 58 : 118;
    wide = width - LABEL - 6;
    row = Math.max(Math.min(44, (box.clientHeight - AXIS - 2) / shown), Math.min(9, MOST_HEIGHT / shown), 2);
    const height = Math.min(MOST_HEIGHT, AXIS + row * shown);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    overview.width = Math.round(width * ratio);
    overview.height = Math.round(30 * ratio);
    readColours();
    shares = null;
    redraw();
  }

  /** Width of the rows, cached because reading it from the canvas costs a layout. */
  const plot = () => wide;
  const toX = t => LABEL + (t - from) / (to - from) * plot();
  const toTime = x => from + (x - LABEL) / plot() * (to - from);
  const toY = rank => AXIS + row * rank;
  const rankAt = y => y < AXIS ? -1 : Math.min(Math.floor((y - AXIS) / row), ranks.length);

  function redraw() {
    if (!dirty) requestAnimationFrame(() => { dirty = false; draw(); });
    dirty = true;
  }

  // --- drawing ---

  function draw() {
    if (canvas.width === 0 || $("view-timeline").hidden) return;
    const ink = canvas.getContext("2d"), ratio = canvas.width / canvas.clientWidth;
    ink.setTransform(1, 0, 0, 1, 0, 0);
    ink.fillStyle = colours.panel;
    ink.fillRect(0, 0, canvas.width, canvas.height);
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawAxis(ink);
    const view = { from, to, toX, left: LABEL, width: plot() };
    regions.drawBands(ink, view, AXIS - regions.height - 1, colours);
    inView = 0;
    const waits = ranks.map(waitShare), bounds = waits.reduce(([least, most], share) => [Math.min(least, share), Math.max(most, share)], [1, 0]);
    canvas.dataset.waits = waits.slice(0, 64).map(share => share.toFixed(3)).join(" ");
    const top = $("rows").scrollTop, bottom = top + $("rows").clientHeight;
    ranks.forEach((spans, rank) => {
      const y = toY(rank);
      if (y + row < top || y > bottom || y > MOST_HEIGHT) return;
      const i0 = Math.max(0, spanBefore(spans, from)), i1 = spanBefore(spans, to) + 1;
      inView += Math.max(0, i1 - i0);
      if (i1 - i0 > plot() / 2) drawColumns(ink, spans, y, ratio, i0, i1); else drawSpans(ink, spans, y, ratio, i0, i1);
      if (state.rank >= 0 && state.rank !== rank) {
        ink.globalAlpha = 0.55;
        ink.fillStyle = colours.panel;
        ink.fillRect(LABEL, y, plot(), row);
        ink.globalAlpha = 1;
      }
      drawHits(ink, spans, hits[rank], y, i1 - i0 > plot() / 2);
      drawLabel(ink, rank, y, waits[rank], bounds);
    });
    if (LABEL > 60) {
      ink.fillStyle = colours.muted;
      ink.font = "10px system-ui, sans-serif";
      ink.textAlign = "right";
      ink.textBaseline = "middle";
      ink.fillText("waits", LABEL - 5, 8);
    }
    drawMessages(ink);
    regions.drawVeil(ink, view, AXIS, row * ranks.length, colours);
    drawPath(ink);
    drawPick(ink);
    drawOverview();
    canvas.dataset.from = from;
    canvas.dataset.to = to;
    canvas.dataset.spans = inView;
    canvas.dataset.messages = lines.length;
    canvas.dataset.region = state.region;
    $("window").textContent = `${moment(from, to - from)} to ${moment(to, to - from)} · ${plural(inView, "span")}` +
      (tooMany ? ` · ${lines.length ? `${count(lines.length)} of ${plural(tooMany, "message")} drawn` : `${plural(tooMany, "message")}: zoom in to see them`}` : lines.length ? ` · ${plural(lines.length, "message")}` : "") +
      (data.stride > 1 ? ` · one message of ${count(data.stride)} is in this page` : "") +
      (data.resolution > 0 ? ` · spans closer than ${time(data.resolution)} are drawn as one` : "");
    $("window").title = $("window").textContent;
  }

  function drawAxis(ink) {
    const rough = (to - from) / Math.max(2, plot() / 110), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(n => n * power).find(s => s >= rough);
    ink.font = "11px system-ui, sans-serif";
    ink.textAlign = "center";
    ink.textBaseline = "middle";
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
      const x = Math.round(toX(tick)) + 0.5;
      ink.strokeStyle = colours.rule;
      ink.beginPath();
      ink.moveTo(x, AXIS - 4);
      ink.lineTo(x, canvas.clientHeight);
      ink.stroke();
      ink.fillStyle = colours.muted;
      if (x > LABEL + 16 && x < canvas.clientWidth - 24) ink.fillText(moment(tick, step * 4), x, 8);
    }
  }

  /**
   * Draws a column, divided by the shares of the kinds. Waiting fills the rest from the top, in the shade of its share. Long waits stand out as
   * blocks, and the ranks that cause them are gaps in these.
   */
  function drawShares(words, width, height, x0, x1, shares) {
    const waited = shares[3], step = heatStep(waited);
    let bottom = height, left = 0;
    for (let k = 0; k < K; k++) {
      if (k === 3) continue;
      left += shares[k] * height;
      const top = Math.max(0, height - Math.round(left));
      for (let line = top; line < bottom; line++) for (let x = x0; x < x1; x++) words[line * width + x] = texture(k, x, line);
      bottom = top;
    }
    const top = Math.max(0, height - Math.round(left + waited * height));
    for (let line = top; line < bottom; line++) for (let x = x0; x < x1; x++) words[line * width + x] = heat(step, x, line);
  }

  /** Draws more spans than fit: each column is divided by the shares of the kinds in its time. */
  function drawColumns(ink, spans, y, ratio, i0, i1) {
    const width = Math.round(plot() * ratio), height = Math.max(1, Math.round((row - 2) * ratio)), bin = Math.max(1, Math.round(BIN * ratio));
    const pixels = ink.createImageData(width, height), words = new Uint32Array(pixels.data.buffer);
    words.fill(colours.idleWord);
    const before = new Float64Array(K), after = new Float64Array(K), share = new Float64Array(K);
    let i = i0;
    timeUntil(spans, i, from, before);
    for (let x = 0; x < width; x += bin) {
      const last = Math.min(width, x + bin), t = from + last / width * (to - from), length = (last - x) / width * (to - from);
      i = firstIndex(Math.max(0, i), i1, j => spans.begin[j] >= t) - 1;
      timeUntil(spans, i, t, after);
      for (let k = 0; k < K; k++) share[k] = (after[k] - before[k]) / length;
      drawShares(words, width, height, x, last, share);
      before.set(after);
    }
    ink.putImageData(pixels, Math.round(LABEL * ratio), Math.round((y + 1) * ratio));
  }

  /** Returns the share of the visible time that a rank waits. */
  function waitShare(spans) {
    const before = new Float64Array(K), after = new Float64Array(K);
    timeUntil(spans, spanBefore(spans, from), from, before);
    timeUntil(spans, spanBefore(spans, to), to, after);
    return to > from ? (after[3] - before[3]) / (to - from) : 0;
  }

  /** Draws the name of a rank and a bar of its waiting; the most and the least are bold if they differ by much. */
  function drawLabel(ink, rank, y, share, [least, most]) {
    const wide = LABEL > 60, chosen = state.rank === rank, text = row >= 8 || rank % Math.ceil(9 / row) === 0;
    const size = Math.min(11, Math.max(8, row - 1)), right = wide ? LABEL - 66 : LABEL - 8;
    ink.fillStyle = chosen ? colours.ink : colours.muted;
    ink.font = `${chosen ? "700 " : ""}${size}px system-ui, sans-serif`;
    ink.textAlign = "right";
    ink.textBaseline = "middle";
    if (text) ink.fillText(`${row >= 12 ? "rank " : ""}${rank}`, right, y + row / 2);
    if (!wide) return;
    const length = 26, height = Math.max(1, Math.min(8, row - 3)), x = LABEL - 60, top = y + (row - height) / 2;
    ink.fillStyle = colours.idle;
    ink.fillRect(x, top, length, height);
    ink.fillStyle = colours.wait;
    ink.fillRect(x, top, Math.min(1, share) * length, height);
    if (row < 8) return;
    const extreme = most - least > 0.1 && (share >= most - 0.005 || share <= least + 0.005);
    ink.fillStyle = extreme ? colours.ink : colours.muted;
    ink.font = `${extreme ? "700 " : ""}${size}px system-ui, sans-serif`;
    ink.fillText(`${Math.round(share * 100)}%`, LABEL - 5, y + row / 2);
  }

  /** Draws spans one by one; waiting is low, so that busy spans stand out. */
  function drawSpans(ink, spans, y, ratio, i0, i1) {
    ink.fillStyle = colours.idle;
    ink.fillRect(LABEL, y + row - 2, plot(), 1);
    ink.font = "10px system-ui, sans-serif";
    ink.textAlign = "left";
    ink.textBaseline = "middle";
    for (let i = i0; i < i1; i++) {
      const x0 = Math.max(LABEL, toX(spans.begin[i])), x1 = Math.min(LABEL + plot(), toX(spans.end[i]));
      if (x1 < LABEL) continue;
      const kind = classes.kind[spans.cls[i]], width = Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 0.5 : 0));
      const height = (row - 2) * (kind === 3 ? 0.55 : kind === 0 ? 0.8 : 1);
      ink.fillStyle = patterns[kind];
      ink.fillRect(x0, y + 1 + row - 2 - height, width, height);
      const name = data.calls[classes.call[spans.cls[i]]];
      if (width > 26 && row >= 13 && name && kind !== 0) {
        const text = kind === 3 ? `${name} waits` : name;
        const fits = text.slice(0, Math.floor((width - 8) / 5.6));
        if (fits.length < 3) continue;
        ink.fillStyle = colours.panel;
        const baseline = y + 1 + row - 2 - height / 2;
        ink.globalAlpha = 0.85;
        ink.fillRect(x0 + 2, baseline - 5.5, Math.min(width - 4, ink.measureText(fits).width + 4), 11);
        ink.globalAlpha = 1;
        ink.fillStyle = colours.ink;
        ink.fillText(fits, x0 + 4, baseline);
      }
    }
  }

  /** Draws ticks above the spans of the chosen line. */
  function drawHits(ink, spans, hit, y, dense) {
    ink.fillStyle = colours.ink;
    let next = from;
    for (let j = 0; ; j++) {
      // Skips to the first span that ends in another pixel.
      j = firstIndex(j, hit.length, k => spans.end[hit[k]] >= next);
      if (j >= hit.length || spans.begin[hit[j]] > to) break;
      const x0 = Math.max(LABEL, toX(spans.begin[hit[j]])), x1 = Math.max(x0 + 1.5, Math.min(LABEL + plot(), toX(spans.end[hit[j]])));
      ink.fillRect(x0, y, x1 - x0, Math.min(dense ? 1.5 : 3, row / 3));
      next = toTime(x1 + 1);
    }
  }

  const messageOf = ([sender, i]) => {
    const m = sent[sender], [receiver, fromPlace, toPlace] = data.links[m.link[i]];
    return { sender, receiver, fromPlace, toPlace, sent: m.sent[i], arrived: m.arrived[i], bytes: m.bytes[i], tag: m.tag[i] };
  };

  /** Calls `see(sender, index)` for the messages under way in a window, filtered by the chosen rank and line. */
  function messagesIn(begin, end, see) {
    sent.forEach((m, sender) => {
      for (let i = firstIndex(0, m.n, j => m.sent[j] >= begin - m.longest); i < m.n && m.sent[i] < end; i++) {
        if (m.arrived[i] <= begin) continue;
        if (state.rank >= 0 && state.rank !== sender && state.rank !== data.links[m.link[i]][0]) continue;
        see(sender, i);
      }
    });
  }

  function drawMessages(ink) {
    lines = [];
    tooMany = 0;
    let under = 0;
    const starts = new Uint16Array(Math.ceil(plot() / 4) + 1);
    messagesIn(from, to, (sender, i) => {
      if (++under > MOST_LINES) return;
      // If many messages begin side by side, only a few are drawn: more would be a black spot.
      const place = Math.max(0, Math.floor((toX(sent[sender].sent[i]) - LABEL) / 4));
      if (starts[place]++ < 6) lines.push([sender, i]);
    });
    if (under > MOST_LINES) lines = [];
    if (lines.length < under) tooMany = under;
    const draw = (message, width, alpha) => {
      const { sender, receiver } = message;
      ink.globalAlpha = alpha;
      ink.lineWidth = width;
      ink.beginPath();
      const x0 = toX(message.sent), y0 = toY(sender) + row / 2, x1 = toX(message.arrived), y1 = toY(receiver) + row / 2;
      ink.moveTo(x0, y0);
      ink.lineTo(x1, y1);
      ink.stroke();
      ink.beginPath();
      ink.arc(x1, y1, width + 1, 0, 7);
      ink.fill();
    };
    ink.save();
    ink.beginPath();
    ink.rect(LABEL, AXIS, plot(), canvas.clientHeight);
    ink.clip();
    ink.strokeStyle = ink.fillStyle = colours.line;
    for (const line of lines) draw(messageOf(line), 1, lines.length > 600 ? 0.35 : 0.65);
    if (state.pick && state.pick.message) {
      ink.strokeStyle = ink.fillStyle = colours.ink;
      draw(messageOf(state.pick.message), 2.5, 1);
    }
    ink.restore();
    ink.globalAlpha = ink.lineWidth = 1;
  }

  /** Draws the critical path: heavy while a rank is busy, dashed while a message is under way, with a light edge. */
  function drawPath(ink) {
    canvas.dataset.path = 0;
    if (!state.path || path.n === 0) return;
    const first = firstIndex(0, path.n, i => path.end[i] > from), end = firstIndex(first, path.n, i => path.begin[i] >= to);
    canvas.dataset.path = end - first;
    ink.save();
    ink.beginPath();
    ink.rect(LABEL, AXIS, plot(), canvas.clientHeight);
    ink.clip();
    if (end - first > plot() / 3) drawPathShares(ink, first, end);
    else {
      const middle = rank => toY(rank) + row / 2;
      for (const [colour, more] of [[colours.panel, 3], [colours.ink, 0]]) {
        ink.strokeStyle = colour;
        for (const busy of [false, true]) {
          ink.lineWidth = (busy ? Math.min(4, Math.max(2, row / 4)) : 1.5) + more;
          ink.setLineDash(busy || more ? [] : [5, 3]);
          ink.beginPath();
          for (let i = first; i < end; i++) {
            if (path.from[i] < 0 !== busy) continue;
            const x0 = toX(path.begin[i]), x1 = toX(path.end[i]), y = middle(path.rank[i]);
            ink.moveTo(x0, busy ? y : middle(path.from[i]));
            ink.lineTo(busy ? Math.max(x0 + 1, x1) : x1, y);
          }
          ink.stroke();
        }
      }
    }
    ink.restore();
    ink.lineWidth = 1;
  }

  /** Draws shares of the critical path if it changes ranks too often: its time at each rank and, above that, on the way to it. */
  function drawPathShares(ink, first, end) {
    const width = 3, n = Math.ceil(plot() / width), length = (to - from) / plot() * width;
    const shares = [new Float64Array(n * ranks.length), new Float64Array(n * ranks.length)];
    for (let i = first; i < end; i++) {
      const begin = Math.max(from, path.begin[i]), last = Math.min(to, path.end[i]), of = shares[path.from[i] < 0 ? 0 : 1];
      for (let x = Math.max(0, Math.floor((begin - from) / length)); x < n && from + x * length < last; x++) {
        of[path.rank[i] * n + x] += Math.min(last, from + (x + 1) * length) - Math.max(begin, from + x * length);
      }
    }
    let most = 0;
    for (let i = 0; i < shares[0].length; i++) most = Math.max(most, shares[0][i] + shares[1][i]);
    ink.fillStyle = colours.panel;
    ink.globalAlpha = 0.7;
    ink.fillRect(LABEL, AXIS, plot(), row * ranks.length);
    ink.globalAlpha = 1;
    ranks.forEach((_, rank) => {
      for (let x = 0; x < n; x++) {
        let bottom = toY(rank) + row - 1;
        for (const [of, colour] of [[shares[0], colours.ink], [shares[1], colours.muted]]) {
          const height = of[rank * n + x] / most * (row - 2);
          if (!(height >= 0.2)) continue;
          ink.fillStyle = colour;
          // Time under way has gaps, which distinguish the two without colour.
          ink.fillRect(LABEL + x * width, bottom - height, of === shares[0] ? width : width - 1.5, height);
          bottom -= height;
        }
      }
    });
  }

  function drawPick(ink) {
    const { pick } = state;
    if (!pick || pick.message) return;
    const spans = ranks[pick.rank], x0 = Math.max(LABEL, toX(spans.begin[pick.span])), x1 = Math.min(LABEL + plot(), toX(spans.end[pick.span]));
    if (x1 < LABEL || x0 > LABEL + plot()) return;
    ink.strokeStyle = colours.ink;
    ink.lineWidth = 2;
    ink.strokeRect(x0, toY(pick.rank) + 1, Math.max(2, x1 - x0), row - 2);
    ink.lineWidth = 1;
  }

  /** Draws the whole run in a strip: shares of all ranks, and the part that the rows show. */
  function drawOverview() {
    const ink = overview.getContext("2d"), ratio = overview.width / overview.clientWidth;
    const width = Math.round(plot() * ratio), height = overview.height - 8;
    if (!shares) {
      shares = ink.createImageData(width, height);
      const words = new Uint32Array(shares.data.buffer).fill(colours.idleWord), total = new Float64Array(width * K);
      const before = new Float64Array(K), after = new Float64Array(K);
      for (const spans of ranks) {
        before.fill(0);
        let i = -1;
        for (let x = 0; x < width; x++) {
          const t = (x + 1) / width * data.end;
          i = firstIndex(Math.max(0, i), spans.n, j => spans.begin[j] >= t) - 1;
          timeUntil(spans, i, t, after);
          for (let k = 0; k < K; k++) total[x * K + k] += after[k] - before[k];
          before.set(after);
        }
      }
      const share = new Float64Array(K);
      for (let x = 0; x < width; x++) {
        for (let k = 0; k < K; k++) share[k] = total[x * K + k] / (Math.max(1, data.end) / width * ranks.length);
        drawShares(words, width, height, x, x + 1, share);
      }
    }
    ink.setTransform(1, 0, 0, 1, 0, 0);
    ink.clearRect(0, 0, overview.width, overview.height);
    ink.putImageData(shares, Math.round(LABEL * ratio), 4);
    const end = Math.max(1, data.end), x0 = LABEL * ratio + from / end * width, x1 = LABEL * ratio + to / end * width;
    ink.fillStyle = colours.panel;
    ink.globalAlpha = 0.65;
    ink.fillRect(LABEL * ratio, 4, x0 - LABEL * ratio, height);
    ink.fillRect(x1, 4, LABEL * ratio + width - x1, height);
    ink.globalAlpha = 1;
    ink.strokeStyle = colours.ink;
    ink.lineWidth = 1.5 * ratio;
    ink.strokeRect(x0, 3, Math.max(3, x1 - x0), height + 2);
  }

  // --- navigation ---

  function show(begin, end) {
    const whole = Math.max(1, data.end), length = Math.min(whole, Math.max(10, end - begin));
    begin = Math.min(Math.max(0, begin), whole - length);
    [from, to] = [begin, begin + length];
    redraw();
  }
  function zoom(factor, at = (from + to) / 2) {
    const length = (to - from) * factor;
    show(at - (at - from) / (to - from) * length, at - (at - from) / (to - from) * length + length);
  }
  /** Scrolls and zooms to a moment of a rank. */
  function goTo(rank, begin, end) {
    const wanted = Math.max((end - begin) * 8, 100);
    if (to - from > wanted * 40 || end < from || begin > to || to - from < end - begin) show((begin + end) / 2 - wanted / 2, (begin + end) / 2 + wanted / 2);
    const y = toY(rank), box = $("rows");
    if (y < box.scrollTop || y + row > box.scrollTop + box.clientHeight) box.scrollTop = y - box.clientHeight / 2;
    redraw();
  }

  // --- selection ---

  /** Returns the message drawn nearest to a point, or else the span there. */
  function at(x, y) {
    const rank = rankAt(y);
    let best = 6, found = null;
    for (const line of lines) {
      const m = messageOf(line), x0 = toX(m.sent), y0 = toY(m.sender) + row / 2, dx = toX(m.arrived) - x0, dy = toY(m.receiver) + row / 2 - y0;
      const along = Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
      const distance = Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
      if (distance < best) [best, found] = [distance, { message: line }];
    }
    if (found || rank < 0 || rank >= ranks.length || x < LABEL) return found;
    const spans = ranks[rank], t = toTime(x), near = 2 / plot() * (to - from);
    const span = spanBefore(spans, t + near);
    return span >= 0 && spans.end[span] >= t - near ? { rank, span } : null;
  }

  function words(pick) {
    if (!pick) return "";
    if (pick.message) {
      const m = messageOf(pick.message);
      return `message ${m.sender} → ${m.receiver} · ${bytes(m.bytes)} · tag ${m.tag} · sent ${moment(m.sent, 100)} at ${placeName(m.fromPlace)} · arrived ${moment(m.arrived, 100)} at ${placeName(m.toPlace)} · under way ${time(m.arrived - m.sent)}`;
    }
    const spans = ranks[pick.rank], i = pick.span, cls = spans.cls[i], kind = classes.kind[cls], call = data.calls[classes.call[cls]], peer = classes.peer[cls];
    const what = classes.several[cls] ? `${plural(spans.bytes[i], "span")} of ${KINDS[kind]}` : kind === 0 ? "computation" : `${call || KINDS[kind]}${kind === 3 && call ? " (waits)" : ""}`;
    const rest = classes.several[cls] ? [] : [peer >= 0 ? `with ${peer}` : "", spans.bytes[i] > 0 && kind !== 0 ? bytes(spans.bytes[i]) : "", spans.event[i] >= 0 ? `event ${count(spans.event[i])}` : ""];
    return [`rank ${pick.rank}`, what, ...rest, `${time(spans.end[i] - spans.begin[i])} from ${moment(spans.begin[i], 100)}`, placeName(classes.place[cls])].filter(Boolean).join(" · ");
  }

  /** Selects a span or a message, and its line. */
  function choosePick(pick) {
    if (!pick) return choose({ pick: null });
    const places = pick.message ? [messageOf(pick.message).fromPlace, messageOf(pick.message).toPlace] : [classes.place[ranks[pick.rank].cls[pick.span]]];
    const known = places.filter(place => data.places[place][0] >= 0);
    const [file, line] = known.length ? data.places[known[0]] : [state.file, 0];
    choose({ pick, lit: new Set(known), ...known.length ? { file, line } : {} });
  }

  /** Moves to the next or previous lit span, or to any call if none is lit, on the chosen rank or the first with one. */
  function step(by) {
    const { pick } = state, picked = pick && !pick.message;
    const rank = state.rank >= 0 ? state.rank : picked ? pick.rank : Math.max(0, hits.findIndex(hit => hit.length > 0));
    const spans = ranks[rank], hit = hits[rank];
    if (!spans) return;
    let i = picked && pick.rank === rank ? pick.span : by > 0 ? spanBefore(spans, from) : spanBefore(spans, to) + 1;
    if (hit.length > 0) {
      const next = by > 0 ? firstIndex(0, hit.length, j => hit[j] > i) : firstIndex(0, hit.length, j => hit[j] >= i) - 1;
      i = next >= 0 && next < hit.length ? hit[next] : -1;
    } else {
      do i += by; while (i >= 0 && i < spans.n && classes.kind[spans.cls[i]] === 0);
    }
    if (i < 0 || i >= spans.n) return;
    // The lit lines stay: the other lines of the same advice are visited next.
    if (hit.length > 0) choose({ pick: { rank, span: i } }); else choosePick({ rank, span: i });
    goTo(rank, spans.begin[i], spans.end[i]);
  }

  function keys(event) {
    const length = to - from, rank = Math.max(0, state.rank);
    const action = {
      ArrowLeft: () => show(from - length / 5, to - length / 5), ArrowRight: () => show(from + length / 5, to + length / 5),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => show(0, data.end), Home: () => show(0, data.end),
      ArrowUp: () => choose({ rank: Math.max(0, state.rank - 1) }), ArrowDown: () => choose({ rank: Math.min(ranks.length - 1, state.rank + 1) }),
      n: () => step(1), p: () => step(-1), c: () => { if (path.n) choose({ path: !state.path }); },
      m: () => {
        const m = sent[rank], { pick } = state;
        const i = pick && pick.message && pick.message[0] === rank ? pick.message[1] + 1 : firstIndex(0, m.n, j => m.sent[j] >= from);
        if (i < m.n) { choosePick({ message: [rank, i] }); goTo(rank, m.sent[i], m.arrived[i]); }
      },
    }[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || ranks.length === 0) return;
    event.preventDefault();
    tip.hide();
    action();
  }

  function setUp() {
    const position = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    let drag = null;
    canvas.addEventListener("pointerdown", event => {
      const [x] = position(event);
      drag = { x, from, to, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      const [x, y] = position(event);
      if (drag) {
        if (Math.abs(x - drag.x) > 3) drag.moved = true;
        if (drag.moved) { tip.hide(); show(drag.from - (x - drag.x) / plot() * (drag.to - drag.from), drag.to - (x - drag.x) / plot() * (drag.to - drag.from)); }
        return;
      }
      const text = words(at(x, y));
      if (text) tip.show(event.clientX, event.clientY, text.replaceAll(" · ", "\n")); else tip.hide();
    });
    canvas.addEventListener("pointerup", event => {
      const [x, y] = position(event), rank = rankAt(y);
      if (drag && !drag.moved) {
        if (x < LABEL && rank >= 0 && rank < ranks.length) choose({ rank: rank === state.rank ? -1 : rank }); else choosePick(at(x, y));
      }
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => tip.hide());
    canvas.addEventListener("dblclick", event => {
      const found = at(...position(event));
      if (found && !found.message) show(1.2 * ranks[found.rank].begin[found.span] - 0.2 * ranks[found.rank].end[found.span], 1.2 * ranks[found.rank].end[found.span] - 0.2 * ranks[found.rank].begin[found.span]);
    });
    canvas.addEventListener("wheel", event => {
      if ($("rows").scrollHeight > $("rows").clientHeight + 1 && position(event)[0] < LABEL) return;
      event.preventDefault();
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) show(from + sideways / plot() * (to - from), to + sideways / plot() * (to - from));
      else zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.004), toTime(position(event)[0]));
    }, { passive: false });
    canvas.addEventListener("keydown", keys);
    const move = event => {
      const t = (event.clientX - overview.getBoundingClientRect().left - LABEL) / plot() * data.end;
      show(t - (to - from) / 2, t + (to - from) / 2);
    };
    overview.addEventListener("pointerdown", event => { overview.setPointerCapture(event.pointerId); move(event); });
    overview.addEventListener("pointermove", event => { if (event.buttons) move(event); });
    $("rows").addEventListener("scroll", redraw);
    $("zoom-in").addEventListener("click", () => zoom(0.5));
    $("zoom-out").addEventListener("click", () => zoom(2));
    $("zoom-all").addEventListener("click", () => show(0, data.end));
    $("previous").addEventListener("click", () => step(-1));
    $("next").addEventListener("click", () => step(1));
    $("path-switch").hidden = path.n === 0;
    $("path-switch").addEventListener("click", () => choose({ path: !state.path }));
    $("kinds").append(...KINDS.map((kind, k) => el("span", {}, el("i", { class: `swatch kind-${k}` }), kind)),
      el("span", { title: "Where spans are too many to be drawn one by one: the share of the time that is waited, from 10, 25, 50 and 75 % on" }, "waiting ≥",
        ...["10", "25", "50", "75 %"].flatMap((from, step) => [el("i", { class: `swatch heat-${step + 1}` }), from])));
    new ResizeObserver(measure).observe($("rows"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", measure);
    onChange(changes => {
      if ("path" in changes) $("path-switch").setAttribute("aria-pressed", state.path);
      if ("lit" in changes) hits = ranks.map((_, rank) => spansAt(rank, state.lit));
      if ("pick" in changes) {
        $("pick").textContent = words(state.pick) || hint;
      }
      if (changes.tab === "timeline") measure(); else redraw();
    });
    $("pick").textContent = hint;
    measure();
    regions.setUp(show);
  }
  const hint = "Wheel zooms, dragging moves, a click picks a call or a message and lights its line; a click on a rank's name shows it alone.";
  /** Returns the mean colours of the steps of waiting, for tests of their contrast. */
  const heatOf = steps => steps.map(step => {
    const sums = [0, 0, 0];
    for (let i = 0; i < 576; i++) for (let part = 0; part < 3; part++) sums[part] += (heat(step, i % 24, Math.floor(i / 24)) >> 8 * part & 255) / 576;
    return sums;
  });
  return { setUp, goTo, choosePick, words, show, heatOf };
})();
