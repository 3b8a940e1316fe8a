#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes encodings.txt, which tests/execution/golden_encodings_test.cc reads: stored bytes, and what
the decoders of others make of them. Needs gguf, torch, onnx and ml_dtypes; run it again only when
an encoding is added.

    python3 tests/cases/encodings.py > tests/cases/encodings.txt

A line is one tensor of `rows` by `elements`:
    decoder encoding rows elements block usual_zero stored scales zeros expected
scales and zeros are TYPE:BYTES or "-"; bytes are in hexadecimal, expected are those of f32."""

import gguf
import ml_dtypes
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(17)
# As bits of f16: 1, 1/3, the least and the largest subnormal, the least normal, the largest, both
# zeros, both infinities, NaN.
HALVES = [0x3C00, 0x3555, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0x0000, 0x8000, 0x7C00, 0xFC00, 0x7E00]
# As bits of f32, with few digits: a product with a code is exact, so that a decoder which fuses it
# with the sum gives the same bits.
SINGLES = [0x3F800000, 0x3EAA0000, 0x00000001, 0x807F8000, 0x7F7F0000, 0x00000000, 0x80000000,
           0x7F800000, 0xFF800000, 0x7FC00000]


def line(decoder, encoding, stored, expected, *, block=0, usual_zero=0, scales=None, zeros=None):
    expected = np.ascontiguousarray(expected, np.float32)
    rows, elements = expected.shape

    def part(given):
        return "-" if given is None else f"{given[0]}:{given[1].tobytes().hex()}"
    print(decoder, encoding, rows, elements, block, usual_zero,
          np.ascontiguousarray(stored).tobytes().hex(), part(scales), part(zeros),
          expected.tobytes().hex())


def packed(codes, bits):
    """Codes of a row, the first in the lowest bits; rows begin at whole bytes."""
    per_byte = 8 // bits
    rows, elements = codes.shape
    padded = np.zeros((rows, -(-elements // per_byte) * per_byte), np.uint8)
    padded[:, :elements] = codes & ((1 << bits) - 1)
    parts = padded.reshape(rows, -1, per_byte)
    return sum((parts[:, :, i] << (bits * i)).astype(np.uint8) for i in range(per_byte))


def gguf_blocks():
    kinds = gguf.GGMLQuantizationType
    # Where the scales of a block are: d, and m or dmin.
    places = {kinds.Q8_0: [0], kinds.Q4_0: [0], kinds.Q4_1: [0, 2], kinds.Q5_0: [0],
              kinds.Q5_1: [0, 2], kinds.Q4_K: [0, 2], kinds.Q5_K: [0, 2], kinds.Q6_K: [208]}
    for kind, at in places.items():
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        count = 12 if elements == 32 else 3
        halves = HALVES if elements == 32 else [0x3555, 0x0001, 0x7BFF, 0xFC00, 0x7E00]
        blocks = rng.integers(0, 256, (count + len(halves), size), dtype=np.uint8)
        if kind == kinds.Q8_0:  # every code
            blocks[:8, 2:] = np.arange(256, dtype=np.uint8).reshape(8, 32)
        for row, half in enumerate([None] * count + halves):
            for place in at:
                bits = int(rng.integers(0x2000, 0x4000)) if half is None else half
                blocks[row, place:place + 2] = np.array([bits], "<u2").view(np.uint8)
        with np.errstate(all="ignore"):
            expected = gguf.quants.dequantize(blocks, kind)
        line("gguf", kind.name.lower(), blocks, expected)


def torch_rows():
    with np.errstate(all="ignore"):
        for bits, encoding in ((4, "row_u4_f16"), (2, "row_u2_f16")):
            unpack = getattr(torch.ops.quantized, f"embedding_bag_{bits}bit_unpack")
            codes = np.tile(np.arange(1 << bits, dtype=np.uint8), 16 >> bits or 1)[None, :16]
            pairs = [(a, b) for a in HALVES for b in (0x0000, 0x8000, 0xB555, 0x7C00)]
            rows = np.concatenate([np.repeat(packed(codes, bits), len(pairs), 0),
                                   np.array(pairs, "<u2").view(np.uint8)], 1)
            line("torch", encoding, rows, unpack(torch.from_numpy(rows)).numpy())
        codes = np.arange(256, dtype=np.uint8)[None]
        pairs = [(a, b) for a in SINGLES[:5] for b in (0x00000000, 0xBEAA0000)]
        pairs += [(a, 0x3F800000) for a in SINGLES[5:]] + [(0x3F800000, 0x7FC00000)]
        rows = np.concatenate([np.repeat(codes[:, ::5], len(pairs), 0),
                               np.array(pairs, "<u4").view(np.uint8)], 1)
        unpack = torch.ops.quantized.embedding_bag_byte_unpack
        line("torch", "row_u8_f32", rows, unpack(torch.from_numpy(rows)).numpy())
        rows = np.concatenate([codes, np.array([[0x3EAA0000, 0x3F800000]], "<u4").view(np.uint8)], 1)
        line("torch", "row_u8_f32", rows, unpack(torch.from_numpy(rows)).numpy())


def front_rows():
    """FBGEMM's rows with f16 in front: no decoder of them without a GPU, so NumPy's arithmetic."""
    codes = np.arange(0, 256, 5, dtype=np.uint8)[None]
    pairs = np.array([(a, b) for a in HALVES for b in (0x0000, 0xB555, 0x7C00)], "<u2")
    rows = np.concatenate([pairs.view(np.uint8), np.repeat(codes, len(pairs), 0)], 1)
    scale, bias = (pairs.view(np.float16)[:, [i]].astype(np.float32) for i in (0, 1))
    with np.errstate(all="ignore"):
        line("numpy", "row_u8_f16_front", rows, codes.astype(np.float32) * scale + bias)


def floats():
    one = ("f32", np.ones(1, np.float32))
    types = {"f8e4m3": ml_dtypes.float8_e4m3fn, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
             "f8e5m2": ml_dtypes.float8_e5m2, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz}
    codes = np.arange(256, dtype=np.uint8)
    for encoding, dtype in types.items():
        line("ml_dtypes", encoding, codes, codes.view(dtype).astype(np.float32)[None], scales=one)
    nibbles = np.arange(16, dtype=np.uint8)
    values = nibbles.view(ml_dtypes.float4_e2m1fn).astype(np.float32)[None]
    line("ml_dtypes", "f4e2m1", packed(nibbles[None], 4), values, scales=one)
    # MX: every power of two as the scale of a block of 32; e2m1 with scales of e4m3 per 16.
    exponents = np.arange(256, dtype=np.uint8)
    powers = exponents.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    with np.errstate(all="ignore"):
        for encoding, dtype in (("f8e4m3", ml_dtypes.float8_e4m3fn),
                                ("f8e5m2", ml_dtypes.float8_e5m2)):
            some = rng.integers(0, 256, (8, 64), dtype=np.uint8)
            picked = exponents[::17].reshape(8, 2)
            factors = np.repeat(powers[picked], 32, 1)
            line("ml_dtypes", encoding, some, some.view(dtype).astype(np.float32) * factors,
                 block=32, scales=("u8", picked))
        some = rng.integers(0, 16, (4, 256), dtype=np.uint8)
        values = some.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
        picked = np.concatenate([exponents[:16], exponents[-16:]]).reshape(4, 8)
        factors = np.repeat(powers[picked], 32, 1)
        line("ml_dtypes", "f4e2m1", packed(some, 4), values * factors, block=32,
             scales=("u8", picked))
        some = rng.integers(0, 16, (4, 256), dtype=np.uint8)
        values = some.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
        picked = exponents[::4].reshape(4, 16)
        factors = np.repeat(picked.view(ml_dtypes.float8_e4m3fn).astype(np.float32), 16, 1)
        line("ml_dtypes", "f4e2m1", packed(some, 4), values * factors, block=16,
             scales=("f8e4m3", picked))


def dequantized(x, onnx_type, scales, zeros, block):
    """ONNX's reference evaluator: DequantizeLinear with blocks along the last axis."""
    def tensor(name, array, kind):
        return helper.make_tensor(name, kind, array.shape, array.flatten().tolist())
    scale_type = helper.np_dtype_to_tensor_dtype(scales.dtype)
    inputs = ["x", "s"] + ([] if zeros is None else ["z"])
    node = helper.make_node("DequantizeLinear", inputs, ["y"], axis=1, block_size=block)
    given = [tensor("x", x, onnx_type),
             onnx.numpy_helper.from_array(scales, "s")]
    given += [] if zeros is None else [tensor("z", zeros, onnx_type)]
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info(
        "y", scale_type, None)], initializer=given)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)])
    return ReferenceEvaluator(model).run(None, {})[0]


