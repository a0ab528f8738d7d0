// What to do with a finding: make it again, know it again, accept it, read about its rule.
import { useState } from "preact/hooks";
import { findings, report, type Finding } from "./data";
import { Markdown } from "./markdown";
import { Copyable } from "./parts";
import { hashOf } from "./route";

export function WhatToDo({ finding }: { finding: Finding }) {
  const rule = report.rules.find((r) => r.id === finding.rule);
  const [shown, show] = useState(false);
  const narrow = narrowCommand(finding);
  return (
    <section class="to-do" aria-label="What to do with it">
      <div>
        <h2>Reproduce</h2>
        {narrow && <Copyable text={narrow} label="only this checker and input" />}
        {narrow && <p class="quiet">All of this report:</p>}
        {report.command ? (
          <Copyable text={report.command} label="the command of this run" />
        ) : (
          <p class="quiet">Run the program again: the report does not tell how it was run.</p>
        )}
        {finding.schedule && narrow && (
          <>
            <p class="quiet">The witness schedule as a trace of its own:</p>
            <Copyable text={`${narrow} --emit-witness witness.std`} label="write the witness schedule" />
          </>
        )}
        <h2>Fingerprint</h2>
        <p class="quiet">The same in every run that shows this defect.</p>
        <Copyable text={finding.fingerprint} label="fingerprint" />
      </div>
      <div>
        <h2>Suppress</h2>
        <p class="quiet">
          Accepted? Put this into a file, say why in <code>reason</code>, and give the file with <code>--suppressions</code>.
        </p>
        <Copyable text={finding.suppress.trim()} label="suppression" />
      </div>
      {rule && (
        <div class="rule-help">
          <h2>
            {rule.id} {rule.name}
          </h2>
          <p>{rule.brief}</p>
          {rule.page && (
            <button type="button" class="small" aria-expanded={shown} onClick={() => show(!shown)}>
              {shown ? "Hide the rule’s page" : "What it means and how to fix it"}
            </button>
          )}
          {shown && <Markdown text={rule.page} />}
        </div>
      )}
    </section>
  );
}

// As src/cli/command_line.cpp writes it.
const checksTraces = /^(HEDDLE_OPTIONS=(?:[^\s'\\]|'[^']*'|\\')* )?heddle check /;
const word = /(?:[^\s'\\]|'[^']*'|\\')+/g;
// Options that the narrow command has itself, or that only say where reports go; each with a value.
const notKept = /^(?:--checkers|-c|--format|-f|--output|-o|--html|--dot|--emit-witness)(=|$)/;

// The same with one checker and one trace; nothing where the report was not made of traces.
function narrowCommand(finding: Finding): string {
  const start = checksTraces.exec(report.command);
  if (!start || !report.inputs.some((input) => input.path === finding.input)) return "";
  const inputs = new Set(report.inputs.map((input) => shellWord(input.path)));
  const words: string[] = report.command.slice(start[0].length).match(word) ?? [];
  if (!words.includes(shellWord(finding.input))) return ""; // standard input, or a name that cannot be written
  const kept: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const own = notKept.exec(words[i]!);
    if (own) i += own[1] === "=" ? 0 : 1;
    else if (!inputs.has(words[i]!)) kept.push(words[i]!);
  }
  return [`${start[1] ?? ""}heddle check`, shellWord(finding.input), "--checkers", finding.checker, ...kept].join(" ");
}

const shellWord = (word: string) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export function RulePage({ id }: { id: string }) {
  const rule = report.rules.find((r) => r.id === id);
  const of = findings.filter((f) => f.rule === id);
  return (
    <main id="content" class="rule" tabIndex={-1}>
      <nav class="crumbs" aria-label="Findings">
        <a href="#">Overview</a>
      </nav>
      <h1>
        {id} {rule?.name}
      </h1>
      <p class="conclusion">{rule ? rule.brief : "This report does not explain the rule."}</p>
      {of.length > 0 && (
        <ul class="plain">
          {of.slice(0, 20).map((f) => (
            <li>
              <a href={hashOf(f)}>{f.message}</a>
            </li>
          ))}
        </ul>
      )}
      {rule?.page && <Markdown text={rule.page} />}
    </main>
  );
}
