// A real browser, and pages that the built tool has made.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");

export const heddle = process.env.HEDDLE ?? join(root, "build/test/bin/heddle");
const findings = 66; // exit code

export function browser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium" });
}

// A directory of its own for the pages of one test file.
export class Pages {
  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), "heddle-browser-"));
  }
  remove() {
    rmSync(this.directory, { recursive: true });
  }
  path(name) {
    return join(this.directory, name);
  }
  write(name, content) {
    writeFileSync(this.path(name), content);
    return this.path(name);
  }
  json(name) {
    return JSON.parse(readFileSync(this.path(name), "utf8"));
  }
  // heddle check over traces: NAME.html, and NAME.json with the same findings.
  check(name, traces, ...options) {
    const arguments_ = ["check", ...traces, "--html", this.path(`${name}.html`), "--format", "json", "--output", this.path(`${name}.json`), ...options];
    const done = spawnSync(heddle, arguments_, { cwd: root, encoding: "utf8" });
    if (done.status !== 0 && done.status !== findings) throw new Error(`heddle ${arguments_.join(" ")}: ${done.status}\n${done.stderr}`);
    return this.json(`${name}.json`);
  }
  // heddle report over a report as data: NAME.html.
  report(name, data, ...options) {
    const file = this.write(`${name}.json`, JSON.stringify(data));
    execFileSync(heddle, ["report", file, "--html", this.path(`${name}.html`), ...options], { cwd: root, stdio: "pipe" });
  }
  // The same over text that need not be a whole report. Gives what it says.
  reportText(name, text) {
    const done = spawnSync(heddle, ["report", this.write(`${name}.json`, text), "--html", this.path(`${name}.html`)], { cwd: root, encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
    return done.stderr;
  }
  url(name) {
    return pathToFileURL(this.path(`${name}.html`)).href;
  }
}

// Opens a page and watches it: no error, no dialog, and no request but the one for the page.
export async function open(context, url) {
  const page = await context.newPage();
  page.troubles = [];
  page.on("pageerror", (error) => page.troubles.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && page.troubles.push(`console: ${message.text()}`));
  page.on("dialog", (dialog) => (page.troubles.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  const isPage = (request) => request.url().split("#")[0] === url.split("#")[0];
  page.on("requestfinished", (request) => isPage(request) || page.troubles.push(`request: ${request.url()}`));
  page.on("requestfailed", (request) => {
    const { errorText } = request.failure();
    page.troubles.push(`${errorText === "csp" ? "refused" : "request"}: ${request.url()} ${errorText}`);
  });
  await page.goto(url);
  await page.locator("main").waitFor();
  // What a key does shows with the next picture: tests look after that.
  const press = page.keyboard.press.bind(page.keyboard);
  page.keyboard.press = async (...key) => {
    await press(...key);
    await page.evaluate(() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(shown, 0)))));
  };
  return page;
}

export const examples = (...names) => names.map((name) => `examples/traces/${name}.std`);

// Waits until what `look()` gives is what is wanted; says what it was instead when that takes too long.
export async function eventually(look, wanted) {
  for (let tries = 0; tries < 100; ++tries) {
    if ((await look()) === wanted) return;
    await new Promise((later) => setTimeout(later, 50));
  }
  assert.equal(await look(), wanted);
}