def integers():
    for encoding, name, low, bits in (("u8", "UINT8", 0, 8), ("i8", "INT8", -128, 8),
                                      ("u4", "UINT4", 0, 4), ("i4", "INT4", -8, 4),
                                      ("u2", "UINT2", 0, 2), ("i2", "INT2", -2, 2)):
        kind = getattr(TensorProto, name)
        x = np.tile(np.arange(low, low + (1 << bits)), 256 >> bits).reshape(8, 32)
        singles = np.array([0x3EAAAAAB, 0x00000001, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x80000000,
                            0x3DCCCCCD, 0xBF800000] * 2, "<u4").view(np.float32).reshape(8, 2)
        zeros = rng.integers(low, low + (1 << bits), (8, 2))
        zeros[0] = low, low + (1 << bits) - 1
        with np.errstate(all="ignore"):
            for with_zeros in (False, True):
                expected = dequantized(x, kind, singles, zeros if with_zeros else None, 16)
                sign = "u8" if low == 0 else "i8"
                line("onnx", encoding, packed(x.astype(np.uint8), bits), expected, block=16,
                     scales=("f32", singles),
                     zeros=(sign, packed(zeros.astype(np.uint8), bits)) if with_zeros else None)


for write in (gguf_blocks, torch_rows, front_rows, floats, integers):
    write()
