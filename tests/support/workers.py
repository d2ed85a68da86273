"""An engine whose workers are this process, to which all is sent as to others."""

from contextlib import nullcontext

import cloudpickle
import numpy as np

from confide.engines.calls import Call


class Workers:
    """So many workers that take turns; `items` has what they were asked, `names` by whom."""

    def __init__(self, n_workers):
        self.n, self.names, self.items = n_workers, [], []

    def n_workers(self):
        return self.n

    def connected(self):
        return nullcontext()

    def map(self, function, items, common=(), *, memory=0.0):
        call = Call.of(function, 1)
        for item in items:
            self.names.append(function.__name__)
            self.items.append(item)
            np.random.seed()  # noqa: NPY002 - another process has other random numbers
            sent = cloudpickle.loads(cloudpickle.dumps((item, common)))
            yield cloudpickle.loads(cloudpickle.dumps(call(sent[0], *sent[1]))).heard()

    def run(self, pieces, store, observer):
        raise NotImplementedError
