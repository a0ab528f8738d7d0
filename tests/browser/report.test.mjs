// The HTML report in a real browser, around the findings: the overview, other reports, odd data, all kinds of readers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { all, findingOf, page, pages, show, tab } from "./fixture.mjs";
import { eventually, examples } from "./support.mjs";

describe("overview", () => {
  test("shows every finding once, in groups by rule, with what was covered", async () => {
    await show("all");
    assert.equal(await page.locator("h1").textContent(), `${all.findings.length} findings`);
    assert.equal(await page.locator("a.row").count(), all.findings.length);
    const rules = new Set(all.findings.map((f) => f.rule));
    assert.equal(await page.locator(".group").count(), rules.size);
    const coverage = page.locator(".coverage");
    for (const checker of all.checkers) await coverage.getByRole("cell", { name: checker.name, exact: true }).waitFor();
    for (const input of all.inputs) await coverage.getByRole("cell", { name: input.path, exact: true }).waitFor();
    const noted = all.checkers.find((c) => c.note);
    await coverage.getByText(noted.note).waitFor();
  });

  test("groups by strength and by file", async () => {
    await show("all");
    await page.getByLabel("Group by").selectOption("strength");
    assert.deepEqual(await page.locator(".group").evaluateAll((groups) => groups.map((g) => g.getAttribute("aria-label"))), ["observed", "predicted", "potential"]);
    await page.getByLabel("Group by").selectOption("file");
    assert.ok((await page.locator(".group h2").allTextContents()).some((title) => title.includes("pool.cpp")));
    assert.equal(await page.locator("a.row").count(), all.findings.length);
  });

  test("filters by words, strength and rule, and says how many are left", async () => {
    await show("all");
    await page.getByLabel("Search findings").fill("pool.cpp TAKE_first");
    const fitting = all.findings.filter((f) => {
      const text = JSON.stringify(f).toLowerCase();
      return text.includes("pool.cpp") && text.includes("take_first");
    });
    await page.getByRole("status").getByText(`${fitting.length} of ${all.findings.length}`).waitFor();
    assert.equal(await page.locator("a.row").count(), fitting.length);
    await page.getByLabel("Strength").selectOption("predicted");
    assert.equal(await page.locator("a.row").count(), fitting.filter((f) => f.strength === "predicted").length);
    await page.getByLabel("Rule").selectOption("HD4002");
    assert.equal(await page.locator("a.row").count(), 1);
    await page.getByLabel("Rule").selectOption("");
    await page.getByLabel("Strength").selectOption("");
    for (const [words, finding] of [
      ["holding checking.mu", findingOf("HD1003")],
      ["No serial order gives this result", findingOf("HD2001")],
      [findingOf("HD2001").steps[1].because, findingOf("HD2001")],
    ]) {
      await page.getByLabel("Search findings").fill(words);
      await page.getByRole("status").getByText(/^\d+ of/).waitFor();
      assert.equal(await page.locator(`a.row[href="#finding=${finding.fingerprint}"]`).count(), 1, words);
    }
    await page.getByLabel("Search findings").fill("no such thing");
    await page.getByRole("button", { name: "Show all" }).click();
    assert.equal(await page.locator("a.row").count(), all.findings.length);
  });

  test("tells the sequential run that gives the same outcome, where ndseq found one", async () => {
    const found = all.sequential_runs.filter((run) => run.found);
    assert.ok(found.length > 0 && found.length < all.sequential_runs.length, "one trace has such a run, another has none");
    await show("all");
    const orders = page.locator(".coverage ol.order");
    assert.equal(await orders.count(), found.length);
    assert.deepEqual(await orders.first().locator("li").allTextContents(), found[0].order.map((place) => place.task));
    await page.getByText("No sequential run of the tasks gives the same outcome").first().waitFor();
  });

  test("a report without findings says so", async () => {
    pages.check("clean", examples("fence_publication"));
    await show("clean");
    assert.equal(await page.locator("h1").textContent(), "No findings");
    assert.match(await page.locator(".conclusion").first().textContent(), /race, deadlock, atomicity and determinism found nothing/);
  });

  test("a report of one finding opens with it; an unknown one is said to be unknown", async () => {
    pages.check("one", examples("lock_order"));
    await show("one");
    assert.equal(await page.locator("main.finding").count(), 1);
    await page.goto(`${pages.url("one")}#finding=0000000000000000`);
    await page.getByText("No finding with the fingerprint 0000000000000000").waitFor();
  });

  test("whatever stands in the address, there is a page; whatever a fingerprint is, its link leads to it", async () => {
    const findings = ["%", "a%20b", "x y&#=?"].map((fingerprint, i) => ({ ...all.findings[i], fingerprint }));
    pages.report("odd", { ...all, findings });
    await show("odd");
    for (const finding of findings) {
      await page.locator("a.row").filter({ hasText: finding.message }).first().click();
      await page.getByRole("heading", { level: 1, name: finding.message }).waitFor();
      await page.keyboard.press("u");
    }
    for (const hash of ["#finding=%E0%", "#finding=%zz"]) {
      await page.goto("about:blank");
      await page.goto(pages.url("odd") + hash);
      await page.getByText(`No finding with the fingerprint ${hash.slice(9)} is on this page`).waitFor();
    }
  });
});

