// Tests of the playground in a real browser: `node playground.js playground.html HAYASE`. SCREENSHOTS names a folder for
// pictures.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { tests } from "./browser.js";

const file = pathToFileURL(resolve(process.argv[2])).href;
const hayase = process.argv[3];
const require = createRequire(import.meta.url);
const { runnable } = require("../../docs/assets/playground.js");
const { test: open, end } = await tests({ loads: /^(file|data|blob|about):/, prefix: "playground-" });
const test = (name, body, { hash = "", ...options } = {}) => open(name, file + hash, body, options);

const side = (page, at = 0) => page.locator(".side").nth(at);
const write = async (page, text, at = 0) => {
  await side(page, at).locator("textarea").fill(text);
  await page.waitForSelector(`.side:nth-of-type(${at + 1})[data-checked]`);
};
/** Runs what stands in the editors; returns the fingerprints. */
async function run(page, timeout = 60_000) {
  await page.evaluate(() => document.querySelectorAll(".side").forEach(side => delete side.dataset.shown));
  await page.locator("#run").click();
  await page.waitForFunction(() => [...document.querySelectorAll(".side")].every(side => side.dataset.shown), undefined, { timeout });
  return page.locator(".side").evaluateAll(sides => sides.map(side => side.dataset.shown));
}
const native = (...words) => JSON.parse(execFileSync(hayase, ["run", ...words, "--format", "json", "-q"], { encoding: "utf8", maxBuffer: 1 << 28 }));

await test("it starts within a second", async page => {
  const ready = Number(await page.locator("html").getAttribute("data-ready"));
  console.log(`     started in ${ready} ms`);
  assert.ok(ready < 1000, `${ready} ms`);
  assert.ok(await page.locator("#examples option").count() > 8);
});

const commands = [
  "-t fat-tree-54 -p all-to-all-simple-spread",
  "-t fat-tree-54 -p all-to-all-nd-spread --placement random --sharing redistribute",
  "-t fat-tree-128 -p all-to-all-bruck --placement random --routing hashed",
  "-t torus-8x8 -p all-to-all-2d-spread --injection barrier --jitter 1.5us",
  "-t torus-16x16 -p all-to-all-pairwise --injection window=3 --routing dimension-order",
  "-t crossbar-64 -p npb-cg-W-16",
  "-t torus-8x8 -p all-to-all-simple-spread --placement random --transport packet:oq --jitter 1us",
  "-t dragonfly-72 -p adv:k=1,messages=8 --routing ugal-g",
  "-t torus-4x4 -m myrinet gaussian-elimination:n=64",
  "-t fat-tree-54 --job a=all-to-all-simple-spread:24@random --job b=ring:20@random",
  "-t torus-8x8 -p all-to-all-pairwise --faults 2%",
];
await test("fingerprints are those of the program", async page => {
  for (const command of commands) {
    await write(page, `hayase run ${command}`);
    const [found] = await run(page);
    assert.equal(found, native(...command.split(" ")).fingerprint, command);
  }
});

await test("mistakes are marked while typing", async page => {
  await write(page, 'topology = "fat-tree-54"\n\n[workload.all-to-all]\nalgorithm = "simple-sprad"\nsize = 20000\n');
  assert.deepEqual(await page.locator(".marks mark").allTextContents(), ['"simple-sprad"', "20000"]);
  assert.deepEqual(await page.locator(".numbers .wrong").allTextContents(), ["4\n", "5\n"]);
  assert.match(await page.locator(".mistakes li").first().textContent(), /^4:13 .*did you mean `simple-spread`\?/s);
  await page.locator(".mistakes button").nth(1).click();
  assert.equal(await page.evaluate(() => getSelection().toString() || document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)), "20000");
  await page.keyboard.type('"20 KB"');
  await page.waitForFunction(() => document.querySelectorAll(".marks mark").length === 1);
  await page.locator("#run").click();
  await page.waitForFunction(() => !document.querySelector("#run").disabled);
  assert.equal(await page.locator(".mistakes li").count(), 1);
  assert.ok(await page.locator("iframe").isHidden());
});

await test("every example of the guide that needs no files is understood", async page => {
  const guide = new URL("../../docs/guide/", import.meta.url);
  const blocks = readdirSync(guide).flatMap(name => [...readFileSync(new URL(name, guide), "utf8").matchAll(/^```\w*\n(.*?)^```/gms)]);
  const found = blocks.flatMap(([, block]) => runnable(block));
  assert.ok(found.length > 15, String(found.length));
  for (const text of found.filter(text => !/fat-tree-9826|fat-tree-1024|fat-tree-3456/.test(text))) {
    await write(page, text);
    assert.deepEqual(await page.locator(".mistakes li").allTextContents(), [], text);
  }
});

await test("a run is stopped and another one started", async page => {
  await write(page, "hayase run -t fat-tree-3456 -p all-to-all-simple-spread --placement random");
  await page.locator("#run").click();
  await page.waitForFunction(() => document.querySelector("progress").value > 0, undefined, { timeout: 60_000 });
  await page.locator("#stop").click();
  assert.match(await page.locator(".words").textContent(), /^stopped after/);
  assert.ok(await page.locator("#stop").isDisabled());
  await write(page, 'topology = "torus-4x4"\nworkload = "ring"');
  assert.match((await run(page))[0], /^[0-9a-f]{16}$/);
});

