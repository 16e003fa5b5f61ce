// Tests of the pages of answers in a real browser: `node answers.js FOLDER`, with the pages that `run` writes there.
// SCREENSHOTS names a folder for pictures.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { tests } from "./browser.js";

const folder = resolve(process.argv[2] ?? ".");
const { test: run, end } = await tests({ loads: /^(file|data):/ });
const test = (name, file, body, options) => run(name, pathToFileURL(`${folder}/${file}`).href, body, options);

const column = (page, table, at) => page.locator("table").nth(table).locator("tbody tr:not([hidden])")
  .evaluateAll((rows, at) => rows.map(row => row.cells[at].textContent), at);
const isSorted = numbers => numbers.every((value, i) => i < 1 || numbers[i - 1] <= value);

await test("rows are sorted by numbers, up and down, by mouse and keyboard", "run.html", async page => {
  const last = await page.locator("table").count() - 1;
  const heading = page.locator("table").nth(last).locator("th", { hasText: "lost here" });
  const at = await heading.evaluate(cell => cell.cellIndex);
  await heading.locator("button").click();
  assert.ok(isSorted((await column(page, last, at)).map(Number)));
  assert.equal(await heading.getAttribute("aria-sort"), "ascending");
  await heading.locator("button").focus();
  await page.keyboard.press("Enter");
  assert.ok(isSorted((await column(page, last, at)).map(Number).reverse()));
});

await test("rows are filtered, and the rest is counted", "run.html", async page => {
  const last = await page.locator("table").count() - 1;
  const all = (await column(page, last, 0)).length;
  const name = (await column(page, last, 0))[0];
  await page.locator("#figures input[type=search]").last().fill(name);
  assert.deepEqual(await column(page, last, 0), [name]);
  assert.match(await page.locator("#figures .tools span").last().textContent(), new RegExp(`^1 of ${all}$`));
});

await test("a table is copied as CSV", "compare.html", async page => {
  await page.locator("button", { hasText: "copy as CSV" }).first().click();
  await page.waitForFunction(() => document.querySelector(".tools button:last-child").textContent === "copied");
  const text = await page.evaluate(() => navigator.clipboard.readText());
  const rows = text.trimEnd().split("\n");
  assert.equal(rows.length, 1 + (await column(page, 0, 0)).length);
}, { permissions: ["clipboard-read", "clipboard-write"] });

await test("pictures have tooltips and a full size", "replay.html", async page => {
  assert.ok(await page.locator("figure svg title").count() > 10);
  const button = page.locator("figure:visible").first().locator("button", { hasText: "full size" });
  await button.click();
  assert.equal(await page.locator("figure.full button", { hasText: "fit" }).count(), 1);
});

for (const colorScheme of ["light", "dark"]) {
  for (const width of [700, 1400]) {
    await test(`it fits ${width} pixels in ${colorScheme}`, "run.html", async page => {
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      const [ink, paper] = await page.evaluate(() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]);
      const light = text => text.match(/\d+/g).reduce((sum, part) => sum + Number(part), 0);
      assert.equal(light(ink) > light(paper), colorScheme === "dark");
    }, { colorScheme, viewport: { width, height: 900 } });
  }
}

/** Waits for the next frame, in which the timeline is drawn, and returns the part that it shows. */
const seen = async page => {
  await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  const data = await page.locator("#timeline canvas").evaluate(canvas => ({ ...canvas.dataset }));
  return { ...data, from: +data.from, to: +data.to, length: data.to - data.from, ms: +data.ms };
};

await test("a link of the picture is opened by mouse and keyboard, with its messages", "run.html", async page => {
  const link = page.locator('[data-link="98"]'), panel = page.locator("aside.links");
  await link.evaluate(part => part.dispatchEvent(new MouseEvent("click", { bubbles: true })));
  assert.equal(await panel.locator("h2").textContent(), "L1.14 -> node 44");
  assert.match(await panel.textContent(), /The 20 of 53 messages with most time lost/);
  assert.equal(await panel.locator("tbody tr").count(), 20);
  assert.match(await panel.locator("tbody tr").first().textContent(), /^\d+ → 49 no\. \d+20 KB/);
  assert.equal(await page.locator("g.chosen").count(), 1);
  await page.keyboard.press("Escape");
  assert.equal(await panel.locator("h2").textContent(), "Links");
  await page.locator('[data-link][tabindex="0"], [data-switch][tabindex="0"]').focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("g.chosen").count(), 1);
});

await test("a switch shows its links and their sum", "run.html", async page => {
  const panel = page.locator("aside.links");
  await page.locator('[data-link="98"]').evaluate(part => part.dispatchEvent(new MouseEvent("click", { bubbles: true })));
  await panel.locator(".ends button").first().click();
  assert.equal(await panel.locator("h2").textContent(), "L1.14");
  assert.equal(await panel.locator("button.link").count(), 12);
  await panel.locator("button.link").first().click();
  assert.match(await panel.locator("h2").textContent(), /L1\.14/);
});

await test("links are found by name", "run.html", async page => {
  await page.locator("aside.links input").fill("node 44");
  assert.deepEqual((await page.locator("aside.links .name").allTextContents()).sort(), ["L1.14 -> node 44", "node 44 -> L1.14"]);
});

