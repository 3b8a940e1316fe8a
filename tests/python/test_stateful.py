# SPDX-License-Identifier: MIT
"""Any sequence of calls on the same few arrays, among them views of each other, good calls and bad
ones: results are NumPy's, and a refusal is a sheaf.Error that leaves every array as it was."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import sheaf

DTYPES = ["i1", "u2", "i4", "f2", "f4", "f8", "c8", "?", "S3", "M8[s]", ">i4", "V70"]
INDEX_TYPES = ["i1", "u1", "i4", "i8", "u8", ">i2"]
#: What no function takes as an array, an index, an axis or a name.
RUBBISH = [None, "rows", 1.5, [[1], [2, 3]], object(), np.ma.array([1, 2]), {}, -(2**70), b"x"]
numbers = st.integers(-6, 6)


class Calls(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.arrays = [np.arange(12, dtype="f4").reshape(4, 3)]
        self.mirror = [array.copy() for array in self.arrays]

    def pick(self, number):
        return number % len(self.arrays)

    def compare(self, call, expected, *written):
        """Runs both; on an error of NumPy's, ours must be a refusal too."""
        try:
            ours = call()
        except sheaf.Error:
            ours = sheaf.Error
        try:
            theirs = expected()
        except Exception:
            theirs = None
        if ours is not sheaf.Error:
            assert theirs is not None, "NumPy refuses this"
            np.testing.assert_array_equal(ours, theirs)
        return ours is not sheaf.Error

    @rule(rows=st.integers(0, 4), columns=st.integers(0, 4), dtype=st.sampled_from(DTYPES))
    def make(self, rows, columns, dtype):
        values = np.arange(rows * columns).reshape(rows, columns)
        array = np.zeros((rows, columns), dtype) if dtype[0] == "V" else values.astype(dtype)
        self.arrays.append(array)
        self.mirror.append(array.copy())

    @rule(which=numbers, step=st.sampled_from([-1, 1, 2]), turned=st.booleans())
    def copy_of_view(self, which, step, turned):
        view = self.arrays[self.pick(which)][::step]
        self.arrays.append((view.T if turned else view).copy(order="K"))
        self.mirror.append(self.arrays[-1].copy())

    @rule(which=numbers, indices=st.lists(numbers, max_size=5), axis=st.integers(-3, 3),
          dtype=st.sampled_from(INDEX_TYPES), step=st.sampled_from([-1, 1, 2]),
          mode=st.sampled_from(["raise", "wrap", "clip"]))
    def take(self, which, indices, axis, dtype, step, mode):
        x = self.arrays[self.pick(which)][::step]
        i = np.array([abs(v) if "u" in dtype else v for v in indices], dtype)
        self.compare(lambda: sheaf.take(x, i, axis=axis, mode=mode),
                     lambda: np.take(x, i.astype("i8"), axis=axis, mode=mode))

    @rule(which=numbers, other=numbers, indices=st.lists(numbers, min_size=1, max_size=4),
          reduction=st.sampled_from(["none", "add", "max"]), in_place=st.booleans())
    def scatter(self, which, other, indices, reduction, in_place):
        at = self.pick(which)
        x, source = self.arrays[at], self.arrays[self.pick(other)]
        updates = source[:1]  # broadcast; may be a view of x itself
        done = []

        def expected():
            result = self.mirror[at].copy()
            values = np.broadcast_to(updates, (len(indices), *x.shape[1:])).copy()
            if reduction == "none":
                if not np.can_cast(values.dtype, result.dtype, "same_kind"):
                    raise TypeError
                for index, value in zip(indices, values):
                    result[index] = value
            elif x.dtype.kind in "mM" or not x.dtype.isnative:
                raise TypeError
            else:
                ufunc = {"add": np.add, "max": np.maximum}[reduction]
                ufunc.at(result, indices, values)
            done.append(result)
            return result

        out = x if in_place else None
        if self.compare(lambda: sheaf.scatter(x, indices, updates, reduction=reduction, out=out),
                        expected) and in_place:
            self.mirror[at] = done[0]

    @rule(which=numbers, rubbish=st.sampled_from(RUBBISH), where=st.integers(0, 5))
    def misuse(self, which, rubbish, where):
        x = self.arrays[self.pick(which)]
        if where == 5 and x.shape[1] == 0:
            return  # no element is assigned: NumPy looks at no index then, and takes None for NaN
        calls = [lambda: sheaf.gather(rubbish, [0], axis=4), lambda: sheaf.gather(x, rubbish, axis=5),
                 lambda: sheaf.scatter(x, [9], rubbish, out=x),
                 lambda: sheaf.gather(x, [0], out_of_range=str(rubbish)),
                 lambda: sheaf.gather(x, [0], out=rubbish, axis=7),
                 lambda: sheaf.put_along_axis(x, [[9]], rubbish, 0)]
        try:
            calls[where]()
        except sheaf.Error:
            return
        except (TypeError, OverflowError):  # an argument of the wrong kind, as in any function
            return
        raise AssertionError("nothing was refused")

    @rule(which=numbers)
    def overlap(self, which):
        x = self.arrays[self.pick(which)]
        if x.shape[0] < 2 or x.shape[1] == 0:
            return
        try:
            sheaf.gather(x, [1, 0], out=x[:2])
        except sheaf.Error:
            return
        raise AssertionError("output and data overlap")

    @invariant()
    def nothing_else_changed(self):
        for array, mirror in zip(self.arrays, self.mirror):
            assert array.tobytes() == mirror.tobytes()


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
