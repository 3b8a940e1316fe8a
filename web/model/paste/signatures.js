// SPDX-License-Identifier: MIT
//
// How calls of NumPy, PyTorch, JAX and TensorFlow are written: the names a call may go by in a program, the
// name it has here, and which argument is what.

const KEYWORDS = {
  input: "data", a: "data", arr: "data", params: "data", tensor: "data", weight: "data", x: "data",
  index: "indices", indices: "indices", ids: "indices", dim: "axis", axis: "axis", batch_dims: "batch_dims",
  src: "updates", source: "updates", updates: "updates", values: "updates", value: "updates", reduce: "reduction",
  include_self: "include_self", mode: "mode",
};
export const roleOf = (keyword) => KEYWORDS[keyword] ?? null;

const signature = (written, id, roles) => ({ written, id, roles: roles.split(" ") });

// As functions: torch.gather(data, 1, indices).
export const FUNCTIONS = [
  signature("torch.gather", "torch.gather", "data axis indices"),
  signature("torch.take_along_dim", "torch.take_along_dim", "data indices axis"),
  signature("torch.index_select", "torch.index_select", "data axis indices"),
  signature("torch.nn.functional.embedding", "torch.nn.functional.embedding", "indices data"),
  signature("F.embedding", "torch.nn.functional.embedding", "indices data"),
  signature("torch.scatter", "Tensor.scatter", "data axis indices updates"),
  signature("torch.scatter_add", "Tensor.scatter_add", "data axis indices updates"),
  signature("torch.scatter_reduce", "Tensor.scatter_reduce", "data axis indices updates reduction"),
  signature("torch.index_add", "Tensor.index_add", "data axis indices updates"),
  signature("torch.index_copy", "Tensor.index_copy", "data axis indices updates"),
  signature("np.take", "numpy.take", "data indices axis"),
  signature("np.take_along_axis", "numpy.take_along_axis", "data indices axis"),
  signature("np.put_along_axis", "numpy.put_along_axis", "data indices updates axis"),
  signature("np.add.at", "numpy.add.at", "data indices updates"),
  signature("jnp.take", "jnp.take", "data indices axis"),
  signature("jnp.take_along_axis", "jnp.take_along_axis", "data indices axis"),
  signature("tf.gather", "tf.gather", "data indices validate axis batch_dims"),
  signature("tf.gather_nd", "tf.gather_nd", "data indices batch_dims"),
  signature("tf.nn.embedding_lookup", "tf.nn.embedding_lookup", "data indices"),
  signature("tf.tensor_scatter_nd_update", "tf.tensor_scatter_nd_update", "data indices updates"),
  signature("tf.tensor_scatter_nd_add", "tf.tensor_scatter_nd_add", "data indices updates"),
];

// As methods: data.gather(1, indices). Those of PyTorch that change their tensor end in _.
export const METHODS = [
  signature("gather", "torch.gather", "axis indices"),
  signature("take_along_dim", "torch.take_along_dim", "indices axis"),
  signature("index_select", "torch.index_select", "axis indices"),
  signature("scatter", "Tensor.scatter", "axis indices updates"),
  signature("scatter_add", "Tensor.scatter_add", "axis indices updates"),
  signature("scatter_reduce", "Tensor.scatter_reduce", "axis indices updates reduction"),
  signature("index_add", "Tensor.index_add", "axis indices updates"),
  signature("index_copy", "Tensor.index_copy", "axis indices updates"),
  signature("take", "numpy.take", "indices axis"),
];

export const MODULES = { numpy: "np", "jax.numpy": "jnp", "torch.nn.functional": "F", tensorflow: "tf" };
