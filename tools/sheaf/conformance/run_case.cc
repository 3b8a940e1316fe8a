// SPDX-License-Identifier: MIT
#include "conformance/run_case.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/case.h"
#include "conformance/layout.h"
#include "conformance/request.h"
#include "conformance/values.h"
#include "conformance/webnn_rules.h"
#include "pictures/element_text.h"
#include "plan/refuse.h"
#include "sheaf/error.h"
#include "sheaf/queue.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

// A tensor on a device, with its gaps.
class DeviceCopy {
 public:
  DeviceCopy(const std::string& device, Placed& tensor)
      : tensor_(tensor), memory_(device, tensor.memory().size()) {
    memory_.upload(tensor.memory().data(), memory_.bytes());
  }

  std::byte* data() const { return memory_.data() + (tensor_.data() - tensor_.memory().data()); }
  void fetch() const { memory_.download(tensor_.memory().data(), memory_.bytes()); }

 private:
  Placed& tensor_;
  DeviceMemory memory_;
};

bool is_device(const std::string& name) {
  const std::vector<std::string> devices = device_names();
  return std::find(devices.begin(), devices.end(), name) != devices.end();
}

// Throws as Plan::run does; `updates` is not looked at in a gather.
void run_on_device(const Plan& plan, const std::string& device, Placed& data, Placed& indices,
                   Placed& updates, Placed& output) {
  const DeviceCopy device_data(device, data);
  const DeviceCopy device_indices(device, indices);
  const DeviceCopy device_updates(device, updates);
  const DeviceCopy device_output(device, output);
  const DeviceMemory workspace(device, workspace_bytes(plan, {.device = device}));
  const Queue queue{.device = device, .workspace = workspace};
  if (plan.is_scatter()) {
    run(plan, device_data.data(), device_indices.data(), device_updates.data(),
        device_output.data(), queue);
  } else {
    run(plan, device_data.data(), device_indices.data(), device_output.data(), queue);
  }
  try {
    finish(plan, queue);
  } catch (const IndexError&) {
    device_output.fetch();  // to be seen untouched
    throw;
  }
  device_output.fetch();
}

// The output of a case that has to fail is made all the same, to see it left alone. Few indices
// can ask for much output, so there is a limit.
constexpr int64_t kMaxOutputBytes = int64_t{256} << 20U;

const Outcome kPass{Verdict::kPassed, ""};

Outcome failure(const std::string& expected, const std::string& got) {
  return {Verdict::kFailed, cat("expected  ", expected, "\ngot       ", got)};
}

// A refusal that says the call is wrong; the other codes say that the library cannot do it.
bool blames_the_call(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kIndexOutOfRange;
}

class ValueCase {
 public:
  ValueCase(const Case& c, const CaseOptions& options) : c_(c), options_(options) {}

  Outcome run() {
    try {
      request_ = case_request(c_, values_);
    } catch (const Error& error) {
      return c_.expect_error ? kPass : failure("an output", error.what());
    }
    data_ = values_.read(c_.data, request_.data, "data");
    indices_ = values_.read(c_.indices, request_.indices, "indices");
    if (c_.updates) {
      updates_ = values_.read(*c_.updates, request_.updates, "updates");
    }
    if (!c_.expect_error) {
      read_expected();
    }
    Outcome outcome = run_layout(Layout::kPacked);
    for (const Layout layout : {Layout::kPadded, Layout::kReversed, Layout::kTransposed}) {
      if (options_.strided && outcome.verdict == Verdict::kPassed) {
        outcome = run_layout(layout);
      }
    }
    return outcome;
  }

 private:
  void read_expected() {
    expected_spec_.dtype = ValueReader::dtype(c_.output->dtype);
    try {
      expected_spec_ = TensorSpec(expected_spec_.dtype, case_sizes(c_.output->shape));
    } catch (const Error& error) {
      throw Malformed(cat("output: ", error.what()));
    }
    expected_ = values_.read(*c_.output, expected_spec_, "output");
  }

  std::string expected_text() const {
    return c_.expect_error ? "an error" : values_.text(expected_spec_, c_.output->dtype, expected_);
  }

  Outcome run_layout(Layout layout) {
    Outcome outcome = judge_layout(layout);
    if (outcome.verdict == Verdict::kFailed) {
      outcome.text += cat("\nrepeat    ", explain_command(request_));
      outcome.text += layout == Layout::kPacked ? "" : cat("\nlayout    ", to_string(layout));
    }
    return outcome;
  }

