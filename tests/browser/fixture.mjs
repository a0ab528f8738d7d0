// What the test files of the report share: a browser, a page that is watched, and a report of every example. A file has them for
// itself; `page` is the one that show() has opened last.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import { browser, examples, open, Pages } from "./support.mjs";

export const pages = new Pages();
export let context, page, all;
let chromium;

const everyExample = examples("check_then_act", "check_then_act_locked", "lock_order", "lucky_run", "parallel_search", "parallel_search_unmarked", "parallel_sort", "parallel_sum", "task_pool", "unguarded_variable");

before(async () => {
  chromium = await browser();
  all = pages.check("all", everyExample, "--checkers", "all");
});
after(async () => {
  await chromium?.close();
  pages.remove();
});
beforeEach(async () => {
  context = await chromium.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
});
afterEach(async () => {
  const troubles = page?.troubles ?? [];
  await context.close();
  page = undefined;
  assert.deepEqual(troubles, []);
});

export const show = async (name, finding) => {
  page = await open(context, pages.url(name) + (finding ? `#finding=${finding.fingerprint}` : ""));
  return page;
};
export const findingOf = (rule, report = all) => report.findings.find((f) => f.rule === rule);
export const tab = (name) => page.getByRole("tab", { name });
export const panel = () => page.locator("[role=tabpanel]:not([hidden])");
