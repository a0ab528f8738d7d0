// The pages of the rules: Markdown, read by marked, drawn as elements. Links lead to other rules or are plain text: the page
// leads nowhere else.
import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { report } from "./data";
import { Listing } from "./source";

const entities: Record<string, string> = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'" };
const plain = (text: string) => text.replace(/&(lt|gt|amp|quot|#39);/g, (entity) => entities[entity]!);

function inline(tokens: Token[] | undefined): ComponentChildren {
  return tokens?.map((token) => {
    switch (token.type) {
      case "strong":
        return <strong>{inline(token.tokens)}</strong>;
      case "em":
        return <em>{inline(token.tokens)}</em>;
      case "codespan":
        return <code>{plain((token as Tokens.Codespan).text)}</code>;
      case "br":
        return <br />;
      case "link": {
        const rule = /(HD\d{4})\.md/.exec((token as Tokens.Link).href)?.[1];
        const known = rule && report.rules.some((r) => r.id === rule);
        return known ? <a href={`#rule=${rule}`}>{inline(token.tokens)}</a> : <span>{inline(token.tokens)}</span>;
      }
      default:
        return "tokens" in token && token.tokens ? inline(token.tokens) : plain("text" in token ? String(token.text) : token.raw);
    }
  });
}

function block(token: Token): ComponentChildren {
  switch (token.type) {
    case "heading":
      return (token as Tokens.Heading).depth === 1 ? null : <h3>{inline(token.tokens)}</h3>; // the page says its name
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "code":
      return <Listing text={(token as Tokens.Code).text} isCpp={(token as Tokens.Code).lang === "cpp"} />;
    case "list": {
      const items = (token as Tokens.List).items.map((item) => <li>{item.tokens.map(block)}</li>);
      return (token as Tokens.List).ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "table": {
      const table = token as Tokens.Table;
      return (
        <table>
          <thead>
            <tr>
              {table.header.map((cell) => (
                <th>{inline(cell.tokens)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => (
              <tr>
                {row.map((cell) => (
                  <td>{inline(cell.tokens)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
    }
    case "space":
      return null;
    default:
      return inline([token]);
  }
}

export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{lexer(text).map(block)}</div>;
}
