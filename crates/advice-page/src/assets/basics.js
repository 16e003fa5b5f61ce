"use strict";
// Basics of all parts of the page: elements, numbers as text, and the state that the views share.

const $ = id => document.getElementById(id);

/** Creates an element. Text stays text and is never parsed as HTML. */
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "style") for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

function svg(tag, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Creates text whose long names may break after punctuation. */
function breakable(text) {
  const parts = text.split(/(?<=[a-z)>][:_(),./+<>-]+)(?=[a-z])/i);
  return parts.flatMap((part, i) => i === 0 ? [part] : [el("wbr"), part]);
}

const figures = new Intl.NumberFormat("en-US");
const count = n => figures.format(n);
const plural = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;

function scaled(value, units, base, digits) {
  let i = 0;
  while (i + 1 < units.length && Math.abs(value) >= base * 0.99995) { value /= base; i++; }
  const text = i === 0 && Number.isInteger(value) ? `${value}` : value.toPrecision(Math.max(digits, Math.ceil(Math.log10(Math.abs(value) + 1))));
  return `${text}\u00a0${units[i]}`;
}

/** Formats nanoseconds with the given number of digits. */
function time(ns, digits = 3) {
  if (ns === 0) return "0\u00a0s";
  return ns < 1 && ns > -1 ? `${(ns * 1000).toPrecision(digits)} ps` : scaled(ns, ["ns", "µs", "ms", "s"], 1000, digits);
}
const seconds = (s, digits = 4) => time(s * 1e9, digits);
/** Formats seconds in the unit of a finding, with the given number of digits. */
function inUnit({ unit }, s, digits = 4) {
  const value = s * { ns: 1e9, us: 1e6, ms: 1e3, s: 1 }[unit];
  const decimals = value === 0 ? 0 : Math.max(0, Math.min(9, digits - 1 - Math.floor(Math.log10(Math.abs(value)))));
  return `${value.toFixed(decimals)}\u00a0${unit}`;
}
const bytes = b => scaled(b, ["B", "KB", "MB", "GB", "TB"], 1000, 3);
const percent = share => `${(share * 100).toFixed(Math.abs(share) < 0.0995 && share !== 0 ? 2 : 1)}\u00a0%`;

/** Formats a time with as many digits as a window of this length needs. */
function moment(ns, span) {
  const [unit, size] = ns >= 1e9 || span >= 1e9 ? ["s", 1e9] : ns >= 1e6 || span >= 1e6 ? ["ms", 1e6] : ns >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(span, 1))) + 3));
  return `${(ns / size).toFixed(size === 1 ? 0 : digits)} ${unit}`;
}

/** Returns the first index in `from..to` for which `is` holds; it must hold for all later ones. */
function firstIndex(from, to, is) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (is(middle)) to = middle; else from = middle + 1;
  }
  return from;
}

const KINDS = ["computation", "send", "receive", "wait", "collective"];
const GLYPHS = { communication: "●", completion: "◆", overlap: "≈", forbids: "✕", companion: "○", partner: "◁", cause: "▲" };

/**
 * Selection, and its listeners. `rank`: -1 for all; `finding`: index, -1 if none; `file`: index, -1 if none, and `line`;
 * `lit`: numbers of the places lit in the timeline; `pick`: a span or a message; `tab`: the view that is shown;
 * `path`: true if the critical path is drawn; `region`: index, -1 if none.
 */
const state = { rank: -1, finding: -1, file: -1, line: 0, lit: new Set(), pick: null, tab: "timeline", path: false, region: -1 };
const listeners = [];
const onChange = listener => listeners.push(listener);

/** Changes the state and passes the changes to all listeners. */
function choose(changes) {
  Object.assign(state, changes);
  for (const listener of listeners) listener(changes);
}

const tip = {
  show(x, y, text) {
    const box = $("tip");
    box.textContent = text;
    box.hidden = false;
    box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.offsetWidth - 6))}px`;
    box.style.top = `${y + 18 + box.offsetHeight > innerHeight ? y - box.offsetHeight - 8 : y + 18}px`;
  },
  hide() { $("tip").hidden = true; },
};
