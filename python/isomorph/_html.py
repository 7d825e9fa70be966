"""HTML for notebooks. Everything that comes from data is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["schema_picture", "table"]

_CELL = "text-align:left;padding:2px 10px 2px 0"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return escape(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a heading."""
    head = "".join(f'<th style="{_CELL}">{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{_cell(value)}</td>' for value in row) + "</tr>" for row in rows
    )
    return (
        f"<div><strong>{escape(title)}</strong>"
        f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def schema_picture(nodes: Sequence[str], edges: Sequence[tuple[str, str, str]]) -> str:
    """A picture of node types and of the edge types between them; nothing if there are too many to be read."""
    if not nodes or len(nodes) > 12 or len(edges) > 24:
        return ""
    from math import cos, pi, sin

    width, height, radius = 640, 360, 130
    at = {}
    for number, name in enumerate(nodes):
        angle = 2 * pi * number / len(nodes) - pi / 2
        far = 0 if len(nodes) == 1 else radius
        at[name] = (width / 2 + 1.6 * far * cos(angle), height / 2 + far * sin(angle))
    lines: list[str] = []
    seen: dict[frozenset[str], int] = {}
    for source, relation, target in edges:
        if source not in at or target not in at:
            continue
        pair = frozenset((source, target))
        bend = seen[pair] = seen.get(pair, 0) + 1
        (x1, y1), (x2, y2) = at[source], at[target]
        if source == target:
            path = f"M{x1 - 20:.0f},{y1 - 12:.0f} C{x1 - 60:.0f},{y1 - 40 - 22 * bend:.0f} {x1 + 60:.0f},{y1 - 40 - 22 * bend:.0f} {x1 + 20:.0f},{y1 - 12:.0f}"
            x, y = x1, y1 - 30 - 17 * bend
        else:
            side = (bend // 2) * (1 if bend % 2 else -1) * 60
            x, y = (x1 + x2) / 2 + side * 0.6, (y1 + y2) / 2 + side * 0.6
            path = f"M{x1:.0f},{y1:.0f} Q{x + side * 0.4:.0f},{y + side * 0.4:.0f} {x2:.0f},{y2:.0f}"
        lines.append(f'<path d="{path}" fill="none" stroke="#999" marker-mid="none"/>')
        lines.append(
            f'<text x="{x:.0f}" y="{y:.0f}" font-size="11" text-anchor="middle" fill="currentColor">{escape(relation)} '
            f"&#8594; {escape(target)}</text>"
        )
    for name, (x, y) in at.items():
        half = 10 + 4 * len(name)
        lines.append(
            f'<rect x="{x - half:.0f}" y="{y - 13:.0f}" width="{2 * half}" height="26" rx="13" fill="#dbe7f6" stroke="#6f93c3"/>'
            f'<text x="{x:.0f}" y="{y + 4:.0f}" font-size="13" text-anchor="middle" fill="#123">{escape(name)}</text>'
        )
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">{"".join(lines)}</svg>'
