// Colours of canvas charts, from the custom properties of the style; they follow the reader's scheme and print.

import { useEffect, useState } from "preact/hooks";

/** Names of series colours: blue, orange, green, pink of Okabe and Ito, a neutral one, and that of text. */
export type Hue = "a" | "b" | "c" | "d" | "neutral" | "ink";

export interface Palette {
  series: Record<Hue, string>;
  ink: string;
  muted: string;
  rule: string;
  steady: string;
  warmup: string;
  focus: string;
  /** Font families of axis labels. */
  font: string;
}

function read(): Palette {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    series: { a: color("a"), b: color("b"), c: color("c"), d: color("d"), neutral: color("muted"), ink: color("ink") },
    ink: color("ink"),
    muted: color("muted"),
    rule: color("rule"),
    steady: color("band-steady"),
    warmup: color("band-warmup"),
    focus: color("band-focus"),
    font: color("sans"),
  };
}

const QUERIES = ["(prefers-color-scheme: dark)", "print"];

/** The colours that hold now; the component is drawn again when they change. */
export function usePalette(): Palette {
  const [palette, setPalette] = useState(read);
  useEffect(() => {
    const lists = QUERIES.map((query) => matchMedia(query));
    const update = () => setPalette(read());
    for (const list of lists) list.addEventListener("change", update);
    return () => {
      for (const list of lists) list.removeEventListener("change", update);
    };
  }, []);
  return palette;
}
