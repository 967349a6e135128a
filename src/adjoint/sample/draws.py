"""What samplers give."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import _optional, tree
from adjoint.sample.diagnostics import effective_sample_size, r_hat
from adjoint.tensors.tensor import Tensor

__all__ = ["Draws"]

Array = np.ndarray[Any, Any]

MANY = 40  # rows of a table that are printed


class Draws:
    """Draws of many chains: `values` is a tree like the sampler's initial one, each leaf with axes (chains, draws) in front.

    `statistics` has arrays (chains, draws) under ArviZ's names: acceptance_rate, diverging, energy, lp, n_steps, step_size,
    tree_depth. `metric` is the inverse mass that was used. `found["name"]` is an entry of the tree. Printed, it is the table of
    `summary()`.

    >>> import adjoint as ad
    >>> found = ad.sample.nuts(lambda x: -0.5 * (x["level"] - 1) ** 2, {"level": 0.0}, draws=200, warmup=200)
    >>> found["level"].shape, sorted(found.groups())
    ((4, 200), ['posterior', 'sample_stats'])
    """

    def __init__(self, values: Any, statistics: dict[str, Tensor], metric: Tensor) -> None:
        self.values = values
        self.statistics = statistics
        self.metric = metric

    def __getitem__(self, name: Any) -> Any:
        return self.values[name]

    def arrays(self) -> dict[str, Array]:
        """The leaves of the tree by their paths, as NumPy arrays (chains, draws, ...).

        >>> import adjoint as ad
        >>> found = ad.sample.nuts(lambda x: -0.5 * (x[0] ** 2 + x[1] ** 2), [0.0, 0.0], draws=20, warmup=20)
        >>> sorted(found.arrays())
        ['x[0]', 'x[1]']
        """
        names = [p.strip(".") or "x" for p in tree.paths(self.values)]
        names = [_plain(name) for name in names]
        return dict(zip(names, [np.array(x) for x in tree.flatten(self.values)[0]], strict=True))

    def summary(self) -> dict[str, dict[str, float]]:
        """For every number: mean, standard deviation, 5 % and 95 % quantiles, effective sample sizes (see
        `effective_sample_size`) and `r_hat`.

        >>> import adjoint as ad
        >>> found = ad.sample.nuts(lambda x: -0.5 * x**2, 0.0, draws=100, warmup=100)
        >>> list(found.summary()["x"])
        ['mean', 'sd', '5%', '95%', 'ess_bulk', 'ess_tail', 'r_hat']
        """
        rows = {}
        for name, x in self.arrays().items():
            flat = x.reshape(*x.shape[:2], -1)
            low, high = np.quantile(flat, (0.05, 0.95), axis=(0, 1))
            columns = {
                "mean": flat.mean(axis=(0, 1)), "sd": flat.std(axis=(0, 1), ddof=1), "5%": low, "95%": high,
                "ess_bulk": effective_sample_size(flat), "ess_tail": effective_sample_size(flat, kind="tail"),
                "r_hat": r_hat(flat),
            }  # fmt: skip
            for k, index in enumerate(np.ndindex(x.shape[2:])):
                label = name + (f"[{', '.join(map(str, index))}]" if index else "")
                rows[label] = {column: float(numbers[k]) for column, numbers in columns.items()}
        return rows

    def __repr__(self) -> str:
        rows = self.summary()
        shown = list(rows.items())[:MANY]
        width = max([len(name) for name, _ in shown], default=0)
        head = " " * width + "".join(
            [f" {column:>10}" for column in ("mean", "sd", "5%", "95%", "ess_bulk", "ess_tail", "r_hat")]
        )
        lines = [head]
        for name, row in shown:
            numbers = [f" {row[c]:10.4g}" for c in ("mean", "sd", "5%", "95%")]
            sizes = [f" {row[c]:10.0f}" for c in ("ess_bulk", "ess_tail")]
            lines.append(name.ljust(width) + "".join([*numbers, *sizes, f" {row['r_hat']:10.3f}"]))
        if len(rows) > MANY:
            lines.append(f"... and {len(rows) - MANY} more")
        diverged = int(self.statistics["diverging"].sum().item())
        chains, draws = self.statistics["lp"].shape
        lines.append(f"{chains} chains of {draws} draws; {diverged} diverging")
        return "\n".join(lines)

    def groups(self) -> dict[str, dict[str, Array]]:
        """Nested dictionaries of arrays as `arviz.from_dict` reads them.

        >>> import adjoint as ad
        >>> found = ad.sample.nuts(lambda x: -0.5 * x["a"] ** 2, {"a": 0.0}, draws=20, warmup=20)
        >>> found.groups()["posterior"]["a"].shape
        (4, 20)
        """
        return {"posterior": self.arrays(), "sample_stats": {k: np.array(v) for k, v in self.statistics.items()}}

    def to_arviz(self) -> Any:
        """The draws as ArviZ's data set. Raises ImportError that names the extra, `adjoint[arviz]`.

        >>> import adjoint as ad
        >>> found = ad.sample.nuts(lambda x: -0.5 * x["a"] ** 2, {"a": 0.0}, draws=20, warmup=20)
        >>> try:
        ...     print(found.to_arviz().posterior["a"].shape)
        ... except ImportError:
        ...     print("pip install 'adjoint[arviz]'")  # doctest: +SKIP
        """
        base = _optional.load("arviz_base", purpose="a data set of ArviZ", extra="arviz")
        return base.from_dict(self.groups())


def _plain(path: str) -> str:
    """A path such as ['a'][0] as a name, a[0]."""
    name = path
    for quote in ("'", '"'):
        if name.startswith(f"[{quote}"):
            end = name.index(quote + "]")
            name = name[2:end] + name[end + 2 :]
    return f"x{name}" if name.startswith("[") else name
