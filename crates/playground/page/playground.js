// @ts-check
// The page: editors, workers and answers. Everything about scenarios comes from the module.
"use strict";

/** @typedef {{line: number, column: number, length: number, message: string, label: string, help: string | null, code: string, file: string | null}} Mistake */

/** Text of a link: both texts, compressed. @param {string[]} texts */
async function pack(texts) {
  const stream = new Blob([texts.join("\0")]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Texts of a link. @param {string} packed */
async function unpack(packed) {
  const stream = new Blob([bytesOf(packed.replaceAll("-", "+").replaceAll("_", "/"))]).stream();
  const reader = stream.pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true });
    if (text.length > 1 << 20) {
      await reader.cancel();
      throw new Error("the text of the link is too long");
    }
  }
  return (text + decoder.decode()).split("\0");
}

/** Bytes of a text in base64. @param {string} text */
function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * Parts of a text, marked where a mistake is.
 * @param {string} text
 * @param {Mistake[]} mistakes
 * @returns {[string, boolean][]}
 */
function parts(text, mistakes) {
  /** @type {[string, boolean][]} */
  const all = [];
  text.split("\n").forEach((line, index) => {
    const letters = [...line];
    const wrong = letters.map(() => false);
    for (const { line: at, column, length } of mistakes) {
      if (at !== index + 1) continue;
      // The end of a line has no letter of its own.
      if (column > letters.length) {
        letters.push(" ");
        wrong.push(false);
      }
      wrong.fill(true, column - 1, column - 1 + Math.max(1, length));
    }
    letters.forEach((letter, i) => {
      const last = all.at(-1);
      if (last && last[1] === wrong[i]) last[0] += letter;
      else all.push([letter, wrong[i]]);
    });
    all.push(["\n", false]);
  });
  return all;
}

/** Returns the offset of a place in a text. @param {string} text @param {number} line @param {number} column */
function offsetOf(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return before + [...(lines[line - 1] || "")].slice(0, column - 1).join("").length;
}

/** Worker with an instance of the module; `call` starts another one if the last was stopped. */
class Caller {
  /** @param {WebAssembly.Module} module @param {string} url */
  constructor(module, url) {
    this.module = module;
    this.url = url;
    this.id = 0;
    /** @type {Worker | undefined} */
    this.worker = undefined;
    /** @type {((answer: any) => void) | undefined} */
    this.wants = undefined;
    this.start();
  }

  start() {
    this.worker = new Worker(this.url);
    this.worker.postMessage({ module: this.module });
  }

  /** Calls a function; the answer of a stopped call is `{ stopped: true }`. @param {string} name @param {string} text @param {(done: number, total: number) => void} [tell] */
  call(name, text, tell) {
    const id = ++this.id;
    if (!this.worker) this.start();
    return new Promise((resolve) => {
      this.wants = resolve;
      const worker = /** @type {Worker} */ (this.worker);
      const end = (/** @type {any} */ answer) => {
        this.wants = undefined;
        resolve(answer);
      };
      worker.onmessage = ({ data }) => {
        if (data.id === undefined) return tell?.(data.done, data.total);
        if (data.id !== id) return;
        if (data.panic !== undefined) this.end();
        end(data.panic === undefined ? { ...data.answer, took: data.took } : { error: `the simulator failed: ${data.panic}` });
      };
      worker.onerror = (event) => {
        event.preventDefault();
        this.end();
        end({ error: `the worker failed: ${event.message}` });
      };
      worker.postMessage({ id, name, text });
    });
  }

  end() {
    this.worker?.terminate();
    this.worker = undefined;
  }

  /** Stops a call that has not answered. */
  stop() {
    if (!this.wants) return;
    const wants = this.wants;
    this.end();
    this.wants = undefined;
    wants({ stopped: true });
  }
}

