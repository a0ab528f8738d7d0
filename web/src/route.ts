// Which page is shown, by the part of the address after '#': works from a file and with the browser's back button.
import type { Finding } from "./data";

export const hashOf = (finding: Finding): string => `#finding=${finding.fingerprint}`;

export interface Route {
  page: "overview" | "finding" | "rule";
  id: string;
}

export function route(): Route {
  const [, page, id] = /^#(finding|rule)=(.+)$/.exec(location.hash) ?? [];
  return page && id ? { page: page as "finding" | "rule", id: decodeURIComponent(id) } : { page: "overview", id: "" };
}
