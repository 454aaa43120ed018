// Parts that are folded until the reader asks for them: by opening them, by a link, by a search, or by printing the page.

/** Opens what `element` is folded in, and the part that it is itself. */
export function unfold(element: Element): void {
  const own = element.querySelector<HTMLDetailsElement>(":scope > details.fold");
  if (own) own.open = true;
  for (let around = element.closest("details"); around; around = around.parentElement?.closest("details") ?? null) around.open = true;
}

/** Opens or closes all parts. */
export function foldAll(isOpen: boolean): void {
  for (const fold of folds()) fold.open = isOpen;
}

/**
 * Opens the part that the address names, now and whenever a link leads there, and on paper those that belong there.
 *
 * A link is followed before the browser goes there, even if the address already says so.
 */
export function followReader(): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
    unfoldNamed(link?.getAttribute("href") ?? "");
  });
  addEventListener("hashchange", () => unfoldNamed(location.hash)?.scrollIntoView());
  addEventListener("beforeprint", openForPaper);
  addEventListener("afterprint", closeAfterPaper);
  unfoldNamed(location.hash)?.scrollIntoView();
}

function folds(): HTMLDetailsElement[] {
  return [...document.querySelectorAll<HTMLDetailsElement>("details.fold")];
}

function unfoldNamed(hash: string): Element | null {
  const target = hash.length > 1 ? document.getElementById(decoded(hash.slice(1))) : null;
  if (target) unfold(target);
  return target;
}

/** A fragment of an address, which anybody may have written. */
function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** What printing opened. */
let opened: HTMLDetailsElement[] = [];

function openForPaper(): void {
  opened = folds().filter((fold) => !fold.open && fold.classList.contains("on-paper"));
  for (const fold of opened) fold.open = true;
}

function closeAfterPaper(): void {
  for (const fold of opened) fold.open = false;
  opened = [];
}
