# SPDX-License-Identifier: MIT
"""Each transform of torch.func, torch.compile, torch.export, opcheck and tensors without memory, on
the plain functions and the operators, against PyTorch's own indexing."""

import functools
import io

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")
from torch import func  # noqa: E402

import sheaf  # noqa: E402
import sheaf.torch as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
IDS = torch.tensor([2, 0, 2])
X = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(4, 3)
U = torch.linspace(1, 2, 9, dtype=torch.float64).reshape(3, 3)

#: Sheaf's function of two tensors, and the same in PyTorch.
PAIRS = {
    "gather": (lambda x, u: sheaf.gather(x, IDS) * u, lambda x, u: x[IDS] * u),
    "gather_elements": (lambda x, u: sheaf.gather_elements(x, IDS.expand(3, 3)) * u,
                        lambda x, u: x.gather(0, IDS.expand(3, 3)) * u),
    "gather_nd": (lambda x, u: sheaf.gather_nd(x, IDS[:, None]) * u, lambda x, u: x[IDS] * u),
    "take": (lambda x, u: sheaf.take(x, IDS, axis=0) * u, lambda x, u: x[IDS] * u),
    "scatter": (lambda x, u: sheaf.scatter(x, IDS, u ** 2, reduction="add") ** 2,
                lambda x, u: x.index_add(0, IDS, u ** 2) ** 2),
    "scatter_nd": (lambda x, u: sheaf.scatter_nd(x, IDS[:, None], u, reduction="add") ** 3,
                   lambda x, u: x.index_add(0, IDS, u) ** 3),
    "mul": (lambda x, u: sheaf.scatter(x, IDS, u, reduction="mul"),
            lambda x, u: x.index_reduce(0, IDS, u, "prod")),
    "mean": (lambda x, u: sheaf.scatter(x, IDS, u, reduction="mean", include_self=False) ** 2,
             lambda x, u: x.index_reduce(0, IDS, u, "mean", include_self=False) ** 2),
    "max": (lambda x, u: sheaf.scatter(x, IDS, u, reduction="max") ** 2,
            lambda x, u: x.index_reduce(0, IDS, u, "amax") ** 2),
}
TRANSFORMS = {
    "grad": lambda f: lambda x, u: func.grad(lambda *t: f(*t).sum(), (0, 1))(x, u),
    "vjp": lambda f: lambda x, u: func.vjp(f, x, u)[1](f(x, u)),
    "jacrev": lambda f: func.jacrev(f, (0, 1)),
    "vmap": lambda f: lambda x, u: func.vmap(f)(torch.stack([x, -x]), torch.stack([u, 2 * u])),
    "vmap, one batched": lambda f: lambda x, u: func.vmap(f, (None, 1))(
        x, torch.stack([u, 2 * u], 1)),
    "vmap of grad": lambda f: lambda x, u: func.vmap(func.grad(lambda *t: f(*t).sum(), (0, 1)))(
        torch.stack([x, -x]), torch.stack([u, 2 * u])),
    "vmap of vmap": lambda f: lambda x, u: func.vmap(func.vmap(f, (0, None)), (None, 0))(
        torch.stack([x, -x]), torch.stack([u, 2 * u])),
    "hessian": lambda f: lambda x, u: func.jacrev(func.jacrev(lambda x: f(x, u).sum()))(x),
}
FORWARD = {
    "jvp": lambda f: lambda x, u: func.jvp(f, (x, u), (u.new_ones(x.shape), u)),
    "jacfwd": lambda f: func.jacfwd(f, (0, 1)),
    "forward over reverse": lambda f: lambda x, u: func.hessian(lambda u: f(x, u).sum())(u),
    "grad of jvp": lambda f: lambda x, u: func.grad(
        lambda x: func.jvp(lambda x: f(x, u), (x,), (x,))[1].sum())(x),
}


def assert_same(got, expected):
    got, expected = (torch.utils._pytree.tree_leaves(tree) for tree in (got, expected))
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", PAIRS)
def test_transforms(name, transform):
    mine, theirs = PAIRS[name]
    if name in ("mean", "max", "mul") and transform.startswith("vmap"):  # PyTorch has no rule
        def theirs(x, u, f=theirs):
            return f(x, u)
        expected = one_by_one(transform, mine, theirs)
    else:
        expected = TRANSFORMS[transform](theirs)(X, U)
    assert_same(TRANSFORMS[transform](mine)(X, U), expected)


