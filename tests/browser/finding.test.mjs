// The page of a finding in a real browser: every view of every kind of finding, made by the built tool from real traces.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { all, findingOf, page, pages, panel, show, tab } from "./fixture.mjs";
import { root } from "./support.mjs";

describe("a finding", () => {
  // A circle of so many transactions, each with its block and its lock.
  const long = (count, threads = 20) => {
    const finding = structuredClone(findingOf("HD2001"));
    const thread = (i) => `worker-thread-${i % threads}`;
    finding.fingerprint = `long${count}`;
    finding.threads = Array.from({ length: Math.min(threads, count) }, (_, i) => thread(i));
    finding.steps = Array.from({ length: count }, (_, i) => ({
      ...finding.steps[0], event: 3 * i + 1, transaction: 3 * i, thread: thread(i), operation: `w(x${i})`, block: `block_${i}`,
      phrase: `wrote registry::table::number_of_entries_${i}`, because: `after step ${i || count}`,
    }));
    finding.spans = finding.steps.flatMap((step) => ["block", "lock"].map((kind, k) => ({ kind, thread: step.thread, name: k ? `lock_${step.event}` : step.block, from: step.event - 1, to: step.event + 1 })));
    return finding;
  };

  test("an argument of thousands of steps is drawn in parts, and stepping leads from part to part", async () => {
    const finding = long(2000);
    pages.report("long", { ...all, findings: [finding, { ...long(2001, 700), fingerprint: "wide" }] });
    await show("long", finding);
    await page.getByText("show steps 1 to 200 of 2,001").waitFor();
    await tab("Graph").click();
    assert.equal(await panel().locator(".node").count(), 200);
    await page.getByRole("button", { name: "Later steps" }).click();
    await page.getByText("show steps 201 to 400 of 2,001").waitFor();
    await page.locator(".now").getByText("number_of_entries_200").waitFor();
    assert.equal(await panel().locator(".node.current").count(), 1);
    assert.equal(await panel().locator(".edge.current").count(), 1);
    await page.keyboard.press("ArrowLeft");
    await page.getByText("show steps 1 to 200 of 2,001").waitFor();
    assert.equal(await panel().locator(".node.current").count(), 1);
    const buttons = page.locator(".steps li button");
    for (const button of [buttons.first(), buttons.last()]) {
      await button.click();
      assert.equal(await page.locator(".steps [aria-current=step]").count(), 1);
    }
    await page.keyboard.press("j");
    await page.getByText("show steps 1 to 200 of 2,002").waitFor();
    await page.keyboard.press("1");
    assert.equal(await panel().locator(".operation").count(), 200);
  });

  test("names of many threads stand apart, and labels hold whole names", async () => {
    const finding = long(20);
    pages.report("threads", { ...all, findings: [finding] });
    await show("threads", finding);
    const names = await panel().locator(".lane-name").evaluateAll((texts) => texts.map((t) => ({ text: t.firstChild.textContent, x: t.getCTM().e, slanted: t.getCTM().b !== 0 })));
    assert.deepEqual(names.map((n) => n.text), finding.threads);
    names.forEach((name, i) => assert.ok(name.slanted && (i === 0 || name.x - names[i - 1].x > 18), name.text));
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 740 });
      await page.waitForTimeout(50);
      const labels = await panel().locator(".operation").evaluateAll((all) => all.map((o) => [...o.querySelectorAll(".title")].map((t) => t.textContent).join("")));
      labels.forEach((label, i) => assert.ok(label.endsWith(`number_of_entries_${i}`), label));
    }
  });

  test("every view of every finding draws something, within its frame", async () => {
    await show("all");
    for (const finding of all.findings) {
      await page.evaluate((hash) => (location.hash = hash), `#finding=${finding.fingerprint}`);
      await page.getByRole("heading", { level: 1, name: finding.message }).waitFor();
      for (const button of await page.getByRole("tab").all()) {
        await button.click();
        const drawn = await panel().evaluate((element) => {
          const svg = element.querySelector("svg[role=img]");
          if (!svg) return { width: element.clientWidth, shapes: element.querySelectorAll("ol.chain li").length + 1, outside: [] };
          const frame = svg.getBoundingClientRect();
          const outside = [...svg.querySelectorAll("text,circle,rect")].filter((shape) => {
            const box = shape.getBoundingClientRect();
            return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
          });
          return { width: frame.width, shapes: svg.querySelectorAll("circle,rect").length, outside: outside.map((s) => s.outerHTML) };
        });
        const where = `${finding.rule} ${finding.message}: ${await button.textContent()}`;
        assert.ok(drawn.width > 100 && drawn.shapes > 1, where);
        assert.deepEqual(drawn.outside, [], where);
      }
    }
  });

  test("stepping highlights one edge at a time and says its sentence", async () => {
    const finding = findingOf("HD2001");
    await show("all", finding);
    assert.equal(await panel().locator(".edge.current").count(), 0);
    const said = [];
    for (const step of finding.steps) {
      await page.keyboard.press("ArrowRight");
      said.push(step.because);
      const now = await page.locator(".now").textContent();
      assert.ok(now.includes(step.thread) && now.includes(step.phrase) && now.includes(step.because), now);
      assert.equal(await panel().locator(".edge.current").count(), step.because ? 1 : 0);
      assert.equal(await panel().locator(".operation.current").count(), 1);
      assert.equal(await page.locator(".steps [aria-current=step]").count(), 1);
    }
    assert.ok(said.some(Boolean));
    await page.getByRole("button", { name: "Step back" }).click();
    assert.ok((await page.locator(".now").textContent()).includes(finding.steps[finding.steps.length - 2].phrase));
    await page.keyboard.press("Home");
    assert.equal(await panel().locator(".operation.current, .edge.current").count(), 0);
  });

  test("the timeline has a lane for each thread, boxes for blocks, bars for locks, in the order of the trace", async () => {
    const finding = all.findings.find((f) => f.rule === "HD2001" && f.input.includes("locked"));
    await show("all", finding);
    assert.deepEqual(await panel().locator(".lane-name").evaluateAll((names) => names.map((n) => n.firstChild.textContent)), finding.threads);
    const blocks = finding.spans.filter((s) => s.kind === "block");
    const locks = finding.spans.filter((s) => s.kind === "lock");
    assert.ok(blocks.length > 1 && locks.length > 2, "the trace tells them");
    assert.equal(await panel().locator(".block").count(), blocks.length);
    assert.equal(await panel().locator(".lock").count(), locks.length);
    assert.deepEqual(await panel().locator(".block.blamed .block-name").allTextContents(), finding.blocks);
    const rows = await panel().locator(".operation").evaluateAll((dots) =>
      dots.map((d) => ({ y: d.querySelector("circle").getBoundingClientRect().y, title: d.querySelector(".title").textContent })).sort((a, b) => a.y - b.y));
    assert.deepEqual(rows.map((r) => r.title), [...finding.steps].sort((a, b) => a.event - b.event).map((s) => s.phrase));
    // Every lock has its name in the picture, not only where it can be pointed at.
    assert.deepEqual(new Set(await panel().locator("text.lock-name").allTextContents()), new Set(locks.map((lock) => `acquired ${lock.name}`)));
    await panel().locator("figcaption").getByText("lock held: mu", { exact: true }).waitFor();
    // The lock is given back between the two steps of the block: its bars leave a gap.
    const bars = await panel().locator(".lock rect").evaluateAll((rects) => rects.map((r) => ({ x: r.x.baseVal.value, top: r.y.baseVal.value, bottom: r.y.baseVal.value + r.height.baseVal.value })));
    const own = bars.filter((b) => b.x === Math.min(...bars.map((c) => c.x))).sort((a, b) => a.top - b.top);
    assert.equal(own.length, 2);
    assert.ok(own[0].bottom < own[1].top);
  });

  test("the graph is the circle of the argument with the blamed transaction marked", async () => {
    const finding = findingOf("HD2001");
    await show("all", finding);
    await tab("Graph").click();
    assert.deepEqual(await panel().locator(".node-title").evaluateAll((titles) => titles.map((t) => t.firstChild.textContent)), ["Account::withdraw", "Account::deposit"]);
    assert.match(await panel().locator(".node.blamed").textContent(), /Account::withdraw.*to blame/);
    assert.deepEqual(await panel().locator(".graph-edge .number").allTextContents(), ["2", "3"]);
    await panel().locator(".graph-edge").nth(1).click();
    assert.ok((await page.locator(".now").textContent()).includes(finding.steps[2].because));
    assert.equal(await panel().locator(".edge.current").count(), 1);
  });

  test("a block of several threads is one transaction", async () => {
    await show("all", findingOf("HD3002"));
    await tab("Graph").click();
    assert.equal(await panel().locator(".node").count(), 3);
    assert.match(await panel().locator(".node.blamed").textContent(), /sort/);
    const threads = new Set(findingOf("HD3002").steps.filter((s) => s.block === "sort").map((s) => s.thread));
    assert.ok(threads.size > 1);
    const shown = await panel().locator(".node.blamed .node-thread").evaluate((t) => t.firstChild.textContent);
    for (const thread of threads) assert.ok(shown.split(", ").includes(thread), `${thread} is in ${shown}`);
  });

  test("a lock-order cycle shows who waits for whom", async () => {
    const finding = findingOf("HD1003");
    await show("all", finding);
    assert.equal(await panel().locator(".edge.waits").count(), 2);
    await tab("Who waits for whom").click();
    assert.deepEqual(await panel().locator(".node-title").evaluateAll((titles) => titles.map((t) => t.firstChild.textContent)), finding.threads);
    assert.equal(await panel().locator(".graph-edge").count(), 2);
  });

  // Locks in a circle, each thread taking its own and its neighbour's.
  const circle = (count) => {
    const take = (i, lock, what) => `w${i}|${what}(m${lock})|ring.cpp:${10 + lock} in philosopher_number_${i}`;
    const lines = Array.from({ length: count }, (_, i) => [take(i, i, "acq"), take(i, (i + 1) % count, "acq"), take(i, (i + 1) % count, "rel"), take(i, i, "rel")]).flat();
    return pages.check(`circle${count}`, [pages.write(`circle${count}.std`, lines.join("\n") + "\n")], "--checkers", "deadlock");
  };

  for (const [count, width] of [[14, 1280], [6, 360]])
    test(`the labels of ${count} threads are in the picture on ${width} pixels, and stepping brings each into view`, async () => {
      const [finding] = circle(count).findings;
      await show(`circle${count}`, finding);
      await page.setViewportSize({ width, height: 740 });
      await page.waitForTimeout(100);
      const labels = await panel().locator("svg[role=img]").evaluate((svg) => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text.title, text.detail")].filter((t) => t.textContent).map((t) => ({ text: t.textContent, inside: t.getBoundingClientRect().right <= frame.right + 1 }));
      });
      assert.ok(labels.length >= count);
      assert.deepEqual(labels.filter((l) => !l.inside || l.text.length < 4), []);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      const isVisible = (selector, within) =>
        page.evaluate(([selector, within]) => {
          const element = [...document.querySelectorAll(selector)].find((e) => e.getClientRects().length);
          const box = element.getBoundingClientRect();
          const frame = element.closest(within).getBoundingClientRect();
          return box.left >= Math.max(0, frame.left) - 1 && box.right <= Math.min(innerWidth, frame.right) + 1 && box.top >= Math.max(0, frame.top) - 1 && box.bottom <= Math.min(innerHeight, frame.bottom) + 1;
        }, [selector, within]);
      await page.keyboard.press("+");
      await page.keyboard.press("+");
      for (let i = 0; i < finding.steps.length; i++) {
        await page.keyboard.press("ArrowRight");
        await page.locator(".steps li").nth(i).and(page.locator(".current")).waitFor();
        await page.waitForTimeout(50);
        assert.ok(await isVisible(".operation.current circle", ".scroller"), `the dot of step ${i + 1}`);
        if (width > 1000) assert.ok(await isVisible(".steps li.current", ".steps"), `step ${i + 1} of the list`);
      }
      await tab("Who waits for whom").click();
      await page.waitForTimeout(100);
      assert.ok(await isVisible(".node.current rect", ".scroller"), "the same step in the other picture");
    });

  test("names keep their case wherever they stand", async () => {
    const report = circle(2);
    const [finding] = report.findings;
    assert.ok(finding.steps.some((s) => s.because.startsWith("w0 ")), "a sentence begins with a name");
    await show("circle2", finding);
    const text = await page.locator("main").innerText();
    for (const { because } of finding.steps) assert.ok(text.includes(because), because);
    assert.doesNotMatch(text, /\bW[01]\b/);
  });

  test("a race has no circle to draw", async () => {
    await show("all", findingOf("HD1001"));
    assert.equal(await tab("Graph").count(), 0);
    assert.equal(await panel().locator(".edge.conflict").count(), 1);
  });

  test("the witness schedule shows every operation in its order", async () => {
    const finding = all.findings.find((f) => f.rule === "HD2003" && f.input.includes("lucky_run"));
    await show("all", finding);
    await tab("Witness schedule").click();
    const shown = await panel().locator(".operation").evaluateAll((dots) =>
      dots.map((d) => ({ y: d.querySelector("circle").getBoundingClientRect().y, title: d.querySelector(".title").textContent })).sort((a, b) => a.y - b.y).map((d) => d.title));
    const accesses = finding.schedule.filter((s) => !/^(begin|end|acq|rel)/.test(s.operation));
    assert.deepEqual(shown, accesses.map((s) => s.phrase));
    assert.equal(await panel().locator(".lock").count(), finding.schedule.filter((s) => s.operation.startsWith("acq(")).length);
    await page.getByText("--emit-witness witness.std").waitFor();
  });

  test("store buffers show what waits, until when, and where a fence helps", async () => {
    const finding = findingOf("HD4001", { findings: all.findings.filter((f) => f.delays) });
    await show("all", finding);
    await tab("Store buffers").click();
    assert.equal(await panel().locator(".delay").count(), finding.delays.length);
    assert.equal(await panel().locator(".fence").count(), finding.fences.length);
    const { bars, dots } = await panel().evaluate((element) => ({
      bars: [...element.querySelectorAll(".delay rect")].map((r) => r.getBoundingClientRect().bottom),
      dots: Object.fromEntries([...element.querySelectorAll(".operation.argued")].map((o) => [o.querySelector(".number")?.textContent, o.querySelector("circle").getBoundingClientRect().bottom])),
    }));
    finding.delays.forEach((delay, i) => {
      const until = finding.steps.findIndex((s) => s.event === delay.until.event && s.thread === delay.until.thread);
      assert.ok(bars[i] > dots[until + 1], "the write reaches memory after what it waits for");
    });
    assert.equal(await panel().getByText("sees the old value").count(), finding.delays.length);
    await panel().locator(".operation.argued").nth(1).locator("circle.target").click();
    const number = await panel().locator(".operation.current .number").textContent();
    assert.ok((await page.locator(".now").textContent()).includes(finding.steps[Number(number) - 1].phrase));
  });

  test("chains beside the argument are shown, whatever they are", async () => {
    const finding = structuredClone(findingOf("HD1001"));
    finding.chains = [
      { title: "why balance is relevant", steps: finding.steps },
      { title: "another reason", steps: finding.steps.slice(1) },
    ];
    pages.report("chains", { ...all, findings: [finding] });
    await show("chains");
    await tab("Reasons").click();
    await panel().getByRole("heading", { name: "why balance is relevant", exact: true }).waitFor();
    assert.equal(await panel().locator("li").count(), 2 * finding.steps.length - 1);
    assert.match(await panel().textContent(), new RegExp(finding.steps[1].phrase));
  });

  test("source is shown side by side with the right lines marked, and missing source is said to be", async () => {
    const trace = pages.write("bank.std", ["T1|begin(withdraw)|", "T1|r(b)|examples/bank.cpp:27 in f", "T2|w(b)|examples/bank.cpp:14 in g < gone.cpp:3", "T1|w(b)|examples/bank.cpp:21 in f", "T1|end|", "T3|w(b)|elsewhere.cpp:7", "T3|begin(f)|", "T3|r(c)|elsewhere.cpp:7", "T2|w(c)|a.cpp:1", "T3|w(c)|elsewhere.cpp:7", "T3|end|", ""].join("\n"));
    const report = pages.check("source", [trace], "--checkers", "atomicity,race");
    const finding = findingOf("HD2001", report);
    await show("source", finding);
    const lines = readFileSync(join(root, "examples/bank.cpp"), "utf8").split("\n");
    const columns = page.locator(".thread-source");
    assert.equal(await columns.count(), 2);
    const shown = await columns.first().locator(".code li").evaluateAll((items) =>
      items.map((li) => ({ number: li.value, text: li.querySelector("code").textContent, steps: li.querySelector(".steps-here").textContent.trim() })));
    for (const { number, text } of shown) assert.equal(text, lines[number - 1], `line ${number}`);
    assert.deepEqual(shown.filter((l) => l.steps).map((l) => [l.number, l.steps]), [[21, "step 3,"], [27, "step 1,"]]);
    const left = await columns.first().boundingBox();
    const right = await columns.nth(1).boundingBox();
    assert.ok(Math.abs(left.y - right.y) < 2 && right.x > left.x, "side by side");
    await page.goto(pages.url("source") + `#finding=${report.findings.find((f) => f.steps.some((s) => s.site.includes("elsewhere"))).fingerprint}`);
    await page.getByText("line 7; the file is not found where this page was made").waitFor();
    const twice = report.findings.find((f) => f.steps.filter((s) => s.site.includes("elsewhere")).length > 1);
    await page.goto(pages.url("source") + `#finding=${twice.fingerprint}`);
    await page.getByText("line 7; the file is not found where this page was made").waitFor();
  });

  test("what to do with it: command, fingerprint, suppression, the rule's page", async () => {
    const finding = findingOf("HD2001");
    await show("all", finding);
    const todo = page.locator(".to-do");
    await todo.getByText(all.command).waitFor();
    await todo.getByText(`heddle check ${finding.input} --checkers atomicity`, { exact: true }).waitFor();
    await todo.getByText(finding.fingerprint).waitFor();
    await todo.getByText('rule = "HD2001"').waitFor();
    await todo.getByRole("button", { name: "What it means and how to fix it" }).click();
    await todo.getByRole("heading", { name: "How to fix it" }).waitFor();
    assert.ok((await todo.locator(".markdown pre .hljs-type, .markdown pre .hljs-keyword").count()) > 0, "C++ is highlighted");
    await page.getByRole("link", { name: "HD2001 atomicity-violation" }).click();
    await page.getByRole("heading", { level: 1, name: "HD2001 atomicity-violation" }).waitFor();
  });

  test("only what was checked as a trace is to be checked again as one", async () => {
    const finding = findingOf("HD2001");
    const { input } = finding;
    for (const [command, narrow] of [
      ["heddle try check.cpp", undefined],
      ["HEDDLE_OPTIONS='heddle check x' heddle try x.cpp", undefined],
      ["heddle check -", undefined],
      [`heddle check ${all.inputs[3].path} ${input} -c all --html=x.html --spec 'a b.toml' -o - --exact`, `heddle check ${input} --checkers atomicity --spec 'a b.toml' --exact`],
      [`HEDDLE_OPTIONS='it'\\''s' heddle check ${input}`, `HEDDLE_OPTIONS='it'\\''s' heddle check ${input} --checkers atomicity`],
    ]) {
      pages.report("command", { ...all, command, findings: [finding] });
      await show("command", finding);
      await page.locator(".to-do").getByText(command, { exact: true }).waitFor();
      const shown = page.getByLabel("only this checker and input", { exact: true });
      assert.deepEqual((await shown.allTextContents()).map((text) => text.trim()), narrow ? [narrow] : [], command);
      await page.close();
    }
    await show("command", finding);
  });

  test("arrows step also after a click at a tab, and go from tab to tab for who comes with keys", async () => {
    await show("all", findingOf("HD2001"));
    await tab("Graph").click();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator(".position").textContent(), `1 of ${findingOf("HD2001").steps.length}`);
    assert.equal(await tab("Graph").getAttribute("aria-selected"), "true");
    await tab("Timeline").click();
    await page.keyboard.press("ArrowLeft");
    assert.match(await page.locator(".position").textContent(), /steps/);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowRight");
    assert.equal(await tab("Graph").getAttribute("aria-selected"), "true");
    await page.keyboard.press("Home");
    assert.equal(await tab("Timeline").getAttribute("aria-selected"), "true");
    assert.match(await page.locator(".position").textContent(), /steps/);
  });

  test("a zoomed picture stays in its frame, is printed whole, and the next finding's is not zoomed", async () => {
    await show("all", findingOf("HD2001"));
    const inner = panel().locator("svg[role=img] > g");
    for (let i = 0; i < 4; i++) await page.keyboard.press("+");
    const frame = await panel().locator("svg[role=img]").boundingBox();
    await page.mouse.move(frame.x + 20, frame.y + 20);
    await page.mouse.down();
    await page.mouse.move(frame.x + 600, frame.y + 500, { steps: 5 });
    await page.mouse.up();
    const [x, y, scale] = (await inner.getAttribute("transform")).match(/-?[\d.]+(e-?\d+)?/g).map(Number);
    assert.ok(Math.abs(x) < 0.01 && Math.abs(y) < 0.01 && scale > 2, `the upper left corner is the end: ${x}, ${y}`);
    await page.emulateMedia({ media: "print" });
    assert.equal(await inner.evaluate((g) => getComputedStyle(g).transform), "none");
    await page.emulateMedia({ media: "screen" });
    const before = await page.locator(".crumbs").textContent();
    await page.keyboard.press("j");
    await page.waitForFunction((text) => document.querySelector(".crumbs").textContent !== text, before);
    assert.doesNotMatch((await inner.getAttribute("transform")) ?? "", /scale\((?!1\))/);
  });

  test("zoom by key and button, and back", async () => {
    await show("all", findingOf("HD2001"));
    const inner = panel().locator("svg[role=img] > g");
    await page.keyboard.press("+");
    assert.match(await inner.getAttribute("transform"), /scale\(1\.25\)/);
    await panel().locator("svg[role=img]").hover();
    const before = await inner.getAttribute("transform");
    await page.mouse.down();
    await page.mouse.move(300, 500, { steps: 3 });
    await page.mouse.up();
    assert.notEqual(await inner.getAttribute("transform"), before);
    await panel().getByRole("button", { name: "As it was" }).click();
    assert.match(await inner.getAttribute("transform"), /translate\(0,0\) scale\(1\)/);
  });
});
