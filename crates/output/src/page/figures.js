// @ts-check
// Elements, and figures as text.

/**
 * Creates an element. Text is never parsed as HTML.
 * @param {string} tag
 * @param {Record<string, any>} properties attributes; functions listen to the event of their name
 * @param {(Node | string)[]} children
 * @returns {any}
 */
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * Creates an element of a drawing.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {Element[]} children
 */
function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * Returns a figure with about four digits, in the largest unit in which it is at least 1.
 * @param {number} figure
 * @param {[string, number][]} units smallest first
 */
function inUnits(figure, units) {
  let [unit, size] = units[0];
  for (const [name, least] of units) if (Math.abs(figure) >= least * 0.99995) [unit, size] = [name, least];
  return `${Number((figure / size).toPrecision(4))} ${unit}`;
}

/** @param {number} s */
const timeText = (s) => (s === 0 ? "0 s" : inUnits(s, [["ps", 1e-12], ["ns", 1e-9], ["us", 1e-6], ["ms", 1e-3], ["s", 1]]));
/** @param {number} b */
const bytesText = (b) => inUnits(b, [["B", 1], ["KB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12]]);
/** @param {number} part */
const percentText = (part) => `${Number((part * 100).toPrecision(3))} %`;
/** @param {number} n @param {string} noun */
const countText = (n, noun) => `${n.toLocaleString("en-US").replace(/,/g, " ")} ${noun}${n === 1 ? "" : "s"}`;

/**
 * Returns a point of time with as many digits as a part of this length needs, and its unit.
 * @param {number} s
 * @param {number} length
 */
function momentText(s, length) {
  const [unit, size] = /** @type {[string, number][]} */ ([["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]])
    .find(([, least]) => s + length >= least) || ["ps", 1e-12];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / length)) + 2));
  return `${(s / size).toFixed(digits)} ${unit}`;
}

/**
 * Returns the first index from `from` to `to` for which `is` holds; it must hold for all later ones.
 * @param {number} from
 * @param {number} to
 * @param {(i: number) => boolean} is
 */
function firstIndex(from, to, is) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (is(middle)) to = middle; else from = middle + 1;
  }
  return from;
}

/**
 * Returns a job and the number of the rank within it; `undefined` without jobs.
 * @param {[string, number][]} jobs
 * @param {number} rank
 * @returns {[string, number] | undefined}
 */
function jobOf(jobs, rank) {
  for (const [name, ranks] of jobs) {
    if (rank < ranks) return [name, rank];
    rank -= ranks;
  }
}

/** @param {[string, number][]} jobs @param {number} rank */
function rankText(jobs, rank) {
  const job = jobOf(jobs, rank);
  return job ? `${job[0]} ${job[1]}` : `rank ${rank}`;
}
