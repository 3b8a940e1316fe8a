// SPDX-License-Identifier: MIT
//
// What other libraries decode: tests/cases/encodings.txt, written by encodings.py beside it from
// the decoders of the gguf package, PyTorch, ml_dtypes and ONNX's reference evaluator.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "execution/registry.h"
#include "plan/encoded_rows.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using GoldenBytes = std::vector<std::byte>;

GoldenBytes golden_bytes(const std::string& digits) {
  GoldenBytes bytes;
  for (size_t at = 0; at + 1 < digits.size(); at += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

// "f32:0000803f", or "-" for nothing.
struct GoldenPart {
  explicit GoldenPart(const std::string& text) {
    if (text != "-") {
      type = dtype_from_name(text.substr(0, text.find(':')));
      bytes = golden_bytes(text.substr(text.find(':') + 1));
    }
  }
  std::optional<DType> type;
  GoldenBytes bytes;
};

struct GoldenCase {
  std::string decoder;
  EncodedSpec spec;
  GoldenBytes stored, scales, zeros;
  std::vector<float> expected;
};

GoldenCase golden_case(const std::string& line) {
  std::istringstream words(line);
  GoldenCase c;
  std::string encoding, stored, scales, zeros, expected;
  int64_t rows = 0, elements = 0;
  words >> c.decoder >> encoding >> rows >> elements >> c.spec.block >> c.spec.usual_zero >>
      stored >> scales >> zeros >> expected;
  EXPECT_TRUE(words) << line.substr(0, 60);
  c.spec.encoding = encoding_from_name(encoding);
  c.spec.sizes = {rows, elements};
  c.stored = golden_bytes(stored);
  c.spec.stored = TensorSpec(u8, {rows, std::ssize(c.stored) / rows});
  const GoldenPart scale(scales), zero(zeros);
  c.scales = scale.bytes;
  c.zeros = zero.bytes;
  if (scale.type) {
    const int64_t count = std::ssize(c.scales) / scale.type->bytes();
    c.spec.scales = TensorSpec(*scale.type, count == 1 ? Dims{1} : Dims{rows, count / rows});
  }
  if (zero.type) {
    c.spec.zeros = TensorSpec(*zero.type, {rows, std::ssize(c.zeros) / rows});
  }
  const GoldenBytes floats = golden_bytes(expected);
  c.expected.resize(floats.size() / sizeof(float));
  std::memcpy(c.expected.data(), floats.data(), floats.size());
  return c;
}

std::vector<GoldenCase> golden_cases() {
  std::ifstream file("tests/cases/encodings.txt");
  EXPECT_TRUE(file) << "tests run in the root of the source tree";
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) {
    cases.push_back(golden_case(line));
  }
  return cases;
}

// NaNs have other payloads elsewhere; everything else is the same, the sign of zero too.
bool same_value(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

void expect_golden(const GoldenCase& c, std::string_view kernel) {
  std::vector<int64_t> ids(static_cast<size_t>(c.spec.sizes[0]));
  std::iota(ids.begin(), ids.end(), 0);
  const EncodedGatherPlan plan = plan_gather_encoded(c.spec, view(ids).spec);
  Array got(plan.output());
  plan.run({c.stored.data(), c.scales.data(), c.zeros.data(), ids.data(), got.tensor().data},
           {.kernel = kernel});
  const auto values = got.elements<float>();
  ASSERT_EQ(values.size(), c.expected.size()) << c.spec.str();
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(same_value(values[i], c.expected[i]))
        << c.spec.str() << " on " << kernel << ", element " << i << ": " << values[i] << ", but "
        << c.decoder << " says " << c.expected[i];
  }
}

TEST(GoldenEncodings, DecodeAsOthersDo) {
  for (const GoldenCase& c : golden_cases()) {
    for (const Backend* backend : host_backends()) {
      for (const EncodedKernel& kernel : backend->encoded) {
        expect_golden(c, kernel.name);
      }
    }
  }
}

TEST(GoldenEncodings, HaveEveryEncoding) {
  std::set<Encoding> seen;
  for (const GoldenCase& c : golden_cases()) {
    seen.insert(c.spec.encoding);
  }
#define SHEAF_EXPECT(Name, name) EXPECT_TRUE(seen.contains(Encoding::k##Name)) << name;
  SHEAF_ENCODINGS(SHEAF_EXPECT)
#undef SHEAF_EXPECT
}

}  // namespace
}  // namespace sheaf