await test("the slider paints the load of an interval, and all brings the mean back", "run.html", async page => {
  const colours = () => page.locator("[data-link] polyline:nth-of-type(2)").evaluateAll(lines => lines.map(line => line.getAttribute("stroke") + line.getAttribute("stroke-width")));
  const mean = await colours();
  await page.locator("input[type=range]").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".slider output").textContent(), /^0.* to /);
  assert.notDeepEqual(await colours(), mean);
  await page.locator(".slider button", { hasText: "play" }).click();
  await page.waitForFunction(() => Number(document.querySelector(".beside figure").dataset.at) > 1);
  await page.locator(".slider button", { hasText: "all" }).click();
  assert.deepEqual(await colours(), mean);
});

await test("the timeline zooms, moves, finds a rank and shows the critical path", "replay.html", async page => {
  const all = await seen(page);
  const canvas = page.locator("#timeline canvas");
  await canvas.focus();
  for (const key of ["+", "+", "ArrowRight"]) await page.keyboard.press(key);
  const near = await seen(page);
  assert.ok(Math.abs(near.length - all.length / 4) < 1e-6 && near.from > 0.37);
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 600, box.y + 60);
  await page.mouse.wheel(0, -200);
  assert.ok((await seen(page)).length < near.length);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 60, { steps: 4 });
  await page.mouse.up();
  const [before, after] = [near, await seen(page)];
  assert.ok(after.from !== before.from);
  await page.keyboard.press("0");
  assert.equal((await seen(page)).length, all.length);
  await page.locator("#timeline input").fill("rank 13");
  assert.equal((await seen(page)).marked, "13");
  await page.locator("#timeline button", { hasText: "critical path" }).click();
  assert.equal((await seen(page)).path, "true");
  await canvas.click({ position: { x: 500, y: 60 } });
  assert.match(await page.locator("#timeline-panel").textContent(), /^rank \d+.* on /);
});

await test("marks and rows of a sweep open the scenarios of their points", "sweep.html", async page => {
  const panel = page.locator("section[aria-label='Scenario of a point']");
  assert.ok(!await panel.isVisible());
  await page.locator("table").first().locator("td button").first().click();
  assert.match(await panel.locator("h2").textContent(), /^size 1 KB, placement regular$/);
  const text = await page.locator("#point").textContent();
  assert.match(text, /size = "1 KB"/);
  assert.match(text, /seed = 1/);
  assert.doesNotMatch(text, /\[grid\]/);
  for (const name of ["lines.svg", "heat.svg", "pareto.svg"]) {
    const mark = page.locator(`figure[data-name='${name}'] [data-point]`, { hasText: "size 100 KB, placement random" }).first();
    await mark.focus();
    await page.keyboard.press("Enter");
    assert.equal(await panel.locator("h2").textContent(), "size 100 KB, placement random");
    assert.equal(await page.locator(`figure[data-name='${name}'] .chosen`).count(), 1);
    await page.locator("table").first().locator("td button").first().click();
  }
  await page.locator("summary", { hasText: "Plan" }).click();
  assert.match(await page.locator("#plan").textContent(), /\[grid\]/);
});

await test("strips of a large fabric open links and are painted by the slider", "large-tree.html", async page => {
  const strips = page.locator("figure[data-name='x.svg'] rect[data-links]");
  assert.equal(await strips.count(), 6);
  await strips.nth(1).click({ position: { x: 100, y: 10 } });
  assert.match(await page.locator("aside h2").textContent(), /^L1\.\d+ -> L2\.\d+$/);
  assert.match(await page.locator("aside dl").textContent(), /carried/);
  await page.locator("input[type=range]").fill("20");
  assert.equal(await page.locator("figure[data-name='x.svg'] image").count(), 6);
  await page.locator(".slider button", { hasText: "all" }).click();
  assert.equal(await page.locator("figure[data-name='x.svg'] image").count(), 0);
});

await test("maps of a torus open the link of a place", "torus.html", async page => {
  const map = page.locator("figure[data-name='x.svg'] rect[data-links]").nth(2);
  const box = await map.boundingBox();
  // The place (2,1) of the direction x+: the third from the left, in the second row from below.
  await map.click({ position: { x: box.width * 2.5 / 10, y: box.height * 8.5 / 10 } });
  assert.equal(await page.locator("aside h2").textContent(), "(2,1) -> (3,1)");
});

await test("every heading of a table has an explanation", "run.html", async page => {
  const bare = await page.locator("#figures th").evaluateAll(all => all.filter(heading => !document.getElementById(heading.getAttribute("aria-describedby"))).map(heading => heading.textContent));
  assert.deepEqual(bare, []);
  assert.ok(await page.locator("#terms dt").count() > 10);
});

await test("names of jobs are text, and jobs have messages and a slider", "jobs.html", async page => {
  assert.equal(await page.locator("main script").count(), 0);
  await page.locator("aside.links button.link").first().click();
  assert.match(await page.locator("aside.links").textContent(), /senders1: ranks 20/);
  await page.locator("#timeline input").fill("b 3");
  assert.equal((await seen(page)).marked, "23");
});

