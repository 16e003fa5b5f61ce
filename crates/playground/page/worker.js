// @ts-check
// The worker: one instance of the module, which answers one call after the other.
"use strict";

/** @type {any} */
let wasm;
/** @type {Promise<void>} */
let ready;
let panic = "";
let told = 0;
const text = (/** @type {number} */ at, /** @type {number} */ length) =>
  new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, at, length));

const page = {
  /** @param {number} done @param {number} total */
  progress(done, total) {
    const now = performance.now();
    if (now - told > 80) {
      told = now;
      postMessage({ done, total });
    }
  },
  /** @param {number} at @param {number} length */
  panicked(at, length) {
    panic = text(at >>> 0, length >>> 0);
  },
};

/** Calls a function of the module with a text and returns its answer. @param {string} name @param {string} given */
function call(name, given) {
  const bytes = new TextEncoder().encode(given);
  const at = wasm.allocate(bytes.length) >>> 0;
  new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
  const answer = BigInt.asUintN(64, name === "names" ? wasm.names() : wasm[name](at, bytes.length));
  const [place, length] = [Number(answer >> 32n), Number(answer & 0xffffffffn)];
  const json = text(place, length);
  wasm.release(place, length);
  return JSON.parse(json);
}

addEventListener("message", async ({ data }) => {
  if (data.module) {
    ready = WebAssembly.instantiate(/** @type {WebAssembly.Module} */ (data.module), { page }).then((instance) => {
      wasm = instance.exports;
      wasm.prepare();
    });
    return;
  }
  await ready;
  const begin = performance.now();
  try {
    postMessage({ id: data.id, answer: call(data.name, data.text), took: performance.now() - begin });
  } catch (error) {
    // The module cannot be used again: the page ends this worker.
    const isFull = !panic && wasm.memory.buffer.byteLength > 3e9;
    postMessage({ id: data.id, panic: panic || (isFull ? "the 4 GB of a page are full" : String(error)) });
  }
});