await test("a link holds the scenarios", async page => {
  const texts = ['topology = "torus-4x4" # é \u{1f600}\nworkload = "ring"\n', "hayase run -t fat-tree-54 -p shift"];
  await page.locator("#compare").click();
  await write(page, texts[0], 0);
  await write(page, texts[1], 1);
  await page.locator("#share").click();
  await page.waitForFunction(() => location.hash.startsWith("#z="));
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForSelector("html[data-ready]");
  assert.deepEqual(await page.locator("textarea").evaluateAll(areas => areas.map(area => area.value)), texts);
});

await test("a link may hold a plain text", async page => {
  assert.equal(await page.locator("textarea").inputValue(), "hayase run -t torus-4x4 -p ring");
}, { hash: `#t=${encodeURIComponent("hayase run -t torus-4x4 -p ring")}` });

await test("a damaged link is said to be one", async page => {
  assert.match(await page.locator("#notice").textContent(), /damaged/);
}, { hash: "#z=abc" });

await test("an example is chosen and a scenario begun", async page => {
  await page.locator("#examples").selectOption({ label: "Two jobs on one fabric" });
  assert.match(await page.locator("textarea").inputValue(), /\[\[job\]\]/);
  await page.locator("#topologies").selectOption("torus-8x8");
  await page.locator("#new").click();
  await page.waitForFunction(() => document.querySelector("textarea").value.includes("torus-8x8"));
  await page.waitForSelector(".side[data-checked]");
  assert.equal(await page.locator(".mistakes li").count(), 0);
});

await test("the answer is the page of the program", async page => {
  await write(page, "hayase run -t fat-tree-54 -p all-to-all-simple-spread");
  await run(page);
  const answer = page.frameLocator("iframe");
  assert.equal(await answer.locator("figure svg").count(), 3);
  assert.ok(await answer.locator("table").count() > 0);
  await answer.locator("th button").first().click();
  const download = page.waitForEvent("download");
  await page.locator(".saves .report").click();
  assert.equal((await download).suggestedFilename(), "report.json");
});

await test("a comparison of many runs", async page => {
  await write(page, "hayase compare -t torus-4x4 -p all-to-all-simple-spread,all-to-all-pairwise --placement regular,random --seeds 2");
  await run(page);
  assert.ok(await page.frameLocator("iframe").locator("tbody tr").count() >= 4);
});

for (const colorScheme of ["light", "dark"]) {
  for (const width of [700, 1400]) {
    await test(`two scenarios side by side at ${width} pixels in ${colorScheme}`, async page => {
      await write(page, 'topology = "fat-tree-54"\nworkload = "all-to-all-simple-spread"\nplacement = "random"\nsze = 3\n');
      await page.locator("#compare").click();
      await write(page, 'topology = "fat-tree-54"\nworkload = "all-to-all-simple-spread"\nplacement = "random"\n');
      await write(page, 'topology = "fat-tree-54"\nworkload = "all-to-all-simple-spread"\nplacement = "regular"\n', 1);
      await run(page);
      assert.match(await page.locator("#notice").textContent(), /^The second makespan is 0\.\d+ times the first/);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      const [ink, paper] = await page.evaluate(() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]);
      const light = text => text.match(/\d+/g).reduce((sum, part) => sum + Number(part), 0);
      assert.equal(light(ink) > light(paper), colorScheme === "dark");
      assert.equal(await page.frameLocator("iframe >> nth=0").locator("body").evaluate(body => getComputedStyle(body).backgroundColor), paper);
    }, { colorScheme, viewport: { width, height: 900 } });
  }
}

await test("432 nodes take at most three times as long as in the program", async page => {
  const words = ["-t", "fat-tree-432", "-p", "all-to-all-simple-spread", "--placement", "random"];
  await write(page, `hayase run ${words.join(" ")}`);
  const taken = [];
  for (let i = 0; i < 3; i++) {
    const begin = Date.now();
    execFileSync(hayase, ["run", ...words, "-o", "/tmp/playground-432.html", "-q"]);
    const program = Date.now() - begin;
    await run(page, 120_000);
    const text = await page.locator(".words").textContent();
    const [, took, unit] = /took ([\d.]+) (m?s)/.exec(text);
    taken.push([took * (unit === "s" ? 1000 : 1), program]);
  }
  taken.sort(([a, b], [c, d]) => a / b - c / d);
  console.log(`     ${taken.map(([page, program]) => `${page} ms, program ${program} ms`).join("; ")}`);
  assert.ok(taken[0][0] < 3 * taken[0][1], String(taken));
});

// Functions of the script by themselves.
const { pack, unpack, parts, offsetOf } = require("../../crates/playground/page/playground.js");
assert.deepEqual(await unpack(await pack(["a é", "b\n"])), ["a é", "b\n"]);
const mistake = (line, column, length) => ({ line, column, length });
assert.deepEqual(parts("ab\nc", [mistake(1, 2, 1), mistake(2, 2, 1)]), [["a", false], ["b", true], ["\nc", false], [" ", true], ["\n", false]]);
assert.equal(offsetOf("\u{1f600}b\nxyz", 2, 3), 6);
assert.equal(offsetOf("\u{1f600}b", 1, 2), 2);

end();
