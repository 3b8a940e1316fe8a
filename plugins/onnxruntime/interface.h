// SPDX-License-Identifier: MIT
//
// The part of ONNX Runtime's C interface that the provider uses. Written from the facts of that
// interface (the order of its function tables, the types of the functions, the values of its
// enumerations): a table is read by position, and only the positions that are used are named.
// tests/plugins/onnxruntime/interface_test.cc holds them against an installed runtime.
//
// Tables only grow: a position keeps its meaning in every later version. Those named here exist
// since version 24 (ONNX Runtime 1.24), the first with kernels in a provider's library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sheaf::ort {

inline constexpr uint32_t kApiVersion = 24;

// Objects of the runtime.
struct Status;
struct Value;
struct TypeInfo;
struct TensorInfo;
struct ValueInfo;
struct Attribute;
struct Node;
struct Graph;
struct GraphSupport;
struct KernelInfo;
struct KernelContext;
struct KernelRegistry;
struct KernelDef;
struct KernelDefBuilder;
struct DataType;
struct HardwareDevice;
struct EpDevice;
struct KeyValuePairs;
struct DataTransfer;
struct SessionOptions;
struct Logger;

enum ErrorNumber : int32_t {
  kFail = 1,
  kInvalidArgumentError = 2,
  kRuntimeException = 6,
  kNotImplemented = 9,
};

enum ElementType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kUint4 = 21,
  kInt4 = 22,
};

enum AttributeType : int32_t { kIntAttribute = 1, kIntsAttribute = 2, kStringAttribute = 5 };
enum DeviceType : int32_t { kCpuDevice = 0 };

// What a library gets first.
struct ApiBase {
  const void* (*get_api)(uint32_t version);  // null: the runtime does not have this version
  const char* (*version_string)();
};

// A function of a table: its position there, and its type.
template <class Table, class Function>
struct Slot {
  size_t position;
};

struct MainTable {};
template <class Function>
using Main = Slot<MainTable, Function>;

inline constexpr Main<Status*(ErrorNumber, const char* text)> kCreateStatus{0};
inline constexpr Main<ErrorNumber(const Status*)> kGetErrorCode{1};
inline constexpr Main<const char*(const Status*)> kGetErrorMessage{2};
inline constexpr Main<Status*(const TypeInfo*, const TensorInfo**)> kCastTypeInfoToTensorInfo{55};
inline constexpr Main<Status*(const TensorInfo*, ElementType*)> kGetTensorElementType{60};
inline constexpr Main<Status*(const TensorInfo*, size_t*)> kGetDimensionsCount{61};
inline constexpr Main<Status*(const TensorInfo*, int64_t*, size_t)> kGetDimensions{62};
inline constexpr Main<Status*(const KernelInfo*, const char*, int64_t*)> kKernelInfoGetInt{86};
inline constexpr Main<Status*(const KernelInfo*, const char*, char*, size_t*)> kKernelInfoGetString{
    87};
inline constexpr Main<Status*(const KernelContext*, size_t*)> kKernelContextGetInputCount{88};
inline constexpr Main<Status*(const KernelContext*, size_t, const Value**)> kKernelContextGetInput{
    90};
inline constexpr Main<Status*(KernelContext*, size_t, const int64_t*, size_t, Value**)>
    kKernelContextGetOutput{91};
inline constexpr Main<void(Status*)> kReleaseStatus{93};
inline constexpr Main<Status*(const KernelInfo*, size_t, char*, size_t*)> kKernelInfoGetOutputName{
    233};
inline constexpr Main<Status*(Value*, void**)> kGetTensorMutableData{51};
inline constexpr Main<Status*(const KernelInfo*, size_t, int*, const Value**)>
    kKernelInfoGetConstantInput{249};
inline constexpr Main<Status*(const Value*, size_t element, size_t*)> kGetStringLength{127};
inline constexpr Main<Status*(const Value*, size_t length, size_t element, void*)> kGetString{128};
inline constexpr Main<Status*(Value*, size_t element, size_t length, char**)> kResizeString{252};
inline constexpr Main<Status*(const Attribute*, AttributeType, void*, size_t, size_t*)>
    kReadAttribute{272};
inline constexpr Main<Status*(const KernelContext*, void (*)(void*, size_t), size_t total,
                              size_t batches, void*)>
    kKernelContextParallelFor{274};
inline constexpr Main<Status*(const KernelInfo*, const char*, int64_t*, size_t*)>
    kKernelInfoGetInts{163};
inline constexpr Main<Status*(const ValueInfo*, const char**)> kGetValueInfoName{289};
inline constexpr Main<Status*(const ValueInfo*, const TypeInfo**)> kGetValueInfoTypeInfo{290};
inline constexpr Main<DeviceType(const HardwareDevice*)> kHardwareDeviceType{307};
inline constexpr Main<const void*()> kGetEpApi{317};
inline constexpr Main<Status*(const Graph*, size_t*)> kGraphGetNumOutputs{340};
inline constexpr Main<Status*(const Graph*, const ValueInfo**, size_t)> kGraphGetOutputs{341};
inline constexpr Main<Status*(const Graph*, size_t*)> kGraphGetNumNodes{344};
inline constexpr Main<Status*(const Graph*, const Node**, size_t)> kGraphGetNodes{345};
inline constexpr Main<Status*(const Node*, const char**)> kNodeGetOperatorType{350};
inline constexpr Main<Status*(const Node*, const char**)> kNodeGetDomain{351};
using NumValues = Main<Status*(const Node*, size_t*)>;
using GetValues = Main<Status*(const Node*, const ValueInfo**, size_t)>;
inline constexpr NumValues kNodeGetNumInputs{353};
inline constexpr GetValues kNodeGetInputs{354};
inline constexpr NumValues kNodeGetNumOutputs{355};
inline constexpr GetValues kNodeGetOutputs{356};
inline constexpr NumValues kNodeGetNumImplicitInputs{357};
inline constexpr GetValues kNodeGetImplicitInputs{358};
inline constexpr Main<Status*(const Node*, size_t*)> kNodeGetNumAttributes{359};
inline constexpr Main<Status*(const Node*, const Attribute**, size_t)> kNodeGetAttributes{360};
inline constexpr Main<Status*(const Attribute*, AttributeType*)> kAttributeGetType{363};
inline constexpr Main<Status*(const Attribute*, const char**)> kAttributeGetName{364};
inline constexpr Main<Status*(const Value*, const void**)> kGetTensorData{378};
inline constexpr Main<Status*(const Value*, ElementType*, const int64_t**, size_t*)>
    kGetTypeAndShape{414};  // the last of version 24

