// Regions of the program: a strip of bands above the timeline. The rows are veiled outside of the chosen region.

const regions = (() => {
  const BAND = 5, MOST = 4;
  const all = data.regions.map(([name, executions, distances]) => {
    const begin = new Float64Array(distances.length / 2), end = new Float64Array(distances.length / 2);
    let at = 0;
    distances.forEach((distance, i) => { at += distance; (i % 2 ? end : begin)[i >> 1] = at; });
    return { name, executions, n: begin.length, begin, end, time: sum([...end]) - sum([...begin]) };
  });
  /** Returns the bands that are drawn, including the chosen one. */
  const shown = () => [...all.keys()].filter(i => i < MOST - 1 || i === Math.max(MOST - 1, state.region));

  /** Calls `see(x0, x1)` for the visible parts of a region; parts closer than a pixel are joined. */
  function stretches({ n, begin, end }, { from, to, toX, left, width }, see) {
    let open = null;
    for (let i = firstIndex(0, n, j => end[j] > from); i < n && begin[i] < to; i++) {
      const x0 = Math.max(left, toX(begin[i])), x1 = Math.min(left + width, toX(end[i]));
      if (open && x0 < open[1] + 1) open[1] = Math.max(open[1], x1);
      else { if (open) see(...open); open = [x0, x1]; }
    }
    if (open) see(...open);
  }

  /** Draws bands of `BAND` pixels from `top` on. */
  function drawBands(ink, view, top, colours) {
    shown().forEach((i, row) => {
      ink.fillStyle = i === state.region ? colours.accent : colours.muted;
      stretches(all[i], view, (x0, x1) => ink.fillRect(x0, top + row * BAND, Math.max(1, x1 - x0), BAND - 2));
    });
  }

  /** Veils everything outside of the chosen region. */
  function drawVeil(ink, view, top, height, colours) {
    if (!(state.region >= 0)) return;
    ink.fillStyle = colours.panel;
    ink.globalAlpha = 0.6;
    let x = view.left;
    stretches(all[state.region], view, (x0, x1) => { ink.fillRect(x, top, Math.max(0, x0 - x), height); x = x1; });
    ink.fillRect(x, top, Math.max(0, view.left + view.width - x), height);
    ink.globalAlpha = 1;
  }

  function setUp(show) {
    const select = $("region");
    select.parentElement.hidden = all.length === 0;
    const name = ({ name, executions, time: ns }) => `${name} (${plural(executions, "execution")}, ${time(ns)})`;
    select.append(el("option", { value: -1 }, "none"), ...all.map((region, i) => el("option", { value: i }, name(region))));
    select.addEventListener("change", () => choose({ region: Number(select.value) }));
    onChange(changes => {
      if (!("region" in changes)) return;
      select.value = state.region;
      const region = all[state.region];
      if (region && region.n) show(region.begin[0], region.end[region.n - 1]);
    });
    if (data.region >= 0) choose({ region: data.region });
  }
  return { height: BAND * Math.min(MOST, all.length), drawBands, drawVeil, setUp };
})();
