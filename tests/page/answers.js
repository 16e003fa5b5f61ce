// Tests of the pages of answers in a real browser: `node answers.js FOLDER`, with run.html, compare.html and replay.html
// that `hayase VERB -o x.html` writes. SCREENSHOTS names a folder for pictures.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
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
  await page.locator("input[type=search]").last().fill(name);
  assert.deepEqual(await column(page, last, 0), [name]);
  assert.match(await page.locator(".tools span").last().textContent(), new RegExp(`^1 of ${all}$`));
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
  const figure = page.locator("figure").first();
  await figure.locator("button").click();
  assert.equal(await figure.locator("button").textContent(), "fit");
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

// Functions of the script by themselves.
const { numberOf, compareCells, toCsv } = createRequire(import.meta.url)("../../crates/output/src/page/page.js");
assert.deepEqual(["1 234", "41.0", "52 %", "", "L1.14"].map(numberOf), [1234, 41, 52, NaN, NaN]);
assert.deepEqual(["b", "10", "9", "a"].sort(compareCells), ["9", "10", "a", "b"]);
assert.equal(toCsv([["a", 'say "x"'], ["1,5", ""]]), 'a,"say ""x"""\n"1,5",\n');

end();