describe("what a findings file lacks", () => {
  test("of a file that was cut off the findings before the cut are shown, and every page says so", async () => {
    const text = JSON.stringify(all);
    const third = text.indexOf(JSON.stringify(all.findings[3]));
    const said = pages.reportText("cut", text.slice(0, third + 300));
    assert.match(said, /^heddle: warning: .*cut\.json:1:\d+: the file ends in the midst of the report: it was cut off; what comes before that is shown, and findings may be missing\nheddle: .* is written \(3 findings\)/);
    await show("cut");
    assert.equal(await page.locator("a.row").count(), 3);
    await page.getByRole("note").getByText("the file ends in the midst of the report").waitFor();
    await page.locator("a.row").first().click();
    await page.locator("main.finding").waitFor();
    assert.match(await page.getByRole("note").textContent(), /^Not the whole report\./);
  });

  test("findings with one fingerprint have pages of their own", async () => {
    const findings = ["first", "second", "third"].map((message) => ({ ...findingOf("HD2001"), message }));
    pages.report("twins", { ...all, findings });
    await show("twins");
    for (const { message } of findings) {
      await page.locator("a.row").filter({ hasText: message }).click();
      await page.getByRole("heading", { level: 1, name: message }).waitFor();
      await page.keyboard.press("u");
    }
    await page.locator("a.row").first().click();
    await page.locator("main.finding").waitFor();
    await page.keyboard.press("j");
    await page.getByRole("heading", { level: 1, name: "second" }).waitFor();
  });

  test("a finding of no step, of one, of threads that it does not list: each has a page without a broken shape", async () => {
    const finding = findingOf("HD2001");
    const few = (count) => ({ ...finding, steps: finding.steps.slice(0, count), fingerprint: `${count}` });
    pages.report("few", { ...all, findings: [few(0), few(1), { ...finding, threads: [] }, { ...findingOf("HD1003"), threads: ["T9"] }] });
    await show("few");
    for (const row of [0, 1, 2, 3]) {
      await page.locator("a.row").nth(row).click();
      await page.locator("main.finding").waitFor();
      for (const button of await page.getByRole("tab").all()) await button.click();
      assert.doesNotMatch(await page.locator("#app").innerHTML(), /NaN|undefined|Infinity/);
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("u");
    }
    await page.evaluate(() => (location.hash = "#finding=0"));
    await page.getByText("The finding tells no steps").waitFor();
  });
});

