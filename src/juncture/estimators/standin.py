import numpy as np
from juncture.data.dataset import Dataset
from juncture.variables import Variable


class Discretizer:
    def __init__(self, bins=5, strategy="frequency"):
        self.bins = bins

    def fit(self, data):
        w = np.ones(len(data)) if data.weights is None else data.weights
        self.cuts, self.variables = {}, {}
        for name, column in data.columns.items():
            ok = ~np.isnan(column) & (w > 0)
            order = np.argsort(column[ok])
            x = column[ok][order]
            c = np.cumsum(w[ok][order])
            cuts = np.unique(
                [
                    x[min(np.searchsorted(c, c[-1] * q / self.bins, side="right"), len(x) - 1)]
                    for q in range(1, self.bins)
                ]
            )
            cuts = cuts[cuts > x[0]]
            self.cuts[name] = cuts
            e = ["-inf", *(f"{v:.6g}" for v in cuts), "inf"]
            self.variables[name] = Variable(name, [f"[{i}] {a}..{b}" for i, (a, b) in enumerate(zip(e, e[1:]))])
        return self

    def transform(self, data):
        cols = {
            n: np.where(np.isnan(data.columns[n]), -1, np.searchsorted(self.cuts[n], data.columns[n], side="right"))
            for n in data.columns
        }
        return Dataset.from_codes([self.variables[n] for n in cols], cols)
