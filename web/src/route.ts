// Which page is shown, by the part of the address after '#': works from a file and with the browser's back button.
import { findings, type Finding } from "./data";

// Findings of several inputs can have one fingerprint; the second of them is FINGERPRINT/2.
const names = new Map<Finding, string>();
const byName = new Map<string, Finding>();
const seen = new Map<string, number>();
for (const finding of findings) {
  let count = seen.get(finding.fingerprint) ?? 0;
  let name: string;
  do name = ++count === 1 ? finding.fingerprint : `${finding.fingerprint}/${count}`;
  while (byName.has(name));
  seen.set(finding.fingerprint, count);
  names.set(finding, name);
  byName.set(name, finding);
}

export const nameOf = (finding: Finding): string => names.get(finding)!;
export const findingNamed = (name: string): Finding | undefined => byName.get(name);
export const hashOf = (finding: Finding): string => `#finding=${encodeURIComponent(nameOf(finding))}`;

export interface Route {
  page: "overview" | "finding" | "rule";
  id: string;
}

// As it stands where it is no encoding of anything.
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

export function route(): Route {
  const [, page, id] = /^#(finding|rule)=(.*)$/.exec(location.hash) ?? [];
  return page && id !== undefined ? { page: page as "finding" | "rule", id: decoded(id) } : { page: "overview", id: "" };
}
