// A command line as it can be pasted into a POSIX shell.

/** Words quoted where they must be; the seed is added if it was not given, since it makes the load the same. */
export function shellLine(words: readonly string[], seed: number | null): string {
  const hasSeed = words.some((word) => word === "--seed" || word.startsWith("--seed="));
  const all = seed === null || hasSeed ? words : [...words, "--seed", String(seed)];
  return all.map(quoted).join(" ");
}

/** Source: POSIX.1-2024, Shell Command Language, 2.2 Quoting. */
function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
