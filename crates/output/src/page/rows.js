// @ts-check
// Rows of the timeline: spans or sums in typed arrays, and the part that is shown.

/** Number of spans between two running sums. */
const BLOCK = 16;

/**
 * Row of a rank. `sums` are the times of each kind before every 16th span, each moment once, and `ends` the latest ends.
 * @typedef {{n: number, begin: Float64Array, end: Float64Array, kind: Uint8Array, peer: Int32Array, bytes: Float64Array,
 *   lane: Uint8Array, lanes: number, longest: number, sums: Float64Array, ends: Float64Array}} SpanRow
 * Row of sums: `until` are the times of each kind before each column of `length`.
 * @typedef {{columns: number, length: number, until: Float64Array}} SumRow
 * @typedef {{from: number, to: number}} View
 */

/**
 * Unpacks a row of five numbers a span: begin after the begin before it, length, kind, peer from 1, bytes.
 * @param {number[]} numbers
 * @param {number} kinds
 * @returns {SpanRow}
 */
function unpackRow(numbers, kinds) {
  const n = numbers.length / 5, blocks = Math.floor(n / BLOCK) + 1;
  const row = { n, begin: new Float64Array(n), end: new Float64Array(n), kind: new Uint8Array(n), peer: new Int32Array(n),
    bytes: new Float64Array(n), lane: new Uint8Array(n), lanes: 1, longest: 0,
    sums: new Float64Array(blocks * kinds), ends: new Float64Array(blocks * kinds) };
  const sum = new Float64Array(kinds), last = new Float64Array(kinds);
  /** @type {number[]} */
  const free = [];
  let begin = 0;
  for (let i = 0; i <= n; i++) {
    if (i % BLOCK === 0) {
      row.sums.set(sum, (i / BLOCK) * kinds);
      row.ends.set(last, (i / BLOCK) * kinds);
    }
    if (i === n) break;
    const at = i * 5, kind = numbers[at + 2];
    begin += numbers[at];
    const end = begin + numbers[at + 1];
    row.begin[i] = begin;
    row.end[i] = end;
    row.kind[i] = kind;
    row.peer[i] = numbers[at + 3] - 1;
    row.bytes[i] = numbers[at + 4];
    row.longest = Math.max(row.longest, end - begin);
    sum[kind] += Math.max(0, end - Math.max(begin, last[kind]));
    last[kind] = Math.max(last[kind], end);
    if (kind === 0) {
      // Messages that are under way at once lie in lanes; further ones share the last of eight.
      let lane = free.findIndex((until) => until <= begin);
      if (lane < 0) lane = free.length < 8 ? free.length : 7;
      free[lane] = end;
      row.lane[i] = lane;
      row.lanes = Math.max(row.lanes, lane + 1);
    }
  }
  return row;
}

/**
 * Unpacks a row of means, in hundredths, by column and kind.
 * @param {number[]} numbers
 * @param {number} kinds
 * @param {number} length
 * @returns {SumRow}
 */
function unpackSums(numbers, kinds, length) {
  const columns = numbers.length / kinds, until = new Float64Array((columns + 1) * kinds);
  for (let i = 0; i < numbers.length; i++) until[i + kinds] = until[i] + (numbers[i] / 100) * length;
  return { columns, length, until };
}

/**
 * Sets `out` to the time of each kind until `t`, each moment once.
 * @param {SpanRow | SumRow} row
 * @param {number} t
 * @param {Float64Array} out
 * @param {number} hint index of a span that begins before `t`, or 0
 * @returns {number} a hint for later times
 */
function timeUntil(row, t, out, hint = 0) {
  const kinds = out.length;
  if ("until" in row) {
    const at = Math.max(0, Math.min(row.columns, t / row.length)), column = Math.min(row.columns - 1, Math.floor(at));
    const part = at - column;
    for (let k = 0; k < kinds; k++) {
      const before = row.until[column * kinds + k];
      out[k] = before + (row.until[(column + 1) * kinds + k] - before) * part;
    }
    return 0;
  }
  const count = firstIndex(hint, row.n, (i) => row.begin[i] >= t), block = Math.floor(count / BLOCK);
  const last = timeUntil.last;
  for (let k = 0; k < kinds; k++) {
    out[k] = row.sums[block * kinds + k];
    last[k] = row.ends[block * kinds + k];
  }
  for (let i = block * BLOCK; i < count; i++) {
    const kind = row.kind[i], end = row.end[i];
    out[kind] += Math.max(0, end - Math.max(row.begin[i], last[kind]));
    if (end > last[kind]) last[kind] = end;
  }
  for (let k = 0; k < kinds; k++) out[k] -= Math.max(0, last[k] - t);
  return count;
}
timeUntil.last = new Float64Array(32);

/**
 * Returns the part of a run after zooming by a factor around a time; never less than a millionth of the run.
 * @param {View} view
 * @param {number} end
 * @param {number} factor
 * @param {number} around
 * @returns {View}
 */
function zoomed(view, end, factor, around) {
  const length = Math.min(end, Math.max(end * 1e-6, (view.to - view.from) / factor));
  const place = (around - view.from) / (view.to - view.from);
  return moved({ from: around - place * length, to: around + (1 - place) * length }, end, 0);
}

/**
 * Returns the part of a run moved by a time, inside the run.
 * @param {View} view
 * @param {number} end
 * @param {number} by
 * @returns {View}
 */
function moved(view, end, by) {
  const length = view.to - view.from, from = Math.max(0, Math.min(end - length, view.from + by));
  return { from, to: from + length };
}

/**
 * Returns round times of a part of a run, at most about `count`.
 * @param {View} view
 * @param {number} count
 */
function ticksOf({ from, to }, count) {
  const rough = (to - from) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((n) => n * power >= rough) || 10) * power;
  const ticks = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) ticks.push(i * step);
  return ticks;
}

/**
 * Returns the rank that a text names: its number, its place in a job, or its node; -1 if none.
 * @param {string} text
 * @param {{ranks: number, jobs: [string, number][], nodes: string[] | null}} data
 */
function findRank(text, data) {
  const wanted = text.trim().toLowerCase();
  const number = /^(?:rank\s*)?(\d+)$/.exec(wanted);
  if (number) return Number(number[1]) < data.ranks ? Number(number[1]) : -1;
  if (!wanted) return -1;
  const nodes = data.nodes || [];
  const exact = nodes.findIndex((name) => name.toLowerCase() === wanted);
  if (exact >= 0) return exact;
  let first = 0;
  for (const [name, ranks] of data.jobs) {
    const job = name.toLowerCase();
    const rest = wanted.startsWith(job) ? wanted.slice(job.length).trim() : job.includes(wanted) ? "0" : null;
    if (rest !== null && /^\d*$/.test(rest) && Number(rest) < ranks) return first + Number(rest);
    first += ranks;
  }
  return nodes.findIndex((name) => name.toLowerCase().includes(wanted));
}
