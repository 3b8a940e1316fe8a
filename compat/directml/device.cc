// SPDX-License-Identifier: MIT
//
// IDMLDevice1, DMLCreateDevice and DMLCreateDevice1.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "execution/registry.h"
#include "objects.h"
#include "support/text.h"

namespace sheaf::dml_com {
namespace {

constexpr DML_EXECUTION_FLAGS kExecutionFlags =
    DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION | DML_EXECUTION_FLAG_DISABLE_META_COMMANDS |
    DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE;

class Device;

// A second virtual table of the device: IDMLDebugDevice does not extend IDMLDevice.
class DebugDevice final : public IDMLDebugDevice {
 public:
  explicit DebugDevice(Device& device) : device_(device) {}
  using IUnknown::QueryInterface;
  HRESULT QueryInterface(REFIID iid, void** object) override;
  ULONG AddRef() override;
  ULONG Release() override;
  void SetMuteDebugOutput(BOOL mute) override { muted_ = mute != 0; }
  bool muted() const { return muted_; }

 private:
  Device& device_;
  std::atomic<bool> muted_{false};
};

void check_flags(DML_EXECUTION_FLAGS flags, const char* call) {
  if ((flags & ~kExecutionFlags) != 0) {
    dml::detail::refuse({.who = call,
                         .what = "unknown execution flags",
                         .detail = cat("flags = ", static_cast<int32_t>(flags)),
                         .given = "no other arguments were looked at",
                         .next = "DML_EXECUTION_FLAG_NONE (0)"});
  }
}

// Runs are on the backend whose memory the buffers of the device are.
void adopt_backend(ID3D12Device* d3d12) {
  const auto* const theirs = d3d12::private_view<const Backend*>(d3d12, d3d12::kBackend);
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (theirs != nullptr && &device_backend(theirs->name) != theirs) {
    add_backend(*theirs);
  }
}

void clear(void** out) {
  if (out != nullptr) {
    *out = nullptr;
  }
}

// The level of all devices: the highest, or that of SHEAF_DML_FEATURE_LEVEL ("3_1"), so that a
// program can be tried against an older DirectML.
dml::DML_FEATURE_LEVEL device_level() {
  const char* asked = std::getenv("SHEAF_DML_FEATURE_LEVEL");
  if (asked == nullptr || *asked == '\0') {
    return dml::detail::kHighestLevel;
  }
  const std::string text = asked;
  const bool shaped = text.size() == 3 && text[1] == '_';
  const auto level = static_cast<dml::DML_FEATURE_LEVEL>(
      shaped ? (text[0] - '0') << 12 | (text[2] - '0') << 8 : 0);
  if (!dml::detail::is_feature_level(level)) {
    dml::detail::refuse({.who = "DMLCreateDevice1",
                         .what = "unknown feature level",
                         .detail = cat("SHEAF_DML_FEATURE_LEVEL is \"", text, "\""),
                         .given = "the environment",
                         .next = "a level such as 3_1"});
  }
  return level;
}

class Device final
    : public com::Named<Device, IUnknown, DeviceState, IDMLObject, IDMLDevice, IDMLDevice1> {
 public:
  Device(ID3D12Device* parent, bool debug, dml::DML_FEATURE_LEVEL level)
      : parent_(parent), debug_(debug), level_(level), debug_device_(*this) {
    const char* smaller = std::getenv("SHEAF_DML_SMALLER_INDICES");
    smaller_indices_ = smaller != nullptr && *smaller == '1';
  }

  using Named::QueryInterface;
  HRESULT QueryInterface(REFIID iid, void** object) override {
    if (debug_ && object != nullptr && iid == __uuidof(IDMLDebugDevice)) {
      AddRef();
      *object = static_cast<IDMLDebugDevice*>(&debug_device_);
      return S_OK;
    }
    return Named::QueryInterface(iid, object);
  }

  HRESULT SetPrivateData(REFGUID guid, UINT size, const void* data) override {
    if (guid == SHEAF_DML_SMALLER_INDICES) {
      if (size != sizeof(BOOL) || data == nullptr) {
        return E_INVALIDARG;
      }
      smaller_indices_ = *static_cast<const BOOL*>(data) != 0;
    }
    return Named::SetPrivateData(guid, size, data);
  }

  HRESULT CheckFeatureSupport(DML_FEATURE feature, UINT query_size, const void* query,
                              UINT support_size, void* support) override {
    return guarded([&] {
      dml::detail::answer(level_, {static_cast<dml::DML_FEATURE>(feature), query_size, query,
                                   support_size, support});
      return S_OK;
    });
  }

  HRESULT CreateOperator(const DML_OPERATOR_DESC* desc, REFIID iid, void** op) override {
    clear(op);
    return guarded([&] {
      const dml::DeviceOptions options{.feature_level = level_,
                                       .smaller_indices = smaller_indices_};
      return com::create_into<Operator>(iid, op, this, read_program(desc, options));
    });
  }

  HRESULT CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID iid,
                          void** compiled) override {
    clear(compiled);
    return guarded([&] {
      check_flags(flags, "CompileOperator");
      const auto& created = checked_cast<Operator>(this, "CompileOperator", op);
      return com::create_into<CompiledOperator>(iid, compiled, this, created.program(), flags);
    });
  }

