// Tests of the page in a real browser: `node test.js FOLDER`, with the pages that
// `cargo run -p hayase-advice-page --example demo -- FOLDER` writes. SCREENSHOTS names a folder for pictures.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = resolve(process.argv[2] ?? ".");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
let failed = 0;

/** Opens a page without network. Any text on the console and any request is a failure. */
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", message => page.complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", error => page.complaints.push(error.stack));
  page.on("request", request => { if (!/^(file|data):/.test(request.url())) page.complaints.push(`loads ${request.url()}`); });
  const before = Date.now();
  await page.goto(pathToFileURL(`${folder}/${name}`).href);
  await page.waitForSelector("html[data-ready]", { timeout: 120_000 });
  page.opened = Date.now() - before;
  return page;
}

async function test(name, file, body, options) {
  let page;
  try {
    page = await open(file, options);
    await body(page);
    assert.deepEqual(page.complaints, []);
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n${error.stack}${page?.complaints.length ? `\n${page.complaints.join("\n")}` : ""}`);
  }
  if (page && process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name.replaceAll(/\W+/g, "-")}.png` }).catch(() => {});
  await page?.context().close();
}

/** Waits for the next frame, in which the page draws. */
const drawn = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
const seen = async page => {
  await drawn(page);
  const { from, to, spans, messages } = await page.locator("#timeline").evaluate(canvas => ({ ...canvas.dataset }));
  return { from: +from, to: +to, spans: +spans, messages: +messages, length: to - from };
};
const litLines = page => page.locator("#code .row.lit").evaluateAll(rows => rows.map(row => +row.dataset.line));

async function wheel(page, turns, x = 0.5, y = 0.5) {
  const box = await page.locator("#timeline").boundingBox();
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
  for (let i = 0; i < Math.abs(turns); i++) await page.mouse.wheel(0, turns > 0 ? -100 : 100);
}

await test("advice is ranked and shown on its lines, in marks that need no colour", "gauss.html", async page => {
  assert.equal(await page.locator("#list .item").count(), 4);
  assert.match(await page.locator("#together").textContent(), /All together: .* → /);
  await page.click("#advice-0");
  const style = line => page.locator(`#line-${line} .text`).evaluate(text => getComputedStyle(text).borderLeftStyle);
  const glyph = line => page.locator(`#line-${line} .glyph`).textContent();
  assert.deepEqual([await style(32), await style(49), await style(41), await style(43)], ["solid", "dotted", "dashed", "solid"]);
  assert.deepEqual([await glyph(32), await glyph(49), await glyph(41), await glyph(43)], ["●", "≈", "✕", ""]);
  assert.match(await page.locator("#line-41 + .say").textContent(), /forbids more: anti-dependence/);
  assert.ok(await page.locator("#line-32").isVisible());
  assert.deepEqual(await litLines(page), [32]);
  await page.click("#advice-1");
  assert.deepEqual(await litLines(page), [60, 61]);
  assert.equal(await glyph(32), "");
  assert.match(await page.locator("#finding").textContent(), /Merge the two reductions/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#finding").isVisible(), false);
});

await test("the timeline zooms, moves and comes back", "gauss.html", async page => {
  const all = await seen(page);
  assert.equal(all.messages, 0, "a quarter of a million messages are not drawn one by one");
  assert.ok(all.spans > 100_000);
  await wheel(page, 10);
  const near = await seen(page);
  assert.ok(near.length < all.length / 10);
  const box = await page.locator("#timeline").boundingBox();
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 200, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  const moved = await seen(page);
  assert.ok(moved.from > near.from && Math.abs(moved.length - near.length) < 1);
  await wheel(page, -30);
  assert.deepEqual(await seen(page), all);
  await page.focus("#timeline");
  for (const key of ["+", "+", "ArrowRight"]) await page.keyboard.press(key);
  assert.ok(Math.abs((await seen(page)).length - all.length / 4) < 1);
  await page.keyboard.press("0");
  assert.deepEqual(await seen(page), all);
  await page.click("#zoom-in");
  assert.ok((await seen(page)).length < all.length);
});

await test("a region is a band above the rows, and choosing one shows it and lets the rest step back", "gauss.html", async page => {
  const regionNow = async () => { await drawn(page); return page.locator("#timeline").evaluate(canvas => +canvas.dataset.region); };
  assert.deepEqual(await page.locator("#region option").allTextContents().then(names => names.map(name => name.replace(/ \(.*/, ""))), ["none", "elimination", "first half"]);
  assert.equal(await regionNow(), -1);
  const all = await seen(page);
  await page.selectOption("#region", "1");
  assert.equal(await regionNow(), 1);
  const part = await seen(page);
  assert.ok(part.length < 0.6 * all.length && part.from < all.length / 10, `${part.from} to ${part.to} of ${all.length}`);
  await page.selectOption("#region", "-1");
  assert.equal(await regionNow(), -1);
});

await test("a page of a program without regions does not speak of them", "empty.html", async page => {
  assert.equal(await page.locator("#region").isVisible(), false);
});

await test("the critical path is drawn when asked for, from the first rank that holds the others up to the last", "gauss.html", async page => {
  const pieces = async () => { await drawn(page); return page.locator("#timeline").evaluate(canvas => +canvas.dataset.path); };
  /** Counts the pixels of a colour in the rows. */
  const dark = () => page.locator("#timeline").evaluate(canvas => {
    // A copy is read, because reading a canvas makes it slow, about which the browser warns.
    const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height }).getContext("2d");
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
    const [r, g, b] = [1, 3, 5].map(i => parseInt(ink.slice(i, i + 2), 16));
    let n = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b) n++;
    return n;
  });
  await page.keyboard.press("Escape");
  assert.equal(await pieces(), 0);
  const before = await dark();
  await page.click("#path-switch");
  assert.equal(await page.locator("#path-switch").getAttribute("aria-pressed"), "true");
  assert.ok(await pieces() > 100);
  assert.ok(await dark() > before + 500, "bars in the colour of text, not a tint");
  await wheel(page, 21, 0.4);
  const near = await pieces();
  assert.ok(near > 1 && near < 200, `${near} pieces in a few steps`);
  assert.ok(await dark() > 200, "lines from row to row");
  await page.focus("#timeline");
  await page.keyboard.press("c");
  assert.equal(await pieces(), 0);
});

