// Makes the pictures in docs/images from real runs. The README's comes from `heddle try examples/bank.cpp --html`.
//
//   HEDDLE=build/release/bin/heddle node tests/browser/screenshots.mjs
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { browser, examples, heddle, Pages, root } from "./support.mjs";

const pages = new Pages();
const chromium = await browser();
spawnSync(heddle, ["try", "examples/bank.cpp", "--html", pages.path("bank.html")], { cwd: root });
const all = pages.check("all", examples("check_then_act_locked", "lock_order", "lucky_run", "parallel_sort", "parallel_sum", "task_pool", "unguarded_variable"), "--checkers", "all");
const of = (rule, isIt = () => true) => `#finding=${all.findings.find((f) => f.rule === rule && isIt(f)).fingerprint}`;

const shots = [
  { name: "bank", page: "bank", keys: ["ArrowRight", "ArrowRight"], height: 860 },
  { name: "overview", page: "all", height: 860 },
  { name: "timeline", page: "all", hash: of("HD2001"), keys: ["ArrowRight", "ArrowRight"], height: 700 },
  { name: "graph", page: "all", hash: of("HD4001", (f) => f.delays), tab: "Graph", keys: ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"], height: 1060 },
  { name: "schedule", page: "all", hash: of("HD2003", (f) => f.input.includes("lucky")), tab: "Witness schedule", keys: ["ArrowRight", "ArrowRight"], height: 800 },
  { name: "store-buffers", page: "all", hash: of("HD4001", (f) => f.delays), tab: "Store buffers", keys: ["ArrowRight"], height: 780 },
  { name: "dark", page: "all", hash: of("HD1003"), keys: ["ArrowRight", "ArrowRight"], dark: true, height: 720 },
  { name: "narrow", page: "bank", width: 360, height: 1100 },
  { name: "print", page: "all", hash: of("HD2003", (f) => f.input.includes("lucky")), print: true, width: 794, height: 1123 },
];
for (const shot of shots) {
  const context = await chromium.newContext({ viewport: { width: shot.width ?? 1200, height: shot.height }, colorScheme: shot.dark ? "dark" : "light" });
  const page = await context.newPage();
  await page.goto(pages.url(shot.page) + (shot.hash ?? ""));
  await page.locator("main").waitFor();
  if (shot.tab) await page.getByRole("tab", { name: shot.tab }).click();
  if (shot.tab) await page.evaluate(() => document.activeElement.blur());
  for (const key of shot.keys ?? []) await page.keyboard.press(key);
  if (shot.print) await page.emulateMedia({ media: "print" });
  if (shot.print) await page.waitForFunction(() => document.querySelectorAll("svg[role=img]").length === document.querySelectorAll("[role=tabpanel]").length);
  await page.screenshot({ path: join(root, `docs/images/${shot.name}.png`) });
  await context.close();
}
await chromium.close();
pages.remove();