await test("a million messages are summed up, and each zoom draws them", "big.html", async page => {
  const canvas = page.locator("#timeline canvas");
  await canvas.focus();
  const times = [];
  for (const key of ["+", "+", "ArrowRight", "+", "-", "ArrowLeft", "+", "0"]) {
    await page.keyboard.press(key);
    times.push((await seen(page)).ms);
  }
  console.log(`     ${times.join(", ")} ms`);
  assert.ok(times.every(time => time > 0), String(times));
  assert.match(await page.locator("#timeline .note").textContent(), /^1 047 552 messages are summed up/);
});

for (const [file, text] of [["large.html", /40460 nodes/], ["one.html", /makespan/], ["dead.html", /DEADLOCKED/]]) {
  await test(`${file} opens and fits`, file, async page => {
    assert.match(await page.locator("main").textContent(), text);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  }, { viewport: { width: 700, height: 900 } });
}

// Functions of the scripts by themselves.
const folderOfScripts = new URL("../../crates/output/src/page/", import.meta.url);
const scripts = ["tables", "figures", "rows", "timeline", "fabric", "terms", "main"];
const source = scripts.map(name => readFileSync(new URL(`${name}.js`, folderOfScripts), "utf8")).join("");
const names = ["numberOf", "compareCells", "toCsv", "timeText", "momentText", "jobOf", "unpackRow", "unpackSums", "timeUntil", "zoomed",
  "moved", "ticksOf", "findRank", "colourOf", "limitOf", "loadAt", "linksOf", "matching", "termOf"];
const { numberOf, compareCells, toCsv, timeText, momentText, jobOf, unpackRow, unpackSums, timeUntil, zoomed, moved, ticksOf, findRank,
  colourOf, limitOf, loadAt, linksOf, matching, termOf } = new Function(`${source}\nreturn { ${names} };`)();
assert.deepEqual(["1 234", "41.0", "52 %", "", "L1.14"].map(numberOf), [1234, 41, 52, NaN, NaN]);
assert.deepEqual(["b", "10", "9", "a"].sort(compareCells), ["9", "10", "a", "b"]);
assert.equal(toCsv([["a", 'say "x"'], ["1,5", ""]]), 'a,"say ""x"""\n"1,5",\n');
assert.deepEqual([0, 2.5e-6, 0.0123].map(timeText), ["0 s", "2.5 us", "12.3 ms"]);
assert.equal(momentText(0.001234, 1e-5), "1.2340 ms");
assert.deepEqual(jobOf([["a", 2], ["b", 3]], 3), ["b", 1]);

// Overlapping spans count each moment once, at any time; the sums agree with a slow count.
const numbers = [];
let state = 1;
const random = n => (state = (state * 48271) % 2147483647) % n;
for (let i = 0; i < 100; i++) numbers.push(random(5), random(20), random(2), 0, 0);
const row = unpackRow(numbers, 2), out = new Float64Array(2);
for (let t = 0; t < 260; t += 7) {
  timeUntil(row, t, out);
  for (const k of [0, 1]) {
    const busy = new Set();
    for (let i = 0; i < row.n; i++) if (row.kind[i] === k) for (let at = row.begin[i]; at < Math.min(t, row.end[i]); at++) busy.add(at);
    assert.equal(out[k], busy.size, `kind ${k} until ${t}`);
  }
}
timeUntil(unpackSums([50, 100, 0], 1, 10), 15, out.subarray(0, 1));
assert.equal(out[0], 10);
assert.deepEqual(zoomed({ from: 0, to: 100 }, 100, 2, 100), { from: 50, to: 100 });
assert.deepEqual(moved({ from: 20, to: 30 }, 100, -50), { from: 0, to: 10 });
assert.deepEqual(ticksOf({ from: 0, to: 100 }, 5), [0, 20, 40, 60, 80, 100]);
const ranks = { ranks: 5, jobs: [["a", 2], ["b", 3]], nodes: ["n0", "n1", "n2", "n3", "n4"] };
assert.deepEqual(["4", "rank 9", "b 1", "n2", "zz"].map(text => findRank(text, ranks)), [4, -1, 3, 2, -1]);
assert.equal(colourOf(["#000000", "#ff0000"], 0.5, 1), "#800000");
assert.deepEqual([0.03, 0.9, 7].map(limitOf), [0.05, 1, 1]);
const links = [{ id: 0, name: "a -> b", use: 0.2, load: [1000, 9000], ends: [[7, "a"], [8, "b"]] }, { id: 1, name: "b -> a", use: 0.1, load: [5000, 0], ends: [[8, "b"], [7, "a"]] }];
assert.deepEqual([loadAt(links[0], -1), loadAt(links[0], 1)], [0.2, 0.9]);
assert.deepEqual(linksOf(links, 7).inward.map(link => link.id), [1]);
assert.deepEqual(matching({ rows: links }, "", 0).map(link => link.id), [1, 0]);
assert.equal(termOf(new Map([["time", 1], ["size [B]", 2]]), "time [us]"), 1);

end();