describe("whatever names there are", () => {
  test("hostile names are shown as text", async () => {
    const script = "<script>window.owned=1</script>";
    const quotes = "\"'`${window.owned=1}&lt;<img src=x onerror=window.owned=1>";
    const long = "very::".repeat(400) + "long";
    const bytes = Buffer.concat([
      Buffer.from(`T1|begin(${script})|a.cpp:1 in ${quotes}\nT1|r(${script})|</script>.cpp:1 in <b>bold</b>\nT2|w(${script})|${long}.cpp:2 in ${long}\nT1|w(${script})|\u202egnp.cpp:3\nT1|end|\n`),
      Buffer.from("T1|w("), Buffer.from([0xff, 0xfe, 0x1b]), Buffer.from(")|x.cpp:1\nT2|w("), Buffer.from([0xff, 0xfe, 0x1b]), Buffer.from(`)|${quotes}\n`),
    ]);
    pages.write("hostile.std", bytes);
    const report = pages.check("hostile", [pages.path("hostile.std")], "--checkers", "all");
    assert.ok(report.findings.length > 2);
    await show("hostile");
    for (const finding of report.findings) {
      await page.evaluate((hash) => (location.hash = hash), `#finding=${finding.fingerprint}`);
      await page.locator("main.finding").waitFor();
      for (const button of await page.getByRole("tab").all()) await button.click();
      const text = await page.locator("main").innerText();
      if (finding.message.includes("<script>")) assert.ok(text.includes(script));
      if (finding.message.includes("\\xff")) assert.ok(text.includes("\\xff\\xfe\\x1b"));
    }
    assert.equal(await page.evaluate(() => window.owned), undefined);
    assert.equal(await page.locator("#app script, #app img, #app b:text-is('bold')").count(), 0);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 1280, `${width} px wide`);
    const shown = await page.locator("body").evaluate((b) => b.innerText);
    assert.ok(!shown.includes("\u202e"), "what turns text around is made visible");
  });

  test("nothing can be loaded or sent, and only the page's own script runs", async () => {
    await show("all");
    const result = await page.evaluate(async () => {
      const failed = await fetch("https://example.org/").then(() => false, () => true);
      const script = document.createElement("script");
      script.textContent = "window.injected = 1";
      document.body.append(script);
      const image = new Image();
      const blocked = await new Promise((resolve) => {
        image.onerror = () => resolve(true);
        image.onload = () => resolve(false);
        image.src = "https://example.org/x.png";
      });
      return { failed, injected: window.injected, blocked };
    });
    assert.deepEqual(result, { failed: true, injected: undefined, blocked: true });
    // The refusals are what was asked for here, and no request has left.
    assert.ok(page.troubles.length >= 3 && page.troubles.every((t) => /^(console|refused): /.test(t)), page.troubles.join("\n"));
    page.troubles.length = 0;
  });

  test("of very many findings some of every kind are shown, in pieces", async () => {
    const [template] = all.findings;
    const findings = Array.from({ length: 5000 }, (_, i) => ({ ...all.findings[i % 7 === 0 ? (i / 7) % all.findings.length : 0], fingerprint: i.toString(16).padStart(16, "0"), message: `${template.message} ${i}` }));
    pages.report("many", { ...all, findings });
    await show("many");
    assert.equal(await page.locator("h1").textContent(), "5,000 findings");
    assert.equal(await page.title(), "5,000 findings – Heddle");
    await page.getByText("This page shows 2,000 of 5,000 findings").waitFor();
    assert.equal(await page.locator(".group").count(), new Set(all.findings.map((f) => f.rule)).size);
    assert.ok((await page.locator("a.row").count()) < 600, "a page of rows at a time");
    const before = await page.locator("a.row").count();
    await page.getByRole("button", { name: /Show more/ }).first().click();
    assert.ok((await page.locator("a.row").count()) > before);
  });
});

describe("compared with an earlier report", () => {
  test("new, known and fixed findings are counted, marked and can be chosen", async () => {
    const [a, b, c, ...rest] = all.findings;
    const earlier = pages.write("earlier.json", JSON.stringify({ ...all, findings: [a, b, c] }));
    pages.report("compared", { ...all, findings: [b, c, ...rest] }, "--compare", earlier);
    await show("compared");
    assert.equal(await page.locator("h1").textContent(), `${all.findings.length - 1} findings`);
    assert.equal(await page.locator("a.row .change.new").count(), rest.length);
    assert.equal(await page.locator("a.row .change.known").count(), 2);
    assert.equal(await page.locator("a.row .change.fixed").count(), 1);
    await page.getByRole("button", { name: "1 fixed" }).click();
    assert.equal(await page.locator("a.row").count(), 1);
    assert.match(await page.locator("a.row").textContent(), new RegExp(a.message.slice(0, 20)));
    await page.getByRole("button", { name: "1 fixed" }).click();
    await page.getByLabel("Group by").selectOption("change");
    assert.deepEqual(await page.locator(".group").evaluateAll((groups) => groups.map((g) => g.getAttribute("aria-label"))), ["new", "known", "fixed"]);
  });

  test("what was not checked again is not called fixed", async () => {
    const [gone, ...rest] = all.findings;
    const earlier = pages.write("earlier.json", JSON.stringify(all));
    pages.report("elsewhere", { ...all, findings: rest.filter((f) => f.input !== gone.input), inputs: all.inputs.filter((i) => i.path !== gone.input) }, "--compare", earlier);
    await show("elsewhere");
    const missing = all.findings.filter((f) => f.input === gone.input).length;
    await page.getByRole("button", { name: "0 fixed" }).waitFor();
    await page.getByRole("button", { name: `${missing} not checked again` }).click();
    assert.equal(await page.locator("a.row .change").getByText("not checked", { exact: true }).count(), missing);
    await page.getByText(`Not an input of this report: ${gone.input}.`).waitFor();
  });

  test("a clean run opens with that, not with the one finding that is gone", async () => {
    const [fixed] = all.findings;
    const earlier = pages.write("earlier.json", JSON.stringify({ ...all, findings: [fixed] }));
    const checkers = all.checkers.map((c) => ({ ...c, verdict: "clean" }));
    pages.report("clean-now", { ...all, checkers, findings: [] }, "--compare", earlier);
    await show("clean-now");
    assert.equal(await page.locator("h1").textContent(), "No findings");
    assert.equal(await page.title(), "No findings – Heddle");
    assert.equal(await page.locator("a.row .change.fixed").count(), 1);
  });
});

