// Small pieces that several views share.
import { useState } from "preact/hooks";
import { changes, strengths, type Change, type Strength } from "./data";

// Full, half or empty: how certain a finding is shows without colour.
export function StrengthMark({ strength }: { strength: Strength }) {
  return (
    <svg class={`strength ${strength}`} width={11} height={11} viewBox="0 0 11 11" aria-hidden="true">
      <circle cx={5.5} cy={5.5} r={4.5} />
      {strength === "observed" && <circle class="full" cx={5.5} cy={5.5} r={4.5} />}
      {strength === "predicted" && <path class="full" d="M5.5,1 A4.5,4.5 0 0 0 5.5,10 Z" />}
    </svg>
  );
}

export function StrengthLabel({ strength }: { strength: Strength }) {
  return (
    <span class="strength-label" title={strengths[strength]}>
      <StrengthMark strength={strength} /> {strength}
    </span>
  );
}

export function ChangeTag({ change }: { change?: Change }) {
  if (!change) return null;
  return (
    <span class={`change ${change}`} title={changes[change]}>
      {change === "unchecked" ? "not checked" : change}
    </span>
  );
}

// Text to take along.
export function Copyable({ text, label }: { text: string; label: string }) {
  const [said, say] = useState("");
  const copy = async (button: HTMLButtonElement) => {
    try {
      await navigator.clipboard.writeText(text);
      say("copied");
    } catch {
      const range = document.createRange();
      range.selectNodeContents(button.parentElement!.querySelector("pre")!);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      say("selected");
    }
    setTimeout(() => say(""), 2000);
  };
  return (
    <div class="copyable">
      <pre tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <button type="button" class="small" onClick={(event) => void copy(event.currentTarget)} aria-label={`Copy: ${label}`}>
        <span aria-live="polite">{said || "copy"}</span>
      </button>
    </div>
  );
}
