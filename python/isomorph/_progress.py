"""Progress of long work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = bool | Callable[[str, int, int | None], object] | None
"""``True`` shows a bar if tqdm is installed; a function is called with the stage, the rows so far, and their total."""


@contextmanager
def shown(progress: Progress) -> Iterator[Callable[[str, int, int | None], object] | None]:
    """What the compiled module calls."""
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        yield progress
        return
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        yield None
        return
    bars: dict[str, Any] = {}

    def tell(stage: str, rows: int, total: int | None) -> None:
        if not stage:
            return
        if stage not in bars:
            for bar in bars.values():
                bar.close()
            bars[stage] = tqdm(desc=stage, total=total, unit=" rows", unit_scale=True)
        bar = bars[stage]
        bar.update(max(0, rows - bar.n))

    try:
        yield tell
    finally:
        for bar in bars.values():
            bar.close()
