// The way back from a page to the list of runs, where `sysdyno serve` serves it; a page on the disk has none.

export function Bar() {
  if (document.getElementById("page")?.dataset.served === undefined) return null;
  return (
    <nav class="served" aria-label="sysdyno serve">
      <a href="/">← All runs</a>
    </nav>
  );
}
