// SPDX-License-Identifier: MIT
//
// Holds directml.h and d3d12.h to the layouts and numbers of DirectML and Direct3D. The structs
// that are read as those of sheaf/directml.h come from one file. Nothing here runs.
#include <cstddef>

#include "directml.h"

namespace {

// Numbers from Microsoft's documentation and headers.
static_assert(DML_OPERATOR_GATHER == 67 && DML_OPERATOR_SCATTER_ELEMENTS == 94);
static_assert(DML_OPERATOR_GATHER_ELEMENTS == 107 && DML_OPERATOR_GATHER_ND == 108);
static_assert(DML_OPERATOR_SCATTER_ND == 109 && DML_OPERATOR_GATHER_ND1 == 140);
static_assert(DML_TENSOR_DATA_TYPE_INT4 == 13 && DML_FEATURE_LEVEL_6_4 == 0x6400);
static_assert(DML_OPERATOR_CAST == 61 && DML_OPERATOR_SPLIT == 62 && DML_OPERATOR_JOIN == 63);
static_assert(DML_OPERATOR_SLICE == 60 && DML_OPERATOR_PADDING == 64 && DML_OPERATOR_TILE == 70);
static_assert(DML_OPERATOR_ONE_HOT == 95 && DML_OPERATOR_FILL_VALUE_CONSTANT == 103);
static_assert(DML_OPERATOR_SLICE1 == 111 && DML_OPERATOR_NONZERO_COORDINATES == 133);
static_assert(DML_OPERATOR_SLICE_GRAD == 135 && DML_OPERATOR_PADDING1 == 155);
static_assert(DML_OPERATOR_TOP_K == 71 && DML_OPERATOR_TOP_K1 == 112);
static_assert(DML_OPERATOR_UNFOLD == 177);

// Of 64-bit machines.
constexpr bool is(size_t bytes, size_t expected) { return sizeof(void*) != 8 || bytes == expected; }
static_assert(sizeof(GUID) == 16 && sizeof(HRESULT) == 4 && sizeof(BOOL) == 4);
static_assert(sizeof(DML_SCALAR_UNION) == 8 && sizeof(DML_SCALE_BIAS) == 8);
static_assert(is(sizeof(DML_BUFFER_TENSOR_DESC), 48) && is(sizeof(DML_TENSOR_DESC), 16));
static_assert(is(offsetof(DML_BUFFER_TENSOR_DESC, TotalTensorSizeInBytes), 32));
static_assert(is(sizeof(DML_GATHER_OPERATOR_DESC), 32) &&
              is(sizeof(DML_SCATTER_OPERATOR_DESC), 40));
static_assert(is(sizeof(DML_GATHER_ND1_OPERATOR_DESC), 40));
static_assert(is(sizeof(DML_SCATTER_ND_OPERATOR_DESC), 40));
static_assert(is(sizeof(DML_FILL_VALUE_CONSTANT_OPERATOR_DESC), 24));
static_assert(is(offsetof(DML_FILL_VALUE_CONSTANT_OPERATOR_DESC, Value), 16));
static_assert(is(sizeof(DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC), 32));
static_assert(is(sizeof(DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC), 24));
static_assert(is(sizeof(DML_TILE_OPERATOR_DESC), 32));
static_assert(is(offsetof(DML_TILE_OPERATOR_DESC, Repeats), 24));
static_assert(is(sizeof(DML_JOIN_OPERATOR_DESC), 32));
static_assert(is(offsetof(DML_JOIN_OPERATOR_DESC, InputTensors), 8));
static_assert(is(sizeof(DML_SPLIT_OPERATOR_DESC), 32));
static_assert(is(offsetof(DML_SPLIT_OPERATOR_DESC, OutputTensors), 16));
static_assert(is(sizeof(DML_SLICE_OPERATOR_DESC), 48));
static_assert(is(sizeof(DML_SLICE1_OPERATOR_DESC), 48));
static_assert(is(sizeof(DML_PADDING_OPERATOR_DESC), 48));
static_assert(is(offsetof(DML_PADDING_OPERATOR_DESC, StartPadding), 32));
static_assert(is(sizeof(DML_PADDING1_OPERATOR_DESC), 56));
static_assert(is(offsetof(DML_PADDING1_OPERATOR_DESC, PaddingValue), 24));
static_assert(is(sizeof(DML_ONE_HOT_OPERATOR_DESC), 32));
static_assert(is(sizeof(DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC), 32));
static_assert(is(sizeof(DML_NONZERO_COORDINATES_OPERATOR_DESC), 24));
static_assert(is(sizeof(DML_TOP_K_OPERATOR_DESC), 32) && is(sizeof(DML_TOP_K1_OPERATOR_DESC), 40));
static_assert(is(offsetof(DML_TOP_K1_OPERATOR_DESC, AxisDirection), 32));
static_assert(is(sizeof(DML_BUFFER_BINDING), 24) && is(sizeof(DML_BINDING_DESC), 16));
static_assert(is(sizeof(DML_BUFFER_ARRAY_BINDING), 16));
static_assert(is(sizeof(DML_BINDING_PROPERTIES), 24));
static_assert(is(sizeof(DML_BINDING_TABLE_DESC), 32));
static_assert(is(offsetof(DML_BINDING_TABLE_DESC, SizeInDescriptors), 24));
static_assert(is(sizeof(DML_INPUT_GRAPH_EDGE_DESC), 24));
static_assert(is(sizeof(DML_OUTPUT_GRAPH_EDGE_DESC), 24));
static_assert(is(sizeof(DML_INTERMEDIATE_GRAPH_EDGE_DESC), 24));
static_assert(is(sizeof(DML_OPERATOR_GRAPH_NODE_DESC), 16));
static_assert(is(sizeof(DML_CONSTANT_DATA_GRAPH_NODE_DESC), 24));
static_assert(is(sizeof(DML_GRAPH_DESC), 72));
static_assert(is(offsetof(DML_GRAPH_DESC, Nodes), 16));
static_assert(is(offsetof(DML_GRAPH_DESC, OutputEdges), 48));
static_assert(is(offsetof(DML_GRAPH_DESC, IntermediateEdges), 64));
static_assert(is(sizeof(D3D12_RESOURCE_DESC), 56) && is(sizeof(D3D12_RESOURCE_BARRIER), 32));
static_assert(is(sizeof(D3D12_HEAP_PROPERTIES), 20));
static_assert(is(sizeof(D3D12_COMMAND_QUEUE_DESC), 16));
static_assert(is(sizeof(D3D12_DESCRIPTOR_HEAP_DESC), 16));
static_assert(is(sizeof(D3D12_PLACED_SUBRESOURCE_FOOTPRINT), 32));

}  // namespace