/** Returns a time for a reader. @param {number} ms */
const time = (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`);

/** Offers a text as a file. @param {string} name @param {string} text @param {string} type */
function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Editor with its mistakes and its answer. */
class Side {
  /** @param {{module: WebAssembly.Module, url: string, changed: () => void}} shared */
  constructor({ module, url, changed }) {
    const template = /** @type {HTMLTemplateElement} */ (document.getElementById("side"));
    this.root = /** @type {HTMLElement} */ (/** @type {HTMLElement} */ (template.content.firstElementChild).cloneNode(true));
    const find = (/** @type {string} */ name) => /** @type {any} */ (this.root.querySelector(name));
    /** @type {HTMLTextAreaElement} */ this.area = find("textarea");
    /** @type {HTMLElement} */ this.numbers = find(".numbers");
    /** @type {HTMLElement} */ this.marks = find(".marks");
    /** @type {HTMLElement} */ this.list = find(".mistakes");
    /** @type {HTMLElement} */ this.words = find(".words");
    /** @type {HTMLProgressElement} */ this.progress = find("progress");
    /** @type {HTMLElement} */ this.saves = find(".saves");
    /** @type {HTMLElement} */ this.hints = find(".hints");
    /** @type {HTMLIFrameElement} */ this.frame = find("iframe");
    this.checker = new Caller(module, url);
    this.runner = new Caller(module, url);
    this.changed = changed;
    /** @type {Mistake[]} */ this.mistakes = [];
    /** @type {any} */ this.answer = undefined;
    this.running = false;
    this.timer = 0;
    this.area.addEventListener("input", () => this.edited());
    this.area.addEventListener("scroll", () => this.scrolled());
    this.frame.addEventListener("load", () => this.fit());
    find(".page").addEventListener("click", () => save("hayase.html", this.answer.html, "text/html"));
    find(".report").addEventListener("click", () => save("report.json", this.answer.report, "application/json"));
  }

  get text() {
    return this.area.value;
  }

  /** @param {string} text */
  set text(text) {
    this.area.value = text;
    const rows = Math.min(28, Math.max(8, text.split("\n").length + 1));
    this.root.style.setProperty("--rows", `${rows * 20 + 18}px`);
    this.edited();
  }

  edited() {
    this.show([]);
    this.root.classList.toggle("stale", this.answer !== undefined && this.answer.text !== this.text);
    clearTimeout(this.timer);
    // A check of a large fabric that is out of date is not waited for.
    this.checker.stop();
    delete this.root.dataset.checked;
    this.timer = window.setTimeout(() => this.check(), 120);
    this.changed();
  }

  async check() {
    const text = this.text;
    const answer = await this.checker.call("check", text);
    if (answer.stopped || text !== this.text) return;
    this.show(answer.mistakes || []);
    if (!this.running && (!this.answer || this.answer.text !== text)) this.say(answer.error || answer.words || "", Boolean(answer.error));
    this.root.dataset.checked = "";
  }

  /** Shows mistakes in the text and below it. @param {Mistake[]} mistakes */
  show(mistakes) {
    this.mistakes = mistakes;
    const lines = this.text.split("\n").length;
    this.numbers.replaceChildren(
      ...Array.from({ length: lines }, (_, index) => {
        const number = document.createElement("span");
        number.textContent = `${index + 1}\n`;
        if (mistakes.some((mistake) => mistake.line === index + 1)) number.className = "wrong";
        return number;
      }),
    );
    this.marks.replaceChildren(
      ...parts(this.text, mistakes).map(([text, wrong]) => {
        if (!wrong) return document.createTextNode(text);
        const mark = document.createElement("mark");
        mark.textContent = text;
        return mark;
      }),
    );
    this.area.toggleAttribute("aria-invalid", mistakes.length > 0);
    this.list.replaceChildren(...mistakes.map((mistake) => this.item(mistake)));
    if (mistakes.length) this.say(`${mistakes.length} ${mistakes.length === 1 ? "mistake" : "mistakes"}`, true);
    this.scrolled();
  }

  /** @param {Mistake} mistake */
  item(mistake) {
    const item = document.createElement("li");
    if (mistake.line) {
      const place = document.createElement("button");
      place.type = "button";
      place.textContent = `${mistake.line}:${mistake.column}`;
      place.title = "Go to this place";
      place.addEventListener("click", () => {
        const at = offsetOf(this.text, mistake.line, mistake.column);
        this.area.focus();
        this.area.setSelectionRange(at, offsetOf(this.text, mistake.line, mistake.column + mistake.length));
      });
      item.append(place, " ");
    } else if (mistake.file) {
      item.append(`${mistake.file}: `);
    }
    item.append(mistake.message + (mistake.label ? ` (${mistake.label})` : ""));
    if (mistake.help) {
      const help = document.createElement("span");
      help.className = "help";
      help.textContent = mistake.help;
      item.append(help);
    }
    return item;
  }

  scrolled() {
    this.numbers.scrollTop = this.marks.scrollTop = this.area.scrollTop;
    this.marks.scrollLeft = this.area.scrollLeft;
  }

  /** @param {string} words @param {boolean} [wrong] */
  say(words, wrong = false) {
    this.words.textContent = words;
    this.words.classList.toggle("wrong", wrong);
  }

  async run() {
    const text = this.text;
    const begin = performance.now();
    this.running = true;
    this.changed();
    this.progress.hidden = false;
    this.progress.removeAttribute("value");
    this.hints.hidden = true;
    this.say("running");
    const answer = await this.runner.call("run", text, (done, total) => {
      if (total > 0) {
        this.progress.max = total;
        this.progress.value = Math.min(done, total);
      }
      this.say(`running for ${time(performance.now() - begin)}`);
    });
    this.running = false;
    this.progress.hidden = true;
    if (answer.stopped) this.say(`stopped after ${time(performance.now() - begin)}`, true);
    else if (answer.error) this.fail(answer.error);
    else if (answer.mistakes && text === this.text) this.show(answer.mistakes);
    else if (answer.mistakes) this.say("the text that ran had mistakes", true);
    else this.give({ ...answer, text });
    this.changed();
  }

  /** @param {string} error */
  fail(error) {
    const [first, ...more] = error.split("\n");
    this.say(first, true);
    this.hint(more.join("\n"));
  }

  /** @param {string} text */
  hint(text) {
    this.hints.textContent = text.trim();
    this.hints.hidden = !text.trim();
  }

  /** Shows an answer. @param {any} answer */
  give(answer) {
    this.answer = answer;
    this.root.classList.toggle("stale", answer.text !== this.text);
    const facts = [answer.makespan && `makespan ${answer.makespan}`, answer.fingerprint && `fingerprint ${answer.fingerprint}`];
    this.say([...facts, `took ${time(answer.took)}`].filter(Boolean).join(", "));
    this.hint([answer.deadlock, ...answer.hints].filter(Boolean).join("\n"));
    this.saves.hidden = false;
    this.frame.hidden = false;
    this.frame.srcdoc = answer.html;
  }

  /** Gives the frame the height of its content. */
  fit() {
    const body = this.frame.contentDocument?.body;
    if (!body) return;
    const fit = () => (this.frame.style.height = `${Math.ceil(body.getBoundingClientRect().height) + 2}px`);
    new ResizeObserver(fit).observe(body);
    fit();
    this.root.dataset.shown = this.answer?.fingerprint || "yes";
  }
}

/** Starts the page. */
async function start() {
  const begin = performance.now();
  const element = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
  const packed = bytesOf(element("module").textContent);
  element("module").remove();
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  const url = URL.createObjectURL(new Blob([element("worker").textContent], { type: "text/javascript" }));
  const main = element("sides");
  /** @type {Side[]} */
  const sides = [];

  const changed = () => {
    const running = sides.some((side) => side.running);
    element("stop").disabled = !running;
    element("run").disabled = running;
    const [a, b] = sides.map((side) => (side.answer && side.answer.text === side.text ? side.answer.makespan_s : undefined));
    if (a > 0 && b > 0) notify(`The second makespan is ${(b / a).toFixed(3)} times the first.`);
    else if (element("notice").dataset.ratio !== undefined) notify("");
    element("notice").toggleAttribute("data-ratio", a > 0 && b > 0);
  };
  /** @param {string} text */
  function notify(text) {
    element("notice").textContent = text;
    element("notice").hidden = !text;
  }
  /** Shows these texts, one or two. @param {string[]} texts */
  function open(texts) {
    while (sides.length > texts.length) {
      const side = /** @type {Side} */ (sides.pop());
      clearTimeout(side.timer);
      side.checker.end();
      side.runner.stop();
      side.runner.end();
      side.root.remove();
    }
    texts.forEach((text, index) => {
      if (!sides[index]) {
        sides[index] = new Side({ module, url, changed });
        sides[index].area.setAttribute("aria-label", ["Scenario", "Second scenario"][index]);
        main.append(sides[index].root);
      }
      if (sides[index].text !== text || !text) sides[index].text = text;
    });
    main.classList.toggle("two", texts.length > 1);
    element("compare").setAttribute("aria-pressed", String(texts.length > 1));
    changed();
  }
  /** Returns the editor that was used last. */
  const current = () => sides.find((side) => side.root.contains(document.activeElement)) || sides[last] || sides[0];
  let last = 0;
  main.addEventListener("focusin", (/** @type {FocusEvent} */ event) => {
    last = Math.max(0, sides.findIndex((side) => side.root.contains(/** @type {Node} */ (event.target))));
  });

  const caller = new Caller(module, url);
  const names = await caller.call("names", "");
  element("version").textContent = names.version;
  const fill = (/** @type {string} */ id, /** @type {{name: string, about: string}[]} */ list, /** @type {string} */ usual) => {
    element(id).append(...list.map(({ name, about }) => Object.assign(new Option(name, name, false, name === usual), { title: about })));
  };
  fill("topologies", names.topologies, "fat-tree-54");
  fill("patterns", names.patterns, "all-to-all-simple-spread");
  element("examples").append(new Option("choose", ""), ...names.examples.map((/** @type {any} */ one) => new Option(one.title, one.text)));
  element("examples").addEventListener("change", () => {
    if (element("examples").value) current().text = element("examples").value;
    element("examples").value = "";
  });
  element("new").addEventListener("click", async () => {
    const side = current();
    const answer = await caller.call("init", `${element("topologies").value}\n${element("patterns").value}`);
    if (answer.text) side.text = answer.text;
    else notify(answer.error || answer.mistakes.map((/** @type {Mistake} */ mistake) => mistake.message).join("; "));
  });
  const run = () => sides.forEach((side) => !side.running && side.run());
  element("run").addEventListener("click", run);
  element("stop").addEventListener("click", () => sides.forEach((side) => side.runner.stop()));
  element("compare").addEventListener("click", () => {
    const texts = sides.map((side) => side.text);
    open(texts.length > 1 ? [texts[0]] : [texts[0], texts[0]]);
  });
  element("share").addEventListener("click", async () => {
    location.hash = `z=${await pack(sides.map((side) => side.text))}`;
    try {
      await navigator.clipboard.writeText(location.href);
      notify("The link is copied. It holds the scenario; nothing is stored anywhere else.");
    } catch {
      notify(`Copy this link: ${location.href}`);
    }
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });

  /** Returns the texts in the address of the page. */
  async function linked() {
    const { hash } = location;
    try {
      if (hash.startsWith("#t=")) return [decodeURIComponent(hash.slice(3))];
      if (hash.startsWith("#z=")) return (await unpack(hash.slice(3))).slice(0, 2);
    } catch {
      notify("The link is damaged: it holds no scenario.");
    }
    return undefined;
  }
  addEventListener("hashchange", async () => {
    const texts = await linked();
    if (texts && texts.join("\0") !== sides.map((side) => side.text).join("\0")) open(texts);
  });
  open((await linked()) || [names.examples[0].text]);
  document.documentElement.dataset.ready = (performance.now() - begin).toFixed(0);
}

if (typeof document === "undefined") {
  module.exports = { pack, unpack, parts, offsetOf };
} else {
  start().catch((error) => {
    const notice = /** @type {HTMLElement} */ (document.getElementById("notice"));
    notice.textContent = `The playground cannot start: ${error.message}. It needs a browser with WebAssembly and DecompressionStream.`;
    notice.hidden = false;
  });
}
