"""A picture of a sparse matrix's pattern."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["PatternPicture"]

WIDE = 60  # columns up to which text shows every entry; above, a mark stands for a block of them
SIDE = 480  # pixels of the picture's longer side


class PatternPicture:
    """The pattern of a sparse derivative, each column in its colour: text when printed, SVG in notebooks and by `save(path)`.

    >>> import adjoint as ad
    >>> hessian = ad.sparse_hessian(lambda x: (x[1:] * x[:-1]).sum())
    >>> entries = hessian(ad.ones(3)).nnz
    >>> "4 entries, 2 colours" in hessian.picture().svg()
    True
    """

    def __init__(self, pattern: Any, colours: np.ndarray[Any, Any]) -> None:
        self._entries = pattern.tocoo()
        self._shape, self._colours = pattern.shape, colours

    def __str__(self) -> str:
        block = max(1, -(-max(self._shape) // WIDE))
        rows, columns = [-(-n // block) for n in self._shape]
        marks = np.full((rows, columns), "·")
        marks[self._entries.row // block, self._entries.col // block] = "●"
        return "\n".join(["".join(row) for row in marks])

    def __repr__(self) -> str:
        return str(self)

    def svg(self) -> str:
        """The picture as SVG; a page's height for any size."""
        rows, columns = self._shape
        unit = SIDE / max(rows, columns, 1)
        count = int(self._colours.max(initial=-1)) + 1
        size = max(unit, 0.6)
        squares = [
            f'<rect x="{c * unit:.2f}" y="{r * unit:.2f}" width="{size:.2f}" height="{size:.2f}" '
            f'fill="hsl({360 * int(self._colours[c]) // max(count, 1)} 60% 45%)"/>'
            for r, c in zip(self._entries.row.tolist(), self._entries.col.tolist(), strict=True)
        ]
        width, height = columns * unit, rows * unit
        told = f"{rows} × {columns}: {len(squares)} entries, {count} colours"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 {width + 16:.0f} {height + 36:.0f}" '
            f'width="{width + 16:.0f}" role="img" aria-label="{told}">'
            f'<rect x="0" y="0" width="{width:.1f}" height="{height:.1f}" fill="white" stroke="#888"/>'
            f'{"".join(squares)}<text x="0" y="{height + 20:.0f}" font-family="sans-serif" font-size="13">{told}</text></svg>'
        )

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: Any) -> None:
        """Write the SVG to a file.

        >>> import adjoint as ad, tempfile, pathlib
        >>> hessian = ad.sparse_hessian(lambda x: (x[1:] * x[:-1]).sum())
        >>> entries = hessian(ad.ones(3)).nnz
        >>> hessian.picture().save(pathlib.Path(tempfile.mkdtemp()) / "pattern.svg")
        """
        Path(path).write_text(self.svg(), encoding="utf-8")