  HRESULT CompileGraph(const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID iid,
                       void** compiled) override {
    clear(compiled);
    return guarded([&] {
      check_flags(flags, "CompileGraph");
      return com::create_into<CompiledOperator>(iid, compiled, this, graph(desc), flags);
    });
  }

  HRESULT CreateOperatorInitializer(UINT count, IDMLCompiledOperator* const* operators, REFIID iid,
                                    void** initializer) override {
    clear(initializer);
    return guarded([&] {
      return com::create_into<OperatorInitializer>(iid, initializer, this,
                                                   read_compiled(this, count, operators));
    });
  }

  HRESULT CreateCommandRecorder(REFIID iid, void** recorder) override {
    clear(recorder);
    return guarded([&] { return com::create_into<CommandRecorder>(iid, recorder, this); });
  }

  HRESULT CreateBindingTable(const DML_BINDING_TABLE_DESC* desc, REFIID iid,
                             void** table) override {
    clear(table);
    return guarded([&] {
      return com::create_into<BindingTable>(iid, table, this, read_table_desc(this, desc));
    });
  }

  // All memory is resident.
  HRESULT Evict(UINT, IDMLPageable* const*) override {
    return guarded([] { return S_OK; });
  }
  HRESULT MakeResident(UINT, IDMLPageable* const*) override {
    return guarded([] { return S_OK; });
  }
  // Its own, or that of its Direct3D device.
  HRESULT GetDeviceRemovedReason() override {
    const HRESULT reason = removed_;
    return reason == S_OK && parent_ ? parent_->GetDeviceRemovedReason() : reason;
  }
  HRESULT GetParentDevice(REFIID iid, void** device) override {
    if (!parent_) {
      clear(device);
      return E_NOINTERFACE;
    }
    return parent_->QueryInterface(iid, device);
  }

  std::shared_ptr<Descriptors> descriptors_at(D3D12_CPU_DESCRIPTOR_HANDLE place) override {
    const std::lock_guard lock(mutex_);
    if (places_.size() >= most_places_) {
      std::erase_if(places_, [](const auto& entry) { return entry.second.expired(); });
      most_places_ = 2 * places_.size() + 16;
    }
    auto descriptors = places_[place.ptr].lock();
    if (!descriptors) {
      descriptors = std::make_shared<Descriptors>();
      places_[place.ptr] = descriptors;
    }
    return descriptors;
  }

 private:
  std::shared_ptr<const Program> graph(const DML_GRAPH_DESC* desc) {
    const auto refuse = [](const std::string& what, const std::string& detail) {
      dml::detail::refuse({.who = "CompileGraph",
                           .what = what,
                           .detail = detail,
                           .given = "DML_GRAPH_DESC",
                           .next = "operator nodes of this device, and constant data"});
    };
    constexpr UINT kMostNodes = 1u << 20;
    if (desc == nullptr || desc->NodeCount == 0 || desc->NodeCount > kMostNodes ||
        desc->Nodes == nullptr) {
      refuse("no nodes", "the graph or its list of nodes is null, empty or too long");
    }
    std::vector<GraphNode> nodes;
    for (UINT i = 0; i < desc->NodeCount; ++i) {
      const DML_GRAPH_NODE_DESC& node = desc->Nodes[i];
      if (node.Type == DML_GRAPH_NODE_TYPE_OPERATOR && node.Desc != nullptr) {
        auto* op = static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(node.Desc)->Operator;
        nodes.push_back({checked_cast<Operator>(this, "CompileGraph", op).program(), {}});
      } else if (node.Type == DML_GRAPH_NODE_TYPE_CONSTANT && node.Desc != nullptr) {
        const auto& constant = *static_cast<const DML_CONSTANT_DATA_GRAPH_NODE_DESC*>(node.Desc);
        if (constant.Data == nullptr || constant.DataSize == 0 || constant.DataSize > INT64_MAX) {
          refuse("no data", cat("node ", i, " has no constant data, or 2^63 bytes and more"));
        }
        const auto* first = static_cast<const std::byte*>(constant.Data);
        nodes.push_back({nullptr, {first, first + constant.DataSize}});
      } else {
        refuse("unknown node", cat("node ", i, " has Type ", static_cast<int>(node.Type),
                                   node.Desc == nullptr ? " and a null Desc" : ""));
      }
    }
    return make_graph(*desc, std::move(nodes));
  }

