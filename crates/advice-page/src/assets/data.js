// Data of the page, unpacked into typed arrays.

const data = JSON.parse($("data").textContent);
const K = KINDS.length;
/** Number of spans between two running sums. */
const BLOCK = 16;

/** Reads the numbers of a packed element; `pack.rs` describes the format. */
function packed(id) {
  const element = $(id);
  const text = element.textContent;
  element.remove();
  const binary = atob(text);
  const raw = new Uint8Array(binary.length);
  for (let i = 0; i < raw.length; i++) raw[i] = binary.charCodeAt(i);
  let at = 0;
  const next = () => {
    let value = raw[at++];
    if (value < 128) return value;
    value &= 127;
    for (let unit = 128; ; unit *= 128) {
      const more = raw[at++];
      value += (more & 127) * unit;
      if (more < 128) return value;
    }
  };
  const signed = () => {
    const value = next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  };
  return { next, signed };
}

const classes = {
  kind: Uint8Array.from(data.classes, c => c[0]),
  call: Uint32Array.from(data.classes, c => c[1]),
  place: Uint32Array.from(data.classes, c => c[2]),
  peer: Int32Array.from(data.classes, c => c[3]),
  several: Uint8Array.from(data.classes, c => c[4]),
};

/** Spans of each rank; `sums` are the times of each kind before every 16th span. */
const ranks = data.spans.map((n, rank) => {
  const { next, signed } = packed(`spans-${rank}`);
  const spans = { n, begin: new Float64Array(n), end: new Float64Array(n), cls: new Uint32Array(n), bytes: new Float64Array(n),
    tag: new Int32Array(n), event: new Float64Array(n), sums: new Float64Array((Math.floor(n / BLOCK) + 1) * K) };
  let end = 0, event = -1, size = 0, tag = 0;
  const sum = new Float64Array(K);
  for (let i = 0; i < n; i++) {
    if (i % BLOCK === 0) spans.sums.set(sum, i / BLOCK * K);
    const head = next(), step = head % 4;
    spans.cls[i] = head / 8;
    const begin = spans.begin[i] = end + next();
    end = spans.end[i] = begin + next();
    if (head & 4) { size = next(); tag = signed(); }
    if (step === 1) event++; else if (step === 3) event = next();
    spans.bytes[i] = size;
    spans.tag[i] = tag;
    spans.event[i] = step === 0 ? -1 : event;
    sum[classes.kind[spans.cls[i]]] += end - begin;
  }
  if (n % BLOCK === 0) spans.sums.set(sum, n / BLOCK * K);
  return spans;
});

/** Messages of each sender, in the order of sending; `longest` is the longest time under way. */
const sent = data.sent.map((n, rank) => {
  const { next, signed } = packed(`messages-${rank}`);
  const messages = { n, sent: new Float64Array(n), arrived: new Float64Array(n), link: new Uint32Array(n), bytes: new Float64Array(n),
    tag: new Int32Array(n), longest: 0 };
  let at = 0, size = 0, tag = 0;
  for (let i = 0; i < n; i++) {
    const head = next();
    messages.link[i] = head / 2;
    at = messages.sent[i] = at + next();
    messages.arrived[i] = at + signed();
    if (head % 2) { size = next(); tag = signed(); }
    messages.bytes[i] = size;
    messages.tag[i] = tag;
    messages.longest = Math.max(messages.longest, messages.arrived[i] - at);
  }
  return messages;
});

/** Critical path in the order of time: rank of each piece, and its sender if it is a message (else -1). */
const path = (() => {
  const n = data.path, { next } = packed("path");
  const pieces = { n, rank: new Uint32Array(n), from: new Int32Array(n), begin: new Float64Array(n), end: new Float64Array(n) };
  let end = 0;
  for (let i = 0; i < n; i++) {
    const head = next();
    pieces.rank[i] = head / 2;
    pieces.from[i] = head % 2 ? next() : -1;
    pieces.begin[i] = end + next();
    end = pieces.end[i] = pieces.begin[i] + next();
  }
  return pieces;
})();

/** Returns the index of the last span of a rank that begins before `t`; -1 if there is none. */
const spanBefore = (spans, t, from = 0, to = spans.n) => firstIndex(from, to, i => spans.begin[i] >= t) - 1;

/** Returns the time of each kind until `t`, given the last span that begins before it. */
function timeUntil(spans, i, t, out) {
  out.fill(0);
  if (i < 0) return;
  const block = Math.floor(i / BLOCK);
  for (let k = 0; k < K; k++) out[k] = spans.sums[block * K + k];
  for (let j = block * BLOCK; j <= i; j++) out[classes.kind[spans.cls[j]]] += Math.min(spans.end[j], t) - spans.begin[j];
}

// Places by file and line, and the cost of each line.

const fileNumbers = new Map(data.files.map((file, i) => [file.path, i]));
const fileOf = path => fileNumbers.has(path) ? fileNumbers.get(path) : -1;
const placeName = place => {
  const [file, line] = data.places[place];
  return file < 0 ? "place not known" : line ? `${shortName(file)}:${line}` : shortName(file);
};
const placesAt = new Map();
data.places.forEach(([file, line], i) => {
  const key = `${file}:${line}`;
  if (file >= 0) placesAt.set(key, [...placesAt.get(key) || [], i]);
});
const placesOf = (file, line) => placesAt.get(`${file}:${line}`) || [];

/** Returns the shortest end of a path that no other path has. */
const shortNames = data.files.map(({ path }, i) => {
  const parts = path.split("/");
  for (let n = 1; n < parts.length; n++) {
    const end = parts.slice(-n).join("/");
    if (data.files.every((other, j) => j === i || !(other.path === end || other.path.endsWith("/" + end)))) return end;
  }
  return path;
});
const shortName = file => shortNames[file];

const sum = numbers => numbers.reduce((a, b) => a + b, 0);

/** Returns the cost of places on a rank (-1 for all): `{place, ns, total, calls, bytes, longest}`, most expensive first. */
function costs(rank) {
  const by = new Map();
  for (const [place, r, ns, calls, size, longest] of data.lines) {
    if (rank >= 0 && r >= 0 && r !== rank) continue;
    const cost = by.get(place) || { place, ns: new Array(K).fill(0), total: 0, calls: 0, bytes: 0, longest: 0 };
    ns.forEach((t, k) => { cost.ns[k] += t; });
    cost.total += sum(ns);
    cost.calls += calls;
    cost.bytes += size;
    cost.longest = Math.max(cost.longest, longest);
    by.set(place, cost);
  }
  return [...by.values()].sort((a, b) => b.total - a.total || a.place - b.place);
}

/** Returns the indices of the spans of a rank at any of these places. */
function spansAt(rank, places) {
  const hit = Uint8Array.from(classes.place, place => places.has(place) ? 1 : 0);
  const spans = ranks[rank];
  const found = [];
  if (hit.includes(1)) for (let i = 0; i < spans.n; i++) if (hit[spans.cls[i]]) found.push(i);
  return Uint32Array.from(found);
}