struct Ep;
struct EpFactory;
struct KernelImpl;
using CreateKernel = Status* (*)(void* state, const KernelInfo*, KernelImpl**);

struct ProviderTable {};
template <class Function>
using Provider = Slot<ProviderTable, Function>;

inline constexpr Provider<Status*(EpFactory*, const HardwareDevice*, const KeyValuePairs* metadata,
                                  const KeyValuePairs* options, EpDevice**)>
    kCreateEpDevice{0};
inline constexpr Provider<Status*(GraphSupport*, const Node*)> kAddSingleNode{3};
inline constexpr Provider<Status*(KernelRegistry**)> kCreateKernelRegistry{18};
inline constexpr Provider<void(KernelRegistry*)> kReleaseKernelRegistry{19};
inline constexpr Provider<Status*(KernelRegistry*, const KernelDef*, CreateKernel, void* state)>
    kAddKernel{20};
inline constexpr Provider<Status*(KernelDefBuilder**)> kCreateKernelDefBuilder{21};
inline constexpr Provider<void(KernelDefBuilder*)> kReleaseKernelDefBuilder{22};
inline constexpr Provider<Status*(KernelDefBuilder*, const char*)> kSetOperatorType{23};
inline constexpr Provider<Status*(KernelDefBuilder*, const char*)> kSetDomain{24};
inline constexpr Provider<Status*(KernelDefBuilder*, int first, int last)> kSetSinceVersion{25};
inline constexpr Provider<Status*(KernelDefBuilder*, const char*)> kSetExecutionProvider{26};
inline constexpr Provider<Status*(KernelDefBuilder*, const char*, const DataType* const*, size_t)>
    kAddTypeConstraint{29};
inline constexpr Provider<Status*(KernelDefBuilder*, const int* inputs, const int* outputs, size_t)>
    kAddMutableAliases{31};
inline constexpr Provider<Status*(KernelDefBuilder*, KernelDef**)> kBuildKernelDef{32};
inline constexpr Provider<void(KernelDef*)> kReleaseKernelDef{33};
inline constexpr Provider<Status*(ElementType, const DataType**)> kGetTensorDataType{40};
inline constexpr Provider<Status*(GraphSupport*, const Node*, const KernelDef**)> kLookUpKernel{41};

// What the library fills in. The runtime reads as much as `version` says is there, and takes null
// for what is optional.
struct EpFactory {
  uint32_t version = kApiVersion;
  const char* (*get_name)(const EpFactory*) = nullptr;
  const char* (*get_vendor)(const EpFactory*) = nullptr;
  Status* (*get_supported_devices)(EpFactory*, const HardwareDevice* const*, size_t, EpDevice**,
                                   size_t most, size_t* count) = nullptr;
  Status* (*create_ep)(EpFactory*, const HardwareDevice* const*, const KeyValuePairs* const*,
                       size_t, const SessionOptions*, const Logger*, Ep**) = nullptr;
  void (*release_ep)(EpFactory*, Ep*) = nullptr;
  uint32_t (*get_vendor_id)(const EpFactory*) = nullptr;
  const char* (*get_version)(const EpFactory*) = nullptr;
  void* validate_compiled_model = nullptr;
  void* create_allocator = nullptr;
  void* release_allocator = nullptr;
  Status* (*create_data_transfer)(EpFactory*, DataTransfer**) = nullptr;
  bool (*is_stream_aware)(const EpFactory*) = nullptr;
  void* create_stream = nullptr;
  void* device_incompatibility = nullptr;
  void* create_importer = nullptr;
  void* count_custom_domains = nullptr;
  void* custom_domains = nullptr;
};

struct Ep {
  uint32_t version = kApiVersion;
  const char* (*get_name)(const Ep*) = nullptr;
  Status* (*get_capability)(Ep*, const Graph*, GraphSupport*) = nullptr;
  void* compile = nullptr;
  void* release_compiled = nullptr;
  void* preferred_layout = nullptr;
  void* should_convert_layout = nullptr;
  void* set_dynamic_options = nullptr;
  void* on_run_start = nullptr;
  void* on_run_end = nullptr;
  void* create_allocator = nullptr;
  void* create_stream = nullptr;
  void* compatibility_info = nullptr;
  Status* (*get_kernel_registry)(Ep*, const KernelRegistry**) = nullptr;
  Status* (*is_concurrent_run_supported)(Ep*, bool*) = nullptr;
};

struct KernelImpl {
  uint32_t version = kApiVersion;
  uint32_t flags = 0;
  Status* (*compute)(KernelImpl*, KernelContext*) = nullptr;
  void (*release)(KernelImpl*) = nullptr;
  void* pre_pack = nullptr;
  void* set_shared_pre_packed = nullptr;
};

}  // namespace sheaf::ort