  void report_last_error() noexcept override {
    try {
      com::report(dml::LastErrorText(), debug_ && !debug_device_.muted());
    } catch (...) {  // no memory for a message
    }
  }
  void remove(HRESULT reason) noexcept override {
    const std::lock_guard lock(mutex_);
    if (removed_ == S_OK) {
      com::guarded([&] {
        const std::string text = dml::LastErrorText();
        removed_by_ = text.substr(0, text.find('\n'));
        return S_OK;
      });
      removed_ = reason;
    }
  }
  HRESULT refuse_removed() noexcept override {
    dml::detail::guarded([&]() -> HRESULT {
      std::string first;
      {
        const std::lock_guard lock(mutex_);
        first = removed_by_;
      }
      char reason[16];
      std::snprintf(reason, sizeof reason, "0x%08X",
                    static_cast<unsigned>(GetDeviceRemovedReason()));
      dml::detail::refuse(
          {.who = "IDMLDevice",
           .what = "device removed",
           .detail = first.empty() ? "its Direct3D 12 device was removed"
                                   : cat("it was removed by a call that failed: \"", first, "\""),
           .given = cat("GetDeviceRemovedReason = ", reason),
           .next = "release the device and all that it created, and create a new one"});
    });
    report_last_error();
    return DXGI_ERROR_DEVICE_REMOVED;
  }

  com::Ref<ID3D12Device> parent_;
  bool debug_;
  dml::DML_FEATURE_LEVEL level_;
  std::atomic<bool> smaller_indices_{false};
  std::atomic<HRESULT> removed_{S_OK};
  std::mutex mutex_;
  std::string removed_by_;  // the first line of the reason
  std::map<SIZE_T, std::weak_ptr<Descriptors>> places_;
  size_t most_places_ = 16;  // before those that are gone are cleared away
  DebugDevice debug_device_;
};

HRESULT DebugDevice::QueryInterface(REFIID iid, void** object) {
  return device_.QueryInterface(iid, object);
}
ULONG DebugDevice::AddRef() { return device_.AddRef(); }
ULONG DebugDevice::Release() { return device_.Release(); }

}  // namespace
}  // namespace sheaf::dml_com

SHEAF_EXPORT HRESULT DMLCreateDevice(ID3D12Device* d3d12, DML_CREATE_DEVICE_FLAGS flags, REFIID iid,
                                     void** device) {
  return DMLCreateDevice1(d3d12, flags, DML_FEATURE_LEVEL_1_0, iid, device);
}

SHEAF_EXPORT HRESULT DMLCreateDevice1(ID3D12Device* d3d12, DML_CREATE_DEVICE_FLAGS flags,
                                      DML_FEATURE_LEVEL minimum, REFIID iid, void** device) {
  using namespace sheaf;
  dml_com::clear(device);
  const HRESULT result = dml::detail::guarded([&] {
    dml::detail::check_device_arguments(static_cast<dml::DML_CREATE_DEVICE_FLAGS>(flags),
                                        static_cast<dml::DML_FEATURE_LEVEL>(minimum));
    const dml::DML_FEATURE_LEVEL level = dml_com::device_level();
    if (static_cast<int>(minimum) > static_cast<int>(level)) {
      return DXGI_ERROR_UNSUPPORTED;
    }
    dml_com::adopt_backend(d3d12);
    return com::create_into<dml_com::Device>(iid, device, d3d12,
                                             (flags & DML_CREATE_DEVICE_FLAG_DEBUG) != 0, level);
  });
  if (FAILED(result)) {
    com::report(dml::LastErrorText(), (flags & DML_CREATE_DEVICE_FLAG_DEBUG) != 0);
  }
  return result;
}

SHEAF_EXPORT const char* SheafDmlLastErrorText() { return sheaf::dml::LastErrorText(); }
