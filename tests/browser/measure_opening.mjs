// How long a page of very many findings takes to be made and to open. Not a test: it depends on the machine.
//
//   HEDDLE=build/release/bin/heddle node tests/browser/measure_opening.mjs [FINDINGS]
import { statSync } from "node:fs";
import { browser, examples, Pages } from "./support.mjs";

const count = Number(process.argv[2] ?? 100_000);
const pages = new Pages();
const all = pages.check("all", examples("check_then_act_locked", "lock_order", "lucky_run", "parallel_sort", "task_pool"), "--checkers", "all");
const findings = Array.from({ length: count }, (_, i) => ({ ...all.findings[i % all.findings.length], fingerprint: i.toString(16).padStart(16, "0") }));
const begun = performance.now();
pages.report("many", { ...all, findings });
const made = performance.now() - begun;
const chromium = await browser();
const times = [];
for (let i = 0; i < 5; i++) {
  const page = await chromium.newPage();
  const start = performance.now();
  await page.goto(pages.url("many"));
  await page.locator("a.row").first().waitFor();
  times.push(performance.now() - start);
  await page.close();
}
await chromium.close();
const megabytes = (name) => (statSync(pages.path(name)).size / 1e6).toFixed(1);
times.sort((a, b) => a - b);
console.log(`${count} findings: ${megabytes("many.json")} MB of findings, ${megabytes("many.html")} MB of page; written in ${(made / 1000).toFixed(1)} s; opened in ${Math.round(times[2])} ms (median of 5)`);
pages.remove();