await test("a run without a critical path has no switch for it", "quiet.html", async page => {
  assert.equal(await page.locator("#path-switch").isVisible(), false);
  await page.focus("#timeline");
  await page.keyboard.press("c");
});

await test("a message that is picked lights the lines of both ends", "gauss.html", async page => {
  await page.keyboard.press("Escape");
  await wheel(page, 21, 0.4);
  const { messages } = await seen(page);
  assert.ok(messages > 0 && messages <= 3000, `${messages}`);
  const box = await page.locator("#timeline").boundingBox();
  // The ring has a message between the first two rows.
  let said = "";
  for (let x = 80; x < box.width - 10 && !said.startsWith("message"); x += 6) {
    await page.mouse.click(box.x + x, box.y + 20 + (box.height - 20) / 16);
    said = await page.locator("#pick").textContent();
  }
  assert.match(said, /^message \d+ → \d+ · .* at gauss\.c:32 · arrived .* at gauss\.c:41/);
  assert.deepEqual(await litLines(page), [32, 41]);
  await page.focus("#timeline");
  await page.keyboard.press("m");
  assert.match(await page.locator("#pick").textContent(), /^message /);
});

await test("behind a line is every call of it", "gauss.html", async page => {
  await page.click("#line-60 .text");
  await page.click("#tab-events");
  assert.match(await page.locator("#view-events").textContent(), /502,400 spans at gauss\.c:60/);
  const rows = page.locator("#view-events .item-row");
  assert.ok(await rows.count() < 100, "only the rows in sight are elements");
  await page.selectOption("#rank", "3");
  assert.match(await page.locator("#view-events").textContent(), /31,400 spans at gauss\.c:60/);
  assert.deepEqual(new Set(await rows.locator("span:first-child").allTextContents()), new Set(["3"]));
  await page.locator("#view-events .grid").evaluate(grid => { grid.scrollTop = 22 * 2_000; });
  await drawn(page);
  // A row stands for one call or several.
  const row = rows.nth(8), [event, , , what] = await row.locator("span:nth-child(n + 2):nth-child(-n + 5)").allTextContents();
  await row.click();
  await page.click("#tab-timeline");
  const said = await page.locator("#pick").textContent();
  assert.ok(event ? said.includes(`event ${event}`) : said.includes(what.replace(" of ", " spans of ")), `${event} ${what}: ${said}`);
  await page.click("#advice-0");
  await page.click("#tab-events");
  await page.locator("#view-events .details .link").first().click();
  assert.match(await page.locator("#pick").textContent(), /event \d/);
});

