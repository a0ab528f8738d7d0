// The page that is checked in is what its sources make, byte by byte, and stays small.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Pages, root } from "./support.mjs";

const pages = new Pages();
after(() => pages.remove());
const web = join(root, "web");

const run = (...command) => {
  const done = spawnSync(process.execPath, command, { cwd: web, encoding: "utf8" });
  assert.equal(done.status, 0, done.stdout + done.stderr);
};

test("web/dist/report.html is fresh (else: cd web && npm ci && npm run build)", () => {
  run("build.mjs", pages.path("built.html"));
  const built = readFileSync(pages.path("built.html"), "utf8");
  assert.ok(built === readFileSync(join(web, "dist/report.html"), "utf8"), "the sources in web/src make another page");
  run("build.mjs", pages.path("again.html"));
  assert.ok(built === readFileSync(pages.path("again.html"), "utf8"), "building twice gives two pages");
});

test("the page is under 400 KB and loads nothing", () => {
  const page = readFileSync(join(web, "dist/report.html"), "utf8");
  assert.ok(page.length < 400_000, `${page.length} bytes`);
  const frame = page.replace(/(<style>)[^]*(<\/style>)|(<script>)[^]*(<\/script>)/g, "$1$2$3$4");
  assert.ok(frame.length < 2000, "script and style are cut out");
  assert.match(frame, /http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; /);
  assert.doesNotMatch(frame, /<(link|img|iframe|script [^>]*src)\b/);
});

test("the types of the page's sources are right", () => run("node_modules/typescript/bin/tsc", "--noEmit"));
