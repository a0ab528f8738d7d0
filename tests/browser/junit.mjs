// What node's test runner found, as a JUnit file for tools/run_tests.py. (Node has one of its own only from version 20 on.)
const escaped = (text) => String(text).replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[^\x20-\uffff\n\t]/g, "?");

export default async function* junit(source) {
  yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n';
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (data.details?.type === "suite" || /\.mjs$/.test(data.name)) {
      // A file counts only when it failed outside of its tests.
      if (type === "test:pass" || data.details?.error?.failureType === "subtestsFailed") continue;
    }
    yield `<testcase name="${escaped(data.name)}">`;
    if (data.skip !== undefined) yield "<skipped/>";
    const error = data.details?.error;
    if (type === "test:fail") yield `<failure>${escaped(error?.cause?.stack ?? error?.stack ?? error)}</failure>`;
    yield "</testcase>\n";
  }
  yield "</testsuites>\n";
}
