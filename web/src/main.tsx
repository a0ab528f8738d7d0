// The page: a bar on top, below it the overview, a finding or a rule.
import { render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { findings, isGone, report } from "./data";
import { FindingPage } from "./finding";
import { keyHelp, onKey } from "./keys";
import { headline, inOrder, noFilter, Overview } from "./overview";
import { findingNamed, hashOf, route, type Route } from "./route";
import { RulePage } from "./to_do";

type Theme = "system" | "light" | "dark";
const themes: Theme[] = ["system", "light", "dark"];
const storeAs = "heddle-theme";

function rememberedTheme(): Theme {
  try {
    const theme = localStorage.getItem(storeAs) as Theme;
    return themes.includes(theme) ? theme : "system";
  } catch {
    return "system"; // some browsers give pages from a file no storage
  }
}

function App() {
  const [at, setAt] = useState(route);
  const [filter, setFilter] = useState(noFilter);
  const [theme, setTheme] = useState(rememberedTheme);
  const help = useRef<HTMLDialogElement>(null);
  const among = useMemo(() => inOrder(filter), [filter]);

  useEffect(() => {
    const onHash = () => setAt(route());
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, []);
  // Once the new page is there: who goes on by key or listens begins at its top, or, back in the overview, at the finding left.
  const before = useRef<Route>(undefined);
  useLayoutEffect(() => {
    const left = before.current;
    before.current = at;
    if (!left) return;
    const of = at.page === "overview" && left.page === "finding" && findingNamed(left.id);
    const row = of && [...document.querySelectorAll<HTMLElement>("a.row")].find((one) => one.getAttribute("href") === hashOf(of));
    scrollTo(0, 0);
    (row || document.getElementById("content"))?.focus({ preventScroll: true });
    if (row) row.scrollIntoView({ block: "center" });
  }, [at]);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(storeAs, theme);
    } catch {
      // then it lasts as long as the page
    }
  }, [theme]);
  const nextTheme = () => setTheme((before) => themes[(themes.indexOf(before) + 1) % themes.length]!);
  useLayoutEffect(() => onKey({ "?": () => help.current?.showModal(), t: nextTheme }), []);

  const finding = at.page === "finding" ? findingNamed(at.id) : undefined;
  useEffect(() => {
    document.title = finding ? `${finding.message} – Heddle` : `${headline} – Heddle`;
  }, [finding]);

  return (
    <>
      <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), document.getElementById("content")?.focus())}>
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="#">
          <Mark /> heddle
        </a>
        <span class="quiet bar-inputs">{report.inputs.map((input) => input.path).slice(0, 3).join(", ")}{report.inputs.length > 3 ? ", …" : ""}</span>
        <span class="grow" />
        <button type="button" class="small" onClick={nextTheme} aria-label={`Colours: ${theme}`} title="Light, dark, or as the system has it (t)">
          {theme === "system" ? "auto" : theme}
        </button>
        <button type="button" class="small" onClick={() => help.current?.showModal()} aria-label="Keys" title="Keys (?)">
          ?
        </button>
      </header>
      {report.incomplete && (
        <p class="notice warning lost" role="note">
          <b>Not the whole report.</b> {report.incomplete}.
        </p>
      )}
      {at.page === "rule" ? (
        <RulePage id={at.id} />
      ) : finding ? (
        <FindingPage finding={finding} among={among} />
      ) : (
        <>
          {at.page === "finding" && <p class="notice lost">No finding with the fingerprint {at.id} is on this page.</p>}
          <Overview filter={filter} setFilter={setFilter} />
        </>
      )}
      <footer class="quiet">Heddle {report.heddle}. This page is complete in itself and asks nobody for anything.</footer>
      <dialog ref={help} aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl>
          {keyHelp.map(([keys, what]) => (
            <>
              <dt>{keys}</dt>
              <dd>{what}</dd>
            </>
          ))}
        </dl>
        <form method="dialog">
          <button autofocus>Close</button>
        </form>
      </dialog>
    </>
  );
}

// Warp threads, and the eye of a heddle that lifts one of them.
function Mark() {
  return (
    <svg width={18} height={18} viewBox="0 0 18 18" aria-hidden="true" class="mark">
      <path d="M4,1 V17 M14,1 V17 M9,1 V5.5 M9,12.5 V17" />
      <ellipse cx={9} cy={9} rx={2.2} ry={3.4} />
    </svg>
  );
}

// A report of one finding opens with it, unless it is only what an earlier report had.
if (!location.hash && findings.length === 1 && !isGone(findings[0]!)) history.replaceState(null, "", hashOf(findings[0]!));
const app = document.getElementById("app")!;
app.textContent = "";
render(<App />, app);
