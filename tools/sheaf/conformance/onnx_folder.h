// SPDX-License-Identifier: MIT
//
// The folders of ONNX's backend tests: model.onnx beside test_data_set_0/input_0.pb, output_0.pb …
#pragma once

#include <string>
#include <vector>

#include "conformance/run_case.h"

namespace sheaf::cli {

// All folders at or below `path` that hold a model.onnx, sorted.
std::vector<std::string> onnx_folders(const std::string& path);

// Runs the model on every data set. Skipped if a node is none of ours, or a type unknown.
Outcome run_onnx_folder(const std::string& folder);

}  // namespace sheaf::cli
