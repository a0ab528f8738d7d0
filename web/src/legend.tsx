// What the marks of a picture mean, below it: also on paper, and where nothing can be pointed at.

export interface Sign {
  look?: "box" | "blamed" | "open" | "lock" | "shared" | "order" | "within" | "conflict";
  text: string;
}

export function Legend({ signs }: { signs: Sign[] }) {
  if (signs.length === 0) return null;
  return (
    <figcaption class="legend">
      {signs.map(({ look, text }) => (
        <span class="sign">
          {look && (
            <svg width={18} height={12} viewBox="0 0 18 12" aria-hidden="true">
              {mark(look)}
            </svg>
          )}
          {text}
        </span>
      ))}
    </figcaption>
  );
}

function mark(look: NonNullable<Sign["look"]>) {
  switch (look) {
    case "box":
    case "blamed":
    case "open":
      return <rect class={`sign-block ${look}`} x={1} y={1} width={16} height={10} rx={2} />;
    case "lock":
    case "shared":
      return <rect class={`sign-lock ${look === "shared" ? look : ""}`} x={6.5} y={0.5} width={5} height={11} rx={2} />;
    case "order":
      return (
        <>
          <path class="sign-edge" d="M0,6 L12,6" />
          <path class="arrow" d="M11,2.2 L17.5,6 L11,9.8 Z" />
        </>
      );
    default:
      return <path class={`sign-edge ${look}`} d="M0,6 L18,6" />;
  }
}
