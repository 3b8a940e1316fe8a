# SPDX-License-Identifier: MIT
"""Programs of PyTorch with Sheaf's operators, exported to ONNX and run by ONNX Runtime."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")
pytest.importorskip("onnxscript", reason="onnxscript is not installed (scripts/peers)")
onnxruntime = pytest.importorskip("onnxruntime")

import sheaf  # noqa: E402
import sheaf.torch as ours  # noqa: E402
import sheaf.torch.onnx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
X = torch.arange(24.0).reshape(2, 4, 3)
IDS = torch.tensor([3, 0, 3])
CALLS = {
    "gather": lambda x: sheaf.gather(x, IDS, axis=1),
    "gather_elements": lambda x: sheaf.gather_elements(x, IDS.expand(2, 1, 3), axis=1),
    "gather_nd": lambda x: sheaf.gather_nd(x, torch.tensor([[0, 3], [1, -1]])),
    "scatter": lambda x: sheaf.scatter(x, IDS, x[:, :3] + 1, axis=1, reduction="add"),
    "scatter, first axis": lambda x: sheaf.scatter(x, torch.tensor([[1], [0]]), x[:, None] * 2),
    "scatter_elements": lambda x: sheaf.scatter_elements(x, IDS.expand(2, 1, 3), x[:, :1] + 1,
                                                         axis=1, reduction="max"),
    "scatter_nd": lambda x: sheaf.scatter_nd(x, torch.tensor([[0, 3]]), x[0, :1]),
    "names": lambda x: ours.scatter_add(x, 1, IDS.expand(2, 1, 3), ours.index_select(x, 1, IDS)),
}


class Program(torch.nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, x):
        return self.call(x) * 2


@pytest.mark.parametrize("name", CALLS)
def test_the_runtime_agrees(name, tmp_path):
    program, path = Program(CALLS[name]).eval(), str(tmp_path / "model.onnx")
    torch.onnx.export(program, (X,), path, dynamo=True, verbose=False,
                      custom_translation_table=sheaf.torch.onnx.translation_table())
    session = onnxruntime.InferenceSession(path)
    (got,) = session.run(None, {session.get_inputs()[0].name: X.numpy()})
    assert torch.equal(torch.from_numpy(got), program(X))


def test_what_onnx_has_not_is_refused():
    table = sheaf.torch.onnx.translation_table()
    with pytest.raises(sheaf.UnsupportedError) as caught:
        table[torch.ops.sheaf.gather.default](X, IDS, 0, 0, "clamp")
    assert str(caught.value) == ("gather: no ONNX operator for this\n"
                                 "  out_of_range = 'clamp'\n"
                                 "  try: options that ONNX has, or torch.export")