await test("hot spots, communication and processor use follow the rank", "gauss.html", async page => {
  await page.click("#tab-hot");
  const first = () => page.locator("#view-hot tbody tr").first().textContent();
  const all = await first();
  assert.match(all, /gauss\.c:\d+/);
  await page.selectOption("#rank", "0");
  assert.notEqual(await first(), all);
  await page.locator("#view-hot tbody .link").first().click();
  assert.equal(await page.locator("#code .row.current").count(), 1);
  await page.click("#tab-traffic");
  assert.ok(await page.locator("#matrix").isVisible());
  assert.match(await page.locator("#view-traffic").textContent(), /Allreduce31,400/);
  await page.click("#tab-use");
  assert.equal(await page.locator("#view-use .pies figure").count(), 16);
  const shares = await page.locator("#view-use tbody tr").first().locator("td.num").allTextContents();
  const sum = shares.filter(text => text.includes("%")).reduce((total, text) => total + parseFloat(text), 0);
  assert.ok(Math.abs(sum - 100) < 0.3, `${shares}`);
});

await test("everything can be reached by the keyboard", "gauss.html", async page => {
  const reached = new Set();
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id));
  }
  for (const id of ["rank", "list", "file", "code", "splitter", "tab-timeline", "timeline"]) assert.ok(reached.has(id), `${id} is not reached`);
  await page.focus("#list");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator("#advice-1").getAttribute("aria-selected"), "true");
  await page.focus("#code");
  await page.keyboard.press("ArrowDown");
  assert.deepEqual(await litLines(page), [61]);
  await page.keyboard.press("Enter");
  assert.ok(await page.locator("#view-events").isVisible());
  await page.focus("#tab-events");
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.locator("#view-hot").isVisible());
  const height = () => page.locator("#upper").evaluate(box => box.offsetHeight), before = await height();
  await page.focus("#splitter");
  await page.keyboard.press("ArrowUp");
  assert.ok(await height() < before);
});

await test("dark where that is preferred", "gauss.html", async page => {
  const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const brightness = colour => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + +part, 0);
  assert.ok(brightness(dark) < 150 && brightness(light) > 600, `${light} ${dark}`);
});

await test("names are never markup", "odd.html", async page => {
  assert.match(await page.title(), /^<\/script><script>document\.title='broken'/);
  assert.equal(await page.locator("img").count(), 0);
  assert.match(await page.locator("#line-2 .text").textContent(), /<img src=x onerror=/);
  assert.match(await page.locator("#advice-0 .title").textContent(), /^<\/script>/);
  assert.match(await page.locator("#finding").textContent(), /0x401136/);
  const files = await page.locator("#file option").allTextContents();
  assert.ok(files.includes("we ird/<b>&amp;\"'#%ü\u2028.c") && files.includes("/gone/away.f90 (not found)"), `${files}`);
  for (const tab of ["events", "hot", "traffic", "use", "timeline"]) await page.click(`#tab-${tab}`);
  await page.click("#advice-1");
  await page.selectOption("#file", { index: 1 });
  assert.match(await page.locator("#code").textContent(), /could not be read/);
});

for (const [name, file, says] of [["nothing happened", "empty.html", /No advice/], ["one rank without a call", "quiet.html", /No advice/]]) {
  await test(`a run in which ${name} is a page as well`, file, async page => {
    assert.match(await page.locator("#list").textContent(), says);
    assert.match(await page.locator("#code").textContent(), /names no line/);
    for (const tab of ["events", "hot", "traffic", "use", "timeline"]) await page.click(`#tab-${tab}`);
    await page.focus("#timeline");
    for (const key of ["+", "ArrowLeft", "n", "p", "m", "ArrowDown", "0"]) await page.keyboard.press(key);
    await wheel(page, 3);
    await drawn(page);
  });
}

await test("three hundred ranks are rows to scroll and blocks of a matrix", "wide.html", async page => {
  assert.ok(await page.locator("#rows").evaluate(box => box.scrollHeight > box.clientHeight));
  await page.locator("#rows").evaluate(box => { box.scrollTop = 1000; });
  assert.ok((await seen(page)).spans > 0);
  for (const tab of ["hot", "traffic", "use"]) await page.click(`#tab-${tab}`);
  // No advice was left out of the total, so there is no remark.
  assert.match(await page.locator("#together").textContent(), /%\)$/);
});

