// Makes dist/report.html: the page with its script and style inside, and a place for the data (src/report/html_report.cpp
// fills it). The same sources make the same bytes.
//
//   node build.mjs            writes dist/report.html
//   node build.mjs FILE       writes FILE instead
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const most = 400 * 1000; // bytes

const bundle = async (entry) => {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    charset: "ascii",
    target: "es2022",
    format: entry.endsWith(".css") ? undefined : "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
  });
  return result.outputFiles[0].text.trim();
};

// Inside a script element "<!--" and "<script" change how its end is found. In the bundle they stand in strings and regular
// expressions only, where an escape means the same.
const script = (await bundle("src/main.tsx")).replace(/<(?=!--|\/?script)/gi, "\\x3c");
const style = await bundle("src/style.css");
if (/<\/style/i.test(style)) throw new Error("the style would end its own element");

// Only this script and this style may run, and nothing may be loaded or sent.
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
const page = readFileSync(`${here}src/page.html`, "utf8")
  .replace("@POLICY@", () => policy)
  .replace("@STYLE@", () => style)
  .replace("@SCRIPT@", () => script);
if (page.length > most) throw new Error(`the page has ${page.length} bytes, more than ${most}`);
if (/[^\x00-\x7f]/.test(page)) throw new Error("the page is not ASCII");
const output = process.argv[2] ?? `${here}dist/report.html`;
writeFileSync(output, page);
console.log(`${output}: ${page.length} bytes (script ${script.length}, style ${style.length})`);
