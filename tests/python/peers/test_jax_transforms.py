# SPDX-License-Identifier: MIT
"""Each transform of JAX on sheaf.jax, against JAX's own indexing."""

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (scripts/peers)")
import jax.numpy as jnp  # noqa: E402

import sheaf  # noqa: E402
import sheaf.jax as ours  # noqa: E402

pytestmark = pytest.mark.skipif(not sheaf._sheaf.has_jax_ffi(), reason="built without jaxlib")
IDS = numpy.array([2, 0, 2])
X = jnp.linspace(-1, 1, 12).reshape(4, 3)
U = jnp.linspace(1, 2, 9).reshape(3, 3)

PAIRS = {
    "gather": (lambda x, u: ours.gather(x, IDS) * u, lambda x, u: x[IDS] * u),
    "gather_elements": (
        lambda x, u: ours.gather_elements(x, numpy.tile(IDS, (3, 1))) * u,
        lambda x, u: jnp.take_along_axis(x, numpy.tile(IDS, (3, 1)), 0) * u),
    "scatter": (lambda x, u: ours.scatter(x, IDS, u ** 2, reduction="add") ** 2,
                lambda x, u: x.at[IDS].add(u ** 2) ** 2),
    "scatter_nd": (lambda x, u: ours.scatter_nd(x, IDS[:, None], u, reduction="max") ** 2,
                   lambda x, u: x.at[IDS].max(u) ** 2),
}
BATCH = (jnp.stack([X, -X]), jnp.stack([U, 2 * U]))


def loss(f):
    return lambda x, u: f(x, u).sum()


TRANSFORMS = {
    "jit": lambda f: jax.jit(f),
    "jvp": lambda f: lambda x, u: jax.jvp(f, (x, u), (jnp.ones_like(x), u)),
    "vjp": lambda f: lambda x, u: jax.vjp(f, x, u)[1](f(x, u)),
    "linearize": lambda f: lambda x, u: jax.linearize(f, x, u)[1](x, u),
    "value_and_grad": lambda f: jax.jit(jax.value_and_grad(loss(f), (0, 1))),
    "jacfwd": lambda f: jax.jacfwd(f, (0, 1)),
    "jacrev": lambda f: jax.jacrev(f, (0, 1)),
    "hessian": lambda f: jax.jit(jax.hessian(loss(f), (0, 1))),
    "vmap": lambda f: lambda x, u: jax.vmap(f)(*BATCH),
    "vmap, one batched": lambda f: lambda x, u: jax.vmap(f, (None, 0))(x, BATCH[1]),
    "vmap of grad": lambda f: lambda x, u: jax.jit(jax.vmap(jax.grad(loss(f), (0, 1))))(*BATCH),
    "grad of vmap": lambda f: lambda x, u: jax.grad(lambda x: jax.vmap(f)(x, BATCH[1]).sum())(
        BATCH[0]),
    "checkpoint": lambda f: jax.grad(loss(jax.checkpoint(f)), (0, 1)),
    "scan": lambda f: lambda x, u: jax.lax.scan(
        lambda carry, u: (carry + f(x, u).sum(), f(x, u)), 0.0, BATCH[1]),
    "fori_loop": lambda f: jax.jit(lambda x, u: jax.lax.fori_loop(
        0, 3, lambda _, total: total + f(x, u).sum(), 0.0)),
    "cond": lambda f: jax.jit(lambda x, u: jax.lax.cond(x.sum() > 9, lambda: f(x, u) * 0,
                                                        lambda: f(x, u))),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms(name, transform):
    mine, theirs = (TRANSFORMS[transform](f)(X, U) for f in PAIRS[name])
    mine, theirs = jax.tree.leaves(mine), jax.tree.leaves(theirs)
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs):
        numpy.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_batches_of_indices_and_updates():
    ids = jnp.asarray([[0, 3], [1, 1], [2, 0]])
    us = jnp.arange(18.0).reshape(3, 2, 3)
    got = jax.vmap(lambda i, u: ours.scatter(X, i, u, reduction="add"))(ids, us)
    expected = jnp.stack([X.at[i].add(u) for i, u in zip(ids, us)])
    numpy.testing.assert_allclose(got, expected)
    got = jax.vmap(lambda i: ours.gather(X, i, axis=1 - 1))(ids)
    numpy.testing.assert_array_equal(got, X[ids])