describe("for everybody", () => {
  test("all can be done with keys, and ? tells which", async () => {
    await show("all");
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("step on, step back").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.type), "search");
    await page.keyboard.type("withdraw");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator("main.finding").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), "content", "who listens hears the new page");
    const first = await page.locator("h1").textContent();
    const hash = await page.evaluate(() => location.hash);
    await page.keyboard.press("j");
    assert.notEqual(await page.evaluate(() => location.hash), hash);
    await page.keyboard.press("k");
    await page.getByRole("heading", { level: 1, name: first, exact: true }).waitFor();
    if ((await page.getByRole("tab").count()) > 1) {
      await page.keyboard.press("2");
      assert.equal(await page.getByRole("tab").nth(1).getAttribute("aria-selected"), "true");
    }
    await page.keyboard.press("u");
    await page.locator("main.overview").waitFor();
    assert.ok((await page.locator("a.row").count()) < all.findings.length, "the search is kept");
  });

  test("light and dark follow the system, and the switch wins over it", async () => {
    await show("all");
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const becomes = (colour) => page.waitForFunction((wanted) => getComputedStyle(document.body).backgroundColor === wanted, colour);
    const light = await paper();
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await paper();
    assert.notEqual(light, dark);
    await page.keyboard.press("t");
    await becomes(light);
    await page.keyboard.press("t");
    await page.emulateMedia({ colorScheme: "light" });
    await becomes(dark);
    await page.reload();
    await becomes(dark);
  });

  test("a screen reader gets landmarks, names, and every picture in words", async () => {
    const finding = findingOf("HD2001");
    await show("all", finding);
    await page.getByRole("main").waitFor();
    await page.getByRole("navigation", { name: "Findings" }).waitFor();
    const pictures = page.locator("svg[role=img]");
    assert.equal(await pictures.count(), 1, "what is not looked at is not drawn");
    await tab("Graph").click();
    assert.equal(await pictures.count(), 2);
    for (const picture of await pictures.all()) {
      const words = await picture.evaluate((svg) => ({
        name: document.getElementById(svg.getAttribute("aria-labelledby"))?.textContent,
        description: document.getElementById(svg.getAttribute("aria-describedby"))?.innerText,
      }));
      assert.ok(words.name);
      for (const step of finding.steps) assert.ok(words.description.includes(step.phrase));
    }
    const nameless = await page.locator("button, a, input, select").evaluateAll((controls) =>
      controls.filter((c) => !(c.getAttribute("aria-label") || c.textContent.trim() || c.title)).map((c) => c.outerHTML));
    assert.deepEqual(nameless, []);
    assert.equal(await page.locator(".now[aria-live=polite]").count(), 1);
    const ids = await page.locator("[id]").evaluateAll((all) => all.map((e) => e.id));
    assert.equal(new Set(ids).size, ids.length, "ids are unique");
  });

  test("fits a screen of 360 pixels", async () => {
    await show("all");
    await page.setViewportSize({ width: 360, height: 740 });
    for (const finding of [undefined, ...all.findings]) {
      await page.evaluate((hash) => (location.hash = hash), finding ? `#finding=${finding.fingerprint}` : "");
      await page.locator(finding ? "main.finding" : "main.overview").waitFor();
      for (const button of finding ? await page.getByRole("tab").all() : []) await button.click();
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, finding?.message);
    }
  });

  test("prints all pictures and no buttons", async () => {
    const finding = all.findings.find((f) => f.rule === "HD2003");
    await show("all", finding);
    await page.emulateMedia({ media: "print" });
    for (const name of ["Timeline", "Graph", "Witness schedule"]) await page.getByRole("heading", { level: 2, name, exact: true }).waitFor();
    assert.equal(await page.locator("button:visible").filter({ hasText: /copy|auto|\?|←|→/ }).count(), 0);
    await eventually(() => page.locator("svg[role=img]:visible").count(), 3);
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 10_000);
  });
});
