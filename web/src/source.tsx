// The lines of source behind the steps, a column for each thread.
import hljs from "highlight.js/lib/core";
import cpp from "highlight.js/lib/languages/cpp";
import { useMemo } from "preact/hooks";
import { report, type Finding } from "./data";
import { threadsOf } from "./moments";
import type { Part } from "./part";

hljs.registerLanguage("cpp", cpp);

const around = 5; // lines before and after
const widestGap = 24; // between lines that are shown as one piece

interface Mark {
  line: number;
  step: number; // index into steps
}

interface Piece {
  first: number;
  lines: string[];
}

interface Excerpt {
  file: string;
  marks: Mark[];
  pieces: Piece[];
  missing?: string;
}

function excerpts(finding: Finding, part: Part, thread: string): Excerpt[] {
  const files: Excerpt[] = [];
  finding.steps.forEach((step, i) => {
    const frame = step.frames[0];
    if (step.thread !== thread || !frame?.file || !frame.line || !part.steps.has(i)) return;
    let excerpt = files.find((f) => f.file === frame.file);
    if (!excerpt) files.push((excerpt = { file: frame.file, marks: [], pieces: [] }));
    excerpt.marks.push({ line: frame.line, step: i });
  });
  for (const excerpt of files) {
    const source = Object.hasOwn(report.sources, excerpt.file) ? report.sources[excerpt.file] : undefined;
    excerpt.missing = source ? source.missing : "not part of this page";
    if (source && !excerpt.missing) excerpt.pieces = pieces(source.lines, excerpt.marks);
  }
  return files;
}

function pieces(lines: Record<string, string>, marks: Mark[]): Piece[] {
  const wanted = new Set<number>();
  const sorted = marks.map((m) => m.line).sort((a, b) => a - b);
  sorted.forEach((line, i) => {
    const before = sorted[i - 1];
    const from = before !== undefined && line - before <= widestGap ? before : line - around;
    for (let n = from; n <= line + around; n++) if (lines[n] !== undefined) wanted.add(n);
  });
  const result: Piece[] = [];
  for (const n of [...wanted].sort((a, b) => a - b)) {
    const last = result[result.length - 1];
    if (last && last.first + last.lines.length === n) last.lines.push(lines[n]!);
    else result.push({ first: n, lines: [lines[n]!] });
  }
  return result;
}

interface Token {
  text: string;
  kind: string; // class of highlight.js; empty: none
}

// The tokens of each line. The marked-up text is only read, never put into the page.
function highlighted(lines: string[]): Token[][] {
  const markup = hljs.highlight(lines.join("\n"), { language: "cpp", ignoreIllegals: true }).value;
  const result: Token[][] = [[]];
  const walk = (node: Node, kind: string) => {
    if (node.nodeType === Node.TEXT_NODE) {
      (node.textContent ?? "").split("\n").forEach((text, i) => {
        if (i > 0) result.push([]);
        if (text) result[result.length - 1]!.push({ text, kind });
      });
    } else {
      const own = (node as Element).className?.toString() || kind;
      node.childNodes.forEach((child) => walk(child, own));
    }
  };
  walk(new DOMParser().parseFromString(`<span>${markup}</span>`, "text/html").body, "");
  return result;
}

function PieceView({ file, piece, marks, current }: { file: string; piece: Piece; marks: Mark[]; current?: number }) {
  const lines = useMemo(() => highlighted(piece.lines), [piece]);
  return (
    <ol class="code" start={piece.first} tabIndex={0} aria-label={`${file}, from line ${piece.first}`}>
      {piece.lines.map((_, i) => {
        const number = piece.first + i;
        const here = marks.filter((m) => m.line === number);
        const isCurrent = here.some((m) => m.step === current);
        return (
          <li class={`${here.length ? "marked" : ""} ${isCurrent ? "current" : ""}`} value={number}>
            <span class="line-number" aria-hidden="true">
              {number}
            </span>
            <span class="steps-here">
              {here.map((m) => (
                <b>
                  <span class="unseen">step </span>
                  {m.step + 1}
                  <span class="unseen">, </span>
                </b>
              ))}
            </span>
            <code>{lines[i]?.map((token) => <span class={token.kind}>{token.text}</span>)}</code>
          </li>
        );
      })}
    </ol>
  );
}

export function SourceView({ finding, part, current }: { finding: Finding; part: Part; current?: number }) {
  const columns = useMemo(
    () => threadsOf(finding, finding.steps).map((thread) => ({ thread, files: excerpts(finding, part, thread) })).filter((c) => c.files.length > 0),
    [finding, part],
  );
  if (columns.length === 0) return <p class="quiet">The steps name no line of a source file.</p>;
  return (
    <div class="sources">
      {columns.map(({ thread, files }) => (
        <section class="thread-source" aria-label={`Source of ${thread}`}>
          <h3>{thread}</h3>
          {files.map((excerpt) => (
            <>
              <p class="file-name">{excerpt.file}</p>
              {excerpt.missing && (
                <p class="quiet missing">
                  {linesOf(excerpt.marks)}; the file is {excerpt.missing}
                </p>
              )}
              {excerpt.pieces.map((piece) => (
                <PieceView file={excerpt.file} piece={piece} marks={excerpt.marks} current={current} />
              ))}
            </>
          ))}
        </section>
      ))}
    </div>
  );
}

function linesOf(marks: Mark[]): string {
  const numbers = [...new Set(marks.map((m) => m.line))].sort((a, b) => a - b);
  return `${numbers.length === 1 ? "line" : "lines"} ${numbers.join(", ")}`;
}

// A listing of C++ without line numbers, for the pages of the rules.
export function Listing({ text, isCpp }: { text: string; isCpp: boolean }) {
  const lines = text.split("\n");
  const tokens = isCpp ? highlighted(lines) : lines.map((line) => [{ text: line, kind: "" }]);
  return (
    <pre>
      <code>
        {tokens.map((line) => (
          <>
            {line.map((token) => (
              <span class={token.kind}>{token.text}</span>
            ))}
            {"\n"}
          </>
        ))}
      </code>
    </pre>
  );
}
