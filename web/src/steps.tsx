// The steps of a finding in words: those of the argument, and those of the chains behind them.
import { useMemo } from "preact/hooks";
import type { Point } from "./argument";
import { counted, type Finding, type Step } from "./data";
import { firsts, identity } from "./moments";
import type { Part } from "./part";

export const stepList = "steps-in-words"; // its id

interface StepListProps {
  finding: Finding;
  part: Part;
  points: Point[];
  at: number;
  setAt: (at: number) => void;
}

export function StepList({ finding, part, points, at, setAt }: StepListProps) {
  return (
    <div class="steps">
      <h2>Steps</h2>
      <ol id={stepList} start={part.first + 1}>
        {points.slice(part.first, part.end).map((point, k) => {
          const i = part.first + k;
          const step = finding.steps[point.step]!;
          const returns = point.step === 0 && i > 0;
          return (
            <li class={i === at ? "current" : ""}>
              <button type="button" aria-current={i === at ? "step" : undefined} onClick={() => setAt(i === at ? -1 : i)}>
                <b class="badge">{point.step + 1}</b>
                <span>
                  <span class="deed">
                    <b>{step.thread}</b> {step.phrase}
                    {returns && <span class="quiet"> (again)</span>}
                  </span>
                  {!returns && <Places step={step} />}
                  {point.sentence && <span class="because">{point.sentence}</span>}
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function Places({ step }: { step: Step }) {
  const [innermost, ...callers] = step.frames;
  return (
    <span class="places">
      {innermost && <span>{innermost.file ? `${innermost.file}:${innermost.line ?? "?"}` : innermost.text}</span>}
      {(step.block || innermost?.function) && <span>in {step.block || innermost?.function}</span>}
      {step.held && <span>{step.held}</span>}
      {callers.slice(0, 4).map((caller) => (
        <span class="caller">
          called from {caller.file ? `${caller.file}:${caller.line ?? "?"}` : caller.text}
          {caller.file && caller.function ? ` in ${caller.function}` : ""}
        </span>
      ))}
      {callers.length > 4 && <span class="caller">and {counted(callers.length - 4, "more caller")}</span>}
    </span>
  );
}

const longestChain = 200; // steps shown

// A list without numbers of its own: they would be taken for those of the argument.
export function ChainView({ steps, finding }: { steps: Step[]; finding: Finding }) {
  const argued = useMemo(() => firsts(finding.steps), [finding]);
  const number = (step: Step) => argued.get(identity(step));
  return (
    <ol class="chain">
      {steps.slice(0, longestChain).map((step) => (
        <li>
          {number(step) === undefined ? <b class="badge none" aria-hidden="true" /> : <b class="badge">{number(step)! + 1}</b>}
          <span>
            <span class="deed">
              <b>{step.thread}</b> {step.phrase}
            </span>
            <Places step={step} />
            {step.because && <span class="because">{step.because}</span>}
          </span>
        </li>
      ))}
      {steps.length > longestChain && <li class="quiet">and {counted(steps.length - longestChain, "more step")}, which the findings file has</li>}
    </ol>
  );
}