def one_by_one(transform, mine, theirs):
    """What vmap gives, without it."""
    def gradients(x, u):
        x, u = x.clone().requires_grad_(), u.clone().requires_grad_()
        return torch.autograd.grad(theirs(x, u).sum(), (x, u))

    xs, us = [X, -X], [U, 2 * U]
    if transform == "vmap":
        return torch.stack([theirs(x, u) for x, u in zip(xs, us)])
    if transform == "vmap, one batched":
        return torch.stack([theirs(X, u) for u in us])
    if transform == "vmap of grad":
        parts = [gradients(x, u) for x, u in zip(xs, us)]
        return tuple(torch.stack(part) for part in zip(*parts))
    return torch.stack([torch.stack([theirs(x, u) for x in xs]) for u in us])


@pytest.mark.parametrize("transform", FORWARD)
@pytest.mark.parametrize("name", PAIRS)
def test_forward_mode(name, transform):
    """Against reverse mode: PyTorch's own reductions have no forward mode everywhere."""
    mine, _ = PAIRS[name]
    got = FORWARD[transform](mine)(X, U)
    if transform == "jvp":
        jacobians = func.jacrev(mine, (0, 1))(X, U)
        tangent = torch.tensordot(jacobians[0], torch.ones_like(X), 2) + torch.tensordot(
            jacobians[1], U, 2)
        assert_same(got, (mine(X, U), tangent))
    elif transform == "jacfwd":
        assert_same(got, func.jacrev(mine, (0, 1))(X, U))
    elif transform == "forward over reverse":
        assert_same(got, func.jacrev(func.jacrev(lambda u: mine(X, u).sum()))(U))
    else:
        hessian = func.jacrev(func.jacrev(lambda x: mine(x, U).sum()))(X)
        gradient = func.grad(lambda x: mine(x, U).sum())(X)
        assert_same(got, gradient + torch.tensordot(hessian, X, 2))


@functools.cache
def compiles_jacfwd():
    """PyTorch 2.6 does not compile its own jacfwd of two tensors."""
    torch._dynamo.reset()
    try:
        torch.compile(func.jacfwd(torch.mul, (0, 1)), backend="eager", fullgraph=True)(U, U)
    except torch._dynamo.exc.TorchDynamoException:
        return False
    return True


@pytest.mark.parametrize("backend", ["aot_eager", "eager"])
@pytest.mark.parametrize("transform", ["jvp", "jacfwd", "forward over reverse"])
@pytest.mark.parametrize("name", ["gather", "scatter", "mul", "mean", "max"])
def test_compiled_forward_mode(name, transform, backend):
    if transform == "jacfwd" and not compiles_jacfwd():
        pytest.skip("this PyTorch compiles no jacfwd of two tensors, of torch.mul neither")
    mine, _ = PAIRS[name]
    call = FORWARD[transform](mine)
    torch._dynamo.reset()
    compiled = torch.compile(call, backend=backend, fullgraph=True)
    assert_same(compiled(X, U), call(X, U))
    # A level that stayed open would make this fail.
    assert func.jvp(torch.sin, (torch.zeros(1),), (torch.ones(1),))[1].item() == 1


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(40.0).reshape(10, 4))

    def forward(self, ids, messages):
        rows = sheaf.gather(self.weight, ids)
        sums = sheaf.scatter(torch.zeros(5, 4), ids % 5, rows + messages, reduction="add")
        return ours.scatter_mean(sums, torch.tensor([0, 0, 1, 1, 2]), dim=0, dim_size=3)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