await test("where others are waited for is dark, and the names of ranks say how much", "gauss.html", async page => {
  await page.keyboard.press("Escape");
  await drawn(page);
  const canvas = page.locator("#timeline");
  const shares = (await canvas.evaluate(canvas => canvas.dataset.waits)).split(" ").map(Number);
  const used = await page.evaluate(() => data.uses.map(([ns]) => ns[3] / data.end));
  shares.forEach((share, rank) => assert.ok(Math.abs(share - used[rank]) < 0.01, `rank ${rank}: ${share} ${used[rank]}`));
  assert.equal(await page.locator("#kinds .swatch").count(), 9);
  /** Shades of the legend by brightness: each darker or denser than the one before, on light and dark backgrounds. */
  const contrast = () => page.evaluate(() => {
    const box = document.createElement("canvas"), ink = box.getContext("2d");
    const rgb = colour => { ink.fillStyle = colour; ink.fillRect(0, 0, 1, 1); return [...ink.getImageData(0, 0, 1, 1).data].slice(0, 3).reduce((a, b) => a + b, 0) / 3; };
    const style = getComputedStyle(document.documentElement), panel = rgb(style.getPropertyValue("--panel"));
    return timeline.heatOf([0, 1, 2, 3, 4]).map(([r, g, b]) => Math.abs((r + g + b) / 3 - panel));
  });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await drawn(page);
    const steps = await contrast();
    assert.ok(steps.every((value, i) => i < 1 || value > steps[i - 1] + 5), `${colorScheme}: ${steps}`);
  }
});

await test("a run that was thinned says so", "long.html", async page => {
  await drawn(page);
  assert.match(await page.locator("#window").textContent(), /one message of \d+ is in this page · spans closer than .* are drawn as one/);
  await wheel(page, 30);
  const { spans } = await seen(page);
  assert.ok(spans < 1000);
});

await test("it is readable on a narrow screen", "gauss.html", async page => {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.locator("#timeline").scrollIntoViewIfNeeded();
  assert.ok((await seen(page)).spans > 0);
}, { viewport: { width: 480, height: 900 } });

// The frame rate is printed but not judged, because machines differ.
{
  const page = await open("gauss.html");
  const zoom = () => page.evaluate(async () => {
    const canvas = document.getElementById("timeline"), box = canvas.getBoundingClientRect(), times = [];
    for (let i = 0; i < 60; i++) {
      canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: i < 30 ? -100 : 100, clientX: box.left + 500, clientY: box.top + 50, cancelable: true }));
      const before = performance.now();
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
      times.push(performance.now() - before);
    }
    times.sort((a, b) => a - b);
    return `${times[30].toFixed(0)} ms (median), ${times[57].toFixed(0)} ms (95 %)`;
  });
  const plain = await zoom();
  await page.click("#path-switch");
  console.log(`     opened in ${page.opened} ms; zooming through a million calls, a frame takes ${plain}; with the critical path ${await zoom()}`);
  await page.context().close();
}
await browser.close();

// The log is checked against the published schema of its standard.
const require = createRequire(import.meta.url);
const schema = JSON.parse(readFileSync(require.resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json")));
const Ajv = require("ajv");
const ajv = new Ajv({ schemaId: "auto", meta: false, allErrors: true, unknownFormats: "ignore" });
ajv.addMetaSchema(require("ajv/lib/refs/json-schema-draft-07.json"));
const known = readFileSync(require.resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"), "utf8").match(/"\$schema": "([^"]*)"/)[1];
if (!known.includes("draft-07")) ajv.addMetaSchema(require(`ajv/lib/refs/json-schema-${known.match(/draft-0\d/)[0]}.json`));
const valid = ajv.compile(schema);
for (const [file, results] of [["gauss.sarif", 4], ["odd.sarif", 2]]) {
  const log = JSON.parse(readFileSync(`${folder}/${file}`));
  const good = valid(log) && log.runs[0].results.length === results;
  console.log(good ? `ok   ${file} is valid SARIF 2.1.0` : `FAIL ${file}: ${ajv.errorsText(valid.errors, { separator: "\n" })}`);
  if (!good) failed++;
}
const broken = JSON.parse(readFileSync(`${folder}/gauss.sarif`));
broken.runs[0].results[0].level = "dreadful";
if (valid(broken)) { failed++; console.log("FAIL the schema accepts everything"); }

console.log(failed ? `${failed} failed` : "all passed");
process.exit(failed ? 1 : 0);
