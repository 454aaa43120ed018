"""Tables and numbers, for a terminal and for Markdown."""


class Table:
    """A head and rows of text; the first column is left-aligned, the others are right-aligned."""

    def __init__(self, *head):
        self.head, self.rows = list(head), []

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def text(self):
        """For a terminal."""
        rows = [self.head, *self.rows]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.head))]
        lines = []
        for row in rows:
            cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def markdown(self):
        """For a page."""
        rows = [self.head, ["---", *["---:"] * (len(self.head) - 1)], *self.rows]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def number(estimate, digits=2):
    """The median of an estimate; a dash if there is none."""
    return "–" if estimate is None else f"{estimate['median']:,.{digits}f}"


def interval(estimate, digits=2):
    """The interval of an estimate; a dash if it has none."""
    if estimate is None or estimate["interval"] is None:
        return "–"
    low, high = estimate["interval"]["low"], estimate["interval"]["high"]
    return f"{low:,.{digits}f} … {high:,.{digits}f}"


def level(estimates):
    """The level of the intervals among these estimates, as text."""
    levels = [estimate["interval"]["level"] for estimate in estimates if estimate and estimate["interval"]]
    return f"{min(levels):.1%}" if levels else None