def test_export(dynamic, strict):
    model, arguments = Model(), (torch.tensor([1, 2, 9, 3]), torch.ones(4, 4))
    rows = torch.export.Dim("rows", min=2)
    shapes = {"ids": {0: rows}, "messages": {0: rows}} if dynamic else None
    program = torch.export.export(model, arguments, dynamic_shapes=shapes, strict=strict)
    assert any("sheaf" in str(node.target) for node in program.graph.nodes)
    saved = io.BytesIO()
    torch.export.save(program, saved)
    saved.seek(0)
    for exported in (program, torch.export.load(saved), program.run_decompositions()):
        assert torch.equal(exported.module()(*arguments), model(*arguments))
        if dynamic:
            more = (torch.tensor([0, 9, 4, 4, 4, 1]), torch.randn(6, 4))
            assert torch.equal(exported.module()(*more), model(*more))


@pytest.mark.parametrize("dynamic", [False, True])
def test_compile(dynamic):
    model = Model()
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    for count in (3, 7):
        arguments = (torch.arange(count), torch.randn(count, 4))
        model.zero_grad()
        model(*arguments).square().sum().backward()
        expected = model.weight.grad.clone()
        model.zero_grad()
        got = compiled(*arguments)
        got.square().sum().backward()
        assert torch.equal(got, model(*arguments))
        assert torch.equal(model.weight.grad, expected)


META = [
    (lambda d: torch.ops.sheaf.gather(d(4, 3), d(2, dtype=torch.int64), 9), sheaf.AxisError),
    (lambda d: torch.ops.sheaf.gather(d(4, 3), d(2)), sheaf.IndexDTypeError),
    (lambda d: torch.ops.sheaf.gather_elements(d(4, 3), d(2, 5, dtype=torch.int64)),
     sheaf.ArgumentError),
    (lambda d: torch.ops.sheaf.scatter(d(4, 3), d(2, dtype=torch.int64), d(3, 3)),
     sheaf.ArgumentError),
    (lambda d: torch.ops.sheaf.scatter(d(4, 3), d(2, dtype=torch.int64), d(2, 3), 0, 0, "plus"),
     sheaf.ArgumentError),
]


@pytest.mark.parametrize("device", ["meta", "cpu"])
@pytest.mark.parametrize("call, error", META)
def test_tensors_without_memory_are_checked(call, error, device):
    def tensor(*shape, dtype=torch.float32):
        return torch.zeros(shape, dtype=dtype, device=device)

    with pytest.raises(error):
        call(tensor)


OPERATORS = {
    "gather": (X, IDS), "gather_elements": (X, IDS.expand(3, 3)), "gather_nd": (X, IDS[:, None]),
    "scatter": (X, IDS, U), "scatter_elements": (X, IDS.expand(3, 3), U),
    "scatter_nd": (X, IDS[:, None], U),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_opcheck(name):
    arguments = tuple(t.clone().requires_grad_(t.is_floating_point()) for t in OPERATORS[name])
    torch.library.opcheck(getattr(torch.ops.sheaf, name).default, arguments)
    plain = tuple(t.detach() for t in arguments)
    out = torch.empty_like(X) if name.startswith("scatter") else torch.empty_like(U)
    torch.library.opcheck(getattr(torch.ops.sheaf, f"{name}_out").default, plain, {"out": out})


def test_tensors_without_dimensions():
    zero, index = torch.tensor(3.0), torch.tensor(0)
    for name, arguments in (("index_select", (0, index)), ("gather", (0, index)),
                            ("scatter", (0, index, torch.tensor(5.0))),
                            ("scatter_add", (0, index, torch.tensor(5.0))),
                            ("index_add", (0, index, torch.tensor(5.0))),
                            ("index_copy", (0, index, torch.tensor(5.0)))):
        got, expected = (getattr(module, name)(zero, *arguments) for module in (ours, torch))
        assert got.shape == expected.shape and torch.equal(got, expected), name


def test_out_is_compiled():
    def step(cache, rows, ids):
        sheaf.scatter(cache, ids, rows, out=cache)
        return sheaf.gather(cache, ids) * 2

    torch._dynamo.reset()
    compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
    ids, rows = torch.tensor([3, 1]), torch.ones(2, 3)
    mine, theirs = torch.zeros(4, 3), torch.zeros(4, 3)
    assert torch.equal(compiled(mine, rows, ids), step(theirs, rows, ids))
    assert torch.equal(mine, theirs) and mine.sum() == 6
