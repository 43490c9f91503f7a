"""What analyses return: columns of equal length, for numpy, and for pandas where it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence, Union

import numpy as np

if TYPE_CHECKING:
    import pandas


def pandas_module() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("data frames need pandas; install python3-pandas, or use the arrays") from None
    return pandas


class Category:
    """Texts of a column: few different ones, each row has the number of one."""

    def __init__(self, codes: np.ndarray, texts: np.ndarray) -> None:
        self.codes, self.texts = codes, texts

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: Any) -> Any:
        codes = self.codes[index]
        return Category(codes, self.texts) if isinstance(codes, np.ndarray) else self.texts[codes]

    def __iter__(self) -> Iterator[str]:
        return (self.texts[code] for code in self.codes)

    def __array__(self, dtype: Any = None) -> np.ndarray:
        return self.texts[self.codes]

    def __eq__(self, text: object) -> Any:
        return np.isin(self.codes, np.flatnonzero(self.texts == text))

    def __ne__(self, text: object) -> Any:
        return ~(self == text)

    __hash__ = None  # type: ignore[assignment]

    def matching(self, condition: Callable[[str], Any]) -> np.ndarray:
        """bool, by row: asked once for each text that occurs."""
        used = np.unique(self.codes)
        return np.isin(self.codes, [code for code in used if condition(self.texts[code])])

    def categorical(self) -> Any:
        used, codes = np.unique(self.codes, return_inverse=True)
        return pandas_module().Categorical.from_codes(codes, _distinct(self.texts[used]))


def _distinct(texts: np.ndarray) -> Sequence[str]:
    return [str(text) for text in texts]


Column = Union[np.ndarray, Category]


class Columns(Mapping[str, Column]):
    """Equally long columns by name. Rows may be chosen and sorted; nothing is changed in place."""

    def __init__(self, columns: Mapping[str, Column], title: str = "") -> None:
        self._columns = dict(columns)
        self.title = title
        lengths = {len(column) for column in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of unequal length: {sorted(lengths)}")
        self.rows = lengths.pop() if lengths else 0
        """How many rows there are."""

    def __getitem__(self, name: str) -> Column:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"there is no column {name!r}, but {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def where(self, rows: Any) -> "Columns":
        """The rows of a mask, of a slice, or of numbers in their order."""
        index = rows if isinstance(rows, slice) else np.asarray(rows)
        return Columns({name: column[index] for name, column in self._columns.items()}, self.title)

    def head(self, rows: int = 10) -> "Columns":
        return self.where(slice(0, rows))

    def sorted(self, by: str, ascending: bool = False) -> "Columns":
        """By one column, the largest first; NaN last; equal ones keep their order."""
        column = np.asarray(self[by])
        if column.dtype.kind in "iufb":
            order = np.argsort(column if ascending else -column.astype(float), kind="stable")
        else:
            order = np.argsort(column.astype(str), kind="stable")[:: 1 if ascending else -1]
        return self.where(order)

    def dataframe(self) -> "pandas.DataFrame":
        """The same for pandas; texts as categories, columns with several values a row as lists. A column "node" is the index."""
        columns = {name: column.categorical() if isinstance(column, Category) else list(column) if column.ndim > 1 else column
                   for name, column in self._columns.items()}
        frame = pandas_module().DataFrame(columns)
        return frame.set_index("node") if "node" in columns else frame

    def __repr__(self) -> str:
        shown = 20
        cells = [[name, *(_cell(value) for value in list(column[:shown]))] for name, column in self._columns.items()]
        widths = [max(len(cell) for cell in column) for column in cells]
        lines = ["  ".join(column[row].ljust(width) if row and isinstance(self._columns[column[0]], Category) else column[row].rjust(width)
                           for column, width in zip(cells, widths)).rstrip() for row in range(min(self.rows, shown) + 1)]
        if self.rows > shown:
            lines.append(f"... {self.rows - shown} more rows")
        return "\n".join(([self.title] if self.title else []) + lines)


def _cell(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "[" + ", ".join(_cell(one) for one in value) + "]"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return str(value)
