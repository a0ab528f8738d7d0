// Which page is shown, by the part of the address after '#': works from a file and with the browser's back button.
import type { Finding } from "./data";

export const hashOf = (finding: Finding): string => `#finding=${encodeURIComponent(finding.fingerprint)}`;

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
  const [, page, id] = /^#(finding|rule)=(.+)$/.exec(location.hash) ?? [];
  return page && id ? { page: page as "finding" | "rule", id: decoded(id) } : { page: "overview", id: "" };
}
