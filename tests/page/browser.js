// Tests in a real browser: each opens a page without network, and fails by any text on the console and any request.
// SCREENSHOTS names a folder for pictures.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

/**
 * Returns the function that runs a test, and the one that ends all tests. `loads` matches addresses that a page may load;
 * pictures begin with `prefix`.
 */
export async function tests({ loads, prefix = "" }) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
  let failed = 0;

  async function test(name, url, body, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, offline: true, ...options });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", message => complaints.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", error => complaints.push(error.stack));
    page.on("request", request => { if (!loads.test(request.url())) complaints.push(`loads ${request.url()}`); });
    try {
      await page.goto(url);
      await page.waitForSelector("html[data-ready]");
      await body(page);
      assert.deepEqual(complaints, []);
      console.log(`ok   ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL ${name}\n${error.stack}\n${complaints.join("\n")}`);
    }
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${prefix}${name.replaceAll(/\W+/g, "-")}.png`, fullPage: true });
    await context.close();
  }

  /** Ends the process with the result of all tests. */
  function end() {
    console.log(failed ? `${failed} failed` : "all passed");
    process.exit(failed ? 1 : 0);
  }

  return { test, end };
}
