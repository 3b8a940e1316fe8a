// SPDX-License-Identifier: MIT
//
// The objects behind IDMLDevice, IDMLOperator and IDMLCompiledOperator.
#include <atomic>
#include <memory>
#include <utility>

#include "frontends/directml/executable.h"
#include "frontends/directml/refusal.h"
#include "frontends/directml/request.h"
#include "plan/refuse.h"
#include "sheaf/directml.h"
#include "support/text.h"

namespace sheaf::dml {
namespace detail {

template <class Interface, class Derived>
class Counted : public Interface {
 public:
  UINT AddRef() noexcept final { return count_.fetch_add(1, std::memory_order_relaxed) + 1; }
  UINT Release() noexcept final {
    const UINT left = count_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == 0) {
      delete static_cast<Derived*>(this);
    }
    return left;
  }

 private:
  friend Derived;
  Counted() = default;
  ~Counted() = default;
  std::atomic<UINT> count_{1};
};

namespace {

// Children keep their device: as long as they live, its address tells whose they are.
class Operator final : public Counted<IDMLOperator, Operator> {
 public:
  Operator(IDMLDevice* device, std::shared_ptr<const Executable> executable)
      : device_(device), executable_(std::move(executable)) {}

  const ComPtr<IDMLDevice>& device() const { return device_; }
  const std::shared_ptr<const Executable>& executable() const { return executable_; }

 private:
  ComPtr<IDMLDevice> device_;
  std::shared_ptr<const Executable> executable_;
};

class CompiledOperator final : public Counted<IDMLCompiledOperator, CompiledOperator> {
 public:
  explicit CompiledOperator(const Operator& op)
      : device_(op.device()), executable_(op.executable()) {}

  DML_BINDING_PROPERTIES GetBindingProperties() const noexcept override {
    return {0, 0, executable_->persistent_bytes()};
  }
  const Plan& GetPlan() const noexcept override { return executable_->plan(); }

  const ComPtr<IDMLDevice>& device() const { return device_; }
  const std::shared_ptr<const Executable>& executable() const { return executable_; }

 private:
  ComPtr<IDMLDevice> device_;
  std::shared_ptr<const Executable> executable_;
};

// Nobody but this file can derive from the interfaces, so the cast is safe.
template <class Object, class Interface>
const Object& checked_cast(const IDMLDevice* device, const char* call, const Interface* op) {
  const auto* object = static_cast<const Object*>(op);
  if (object == nullptr) {
    throw Error(Refusal{.who = call,
                        .what = "null pointer",
                        .detail = "the operator is null",
                        .given = "no operator",
                        .next = "an operator of this device"});
  }
  if (object->device().Get() != device) {
    throw Error(Refusal{.who = call,
                        .what = "operator of another device",
                        .detail = "the operator was created by another device",
                        .given = describe(object->executable()->plan().request()),
                        .next = "an operator of this device"});
  }
  return *object;
}

template <class Interface>
void clear(Interface** out) {
  if (out != nullptr) {
    *out = nullptr;
  }
}

// Stores a new object in *out; S_FALSE if there is no pointer to store it in.
template <class Object, class Interface, class... Arguments>
HRESULT create_into(Interface** out, Arguments&&... arguments) {
  if (out == nullptr) {
    return S_FALSE;
  }
  *out = new Object(std::forward<Arguments>(arguments)...);
  return S_OK;
}

constexpr DML_EXECUTION_FLAGS kExecutionFlags =
    DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION | DML_EXECUTION_FLAG_DISABLE_META_COMMANDS |
    DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE;

class Device final : public Counted<IDMLDevice, Device> {
 public:
  explicit Device(const DeviceOptions& options) : options_(options) {}

  HRESULT CheckFeatureSupport(DML_FEATURE feature, UINT query_size, const void* query,
                              UINT support_size, void* support) noexcept override {
    return guarded([&] {
      answer(options_.feature_level, {feature, query_size, query, support_size, support});
      return S_OK;
    });
  }

  HRESULT CreateOperator(const DML_OPERATOR_DESC* desc, IDMLOperator** op) noexcept override {
    clear(op);
    return guarded([&] {
      const OperatorDesc read = read_operator(desc, options_);
      const Tensors tensors = read_tensors(read);
      auto executable = std::make_shared<const Executable>(operator_plan(read, tensors), tensors);
      return create_into<Operator>(op, this, std::move(executable));
    });
  }

  HRESULT CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags,
                          IDMLCompiledOperator** compiled) noexcept override {
    clear(compiled);
    return guarded([&] {
      const auto& created = checked_cast<Operator>(this, "CompileOperator", op);
      if ((flags & ~kExecutionFlags) != 0) {
        refuse(created.executable()->plan().request(), {Reason::kOption}, "unknown execution flags",
               cat("flags = ", int32_t{flags}), "DML_EXECUTION_FLAG_NONE (0)");
      }
      return create_into<CompiledOperator>(compiled, created);
    });
  }

  HRESULT InitializeOperator(IDMLCompiledOperator* op, const Bindings& bindings) noexcept override {
    return InitializeOperator(op, bindings, {});
  }
  HRESULT InitializeOperator(IDMLCompiledOperator* op, const Bindings& bindings,
                             const Queue& queue) noexcept override {
    return guarded([&] {
      checked_cast<CompiledOperator>(this, "InitializeOperator", op)
          .executable()
          ->initialize(bindings, queue);
      return S_OK;
    });
  }

  HRESULT Dispatch(IDMLCompiledOperator* op, const Bindings& bindings) noexcept override {
    return Dispatch(op, bindings, {});
  }
  HRESULT Dispatch(IDMLCompiledOperator* op, const Bindings& bindings,
                   const Queue& queue) noexcept override {
    return guarded([&] {
      checked_cast<CompiledOperator>(this, "Dispatch", op).executable()->dispatch(bindings, queue);
      return S_OK;
    });
  }

 private:
  DeviceOptions options_;
};

}  // namespace
}  // namespace detail

HRESULT directml::DMLCreateDevice(DML_CREATE_DEVICE_FLAGS flags, IDMLDevice** device) noexcept {
  return DMLCreateDevice1(flags, detail::kHighestLevel, device);
}

HRESULT directml::DMLCreateDevice1(DML_CREATE_DEVICE_FLAGS flags, DML_FEATURE_LEVEL minimum,
                                   IDMLDevice** device) noexcept {
  detail::clear(device);
  return detail::guarded([&] {
    detail::check_device_arguments(flags, minimum);
    return detail::create_into<detail::Device>(device, DeviceOptions{});
  });
}

HRESULT CreateDevice(const DeviceOptions& options, IDMLDevice** device) noexcept {
  detail::clear(device);
  return detail::guarded([&] {
    detail::check_device_arguments(DML_CREATE_DEVICE_FLAG_NONE, options.feature_level);
    return detail::create_into<detail::Device>(device, options);
  });
}

}  // namespace sheaf::dml