  Outcome judge_layout(Layout layout) {
    Placed data(request_.data, layout);
    Placed indices(request_.indices, layout);
    data.write(data_);
    indices.write(indices_);
    Placed updates(request_.updates, layout);
    if (c_.updates) {
      updates.write(updates_);
    }
    Request request = request_;
    request.data = data.spec();
    request.indices = indices.spec();
    request.updates = updates.spec();
    std::optional<Placed> output;
    try {
      const TensorSpec computed = make_plan(request).output();
      if (Outcome fits = judge_shape(computed); fits.verdict == Verdict::kFailed) {
        return fits;
      }
      output.emplace(computed, layout);
      request.output = output->spec();
      request.output_given = true;
      const Plan plan = make_plan(request);
      const RunOptions run{.threads = 0, .kernel = options_.backend};
      if (is_device(options_.backend)) {
        run_on_device(plan, options_.backend, data, indices, updates, *output);
      } else if (plan.is_scatter()) {
        plan.run(data.data(), indices.data(), updates.data(), output->data(), run);
      } else {
        plan.run(data.data(), indices.data(), output->data(), run);
      }
    } catch (const Error& error) {
      return judge_refusal(error, !output || output->untouched());
    }
    return judge_output(*output);
  }

  Outcome judge_shape(const TensorSpec& computed) const {
    if (!c_.expect_error && computed.sizes != expected_spec_.sizes) {
      return failure(expected_text(), cat("an output ", computed.str()));
    }
    if (!c_.expect_error && computed.dtype != expected_spec_.dtype) {
      return failure(expected_text(), cat("elements of type ", computed.dtype.name()));
    }
    const auto bytes = checked_mul(element_count(computed.sizes), computed.dtype.bytes());
    if (!bytes || *bytes > kMaxOutputBytes) {
      return failure(expected_text(), cat("an output ", computed.str(), ", too large to try"));
    }
    return kPass;
  }

  Outcome judge_refusal(const Error& error, bool untouched) const {
    if (error.code() == ErrorCode::kUnsupported && !options_.backend.empty()) {
      return {Verdict::kSkipped, cat("no kernel of ", options_.backend, " takes it")};
    }
    if (!c_.expect_error || !blames_the_call(error)) {
      return failure(expected_text(), cat("an error: ", error.what()));
    }
    return untouched ? kPass
                     : failure("an error, and the output untouched",
                               cat("an output written to, and the error: ", error.what()));
  }

  Outcome judge_output(const Placed& output) const {
    const Literal got = output.read();
    if (c_.expect_error) {
      return failure(expected_text(), values_.text(output.spec(), c_.data.dtype, got));
    }
    if (!output.gaps_untouched()) {
      return failure("only elements of the output written", "bytes between them written too");
    }
    const DType type = expected_spec_.dtype;
    const int64_t count = element_count(expected_spec_.sizes);
    for (int64_t e = 0; e < count; ++e) {
      const std::byte* was = got.data() + e * type.bytes();
      const std::byte* due = expected_.data() + e * type.bytes();
      if (!pictures::same_element(type, was, due)) {
        const std::string& dtype = c_.output->dtype;
        Outcome outcome = failure(expected_text(), values_.text(expected_spec_, dtype, got));
        outcome.text += cat("\nfirst     element ", e, " of ", count, " is ",
                            values_.element_text(type, dtype, was), ", expected ",
                            values_.element_text(type, dtype, due));
        return outcome;
      }
    }
    return kPass;
  }

  const Case& c_;
  const CaseOptions& options_;
  ValueReader values_;
  Request request_;
  Literal data_, indices_, updates_, expected_;
  TensorSpec expected_spec_;
};

// Shapes and types only: what the output would be, under WebNN's rules and ours.
Outcome run_shapes(const Case& c) {
  ValueReader values;
  std::string refusal;
  TensorSpec output;
  try {
    const Request request = case_request(c, values);
    refusal = webnn_refusal(request);
    if (refusal.empty()) {
      output = make_plan(request).output();
    }
  } catch (const Error& error) {
    refusal = error.what();
  }
  if (c.expect_error) {
    return refusal.empty() ? failure("an error", cat("an output ", output.str())) : kPass;
  }
  const std::string expected =
      cat("an output ", c.output->dtype, bracketed(case_sizes(c.output->shape)));
  if (!refusal.empty()) {
    return failure(expected, cat("an error: ", refusal));
  }
  const bool same = output.dtype == ValueReader::dtype(c.output->dtype) &&
                    output.sizes == case_sizes(c.output->shape);
  return same ? kPass : failure(expected, cat("an output ", output.str()));
}

}  // namespace

Outcome run_case(const nlohmann::json& json, const CaseOptions& options) {
  try {
    const Case c = read_case(json);
    return c.shapes_only ? run_shapes(c) : ValueCase(c, options).run();
  } catch (const Malformed& error) {
    return {Verdict::kFailed, cat("malformed: ", error.what())};
  } catch (const Unsupported& error) {
    return {Verdict::kSkipped, error.what()};
  } catch (const Error& error) {
    return {Verdict::kFailed, cat("malformed: ", error.what())};
  } catch (const std::exception& error) {
    return {Verdict::kFailed,
            cat("ended by ", error.what(), ", which is not an error of the library")};
  }
}

}  // namespace sheaf::cli
