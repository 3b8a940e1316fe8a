// SPDX-License-Identifier: MIT
#include "io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/scratch.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

struct Refusal {
  const char* dictionary;
  const char* says;
};

TEST(Npy, RefusesHeadersThatLie) {
  const Refusal refusals[] = {
      {"", "'{' is missing"},
      {"{'descr': '<f4', 'fortran_order': False}", "descr, fortran_order or shape is missing"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
       "unexpected key \"more\""},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
       "unexpected key \"descr\""},
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", "big-endian elements"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "Python objects in .npy"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
       "structured elements are not supported"},
      {"{'descr': '<U4', 'fortran_order': False, 'shape': (2,)}", "type '<U4' is not supported"},
      {"{'descr': '|V65', 'fortran_order': False, 'shape': (2,)}", "type '|V65' is not supported"},
      {"{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", "neither True nor False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "is negative"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
       "a number of 64 bits is missing"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296)}",
       "does not fit into 64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,4294967296,4294967296)}",
       "does not fit into 64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "has 12 bytes at"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "something follows"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", "malformed"},
      {"{'descr': '<f4", "a text does not end"},
      {"{'descr': <f4", "'\"' is missing"},
      {"{'descr': ", "'\"' is missing"},
      {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", "type '' is not supported"},
      {"{'descr': 'xf4', 'fortran_order': False, 'shape': (2,)}", "type 'xf4' is not supported"},
      {"{'descr': '|V', 'fortran_order': False, 'shape': (2,)}", "type '|V' is not supported"},
      {"{'descr': '>f4', 'fortran_order': False, 'fortran_order': False, 'shape': (2,)}",
       "unexpected key \"fortran_order\""},
      {"{'descr': '<f4', 'shape': (2,), 'fortran_order': False, 'shape': (2,)}",
       "unexpected key \"shape\""},
  };
  const Scratch scratch;
  for (const Refusal& refusal : refusals) {
    const std::string path = scratch.write("a.npy", npy(refusal.dictionary, std::string(8, 'x')));
    EXPECT_THAT(error_of(path), HasSubstr(refusal.says)) << refusal.dictionary;
  }
}

TEST(Npy, RefusesTooManyDimensionsAndLongHeaders) {
  const Scratch scratch;
  std::string shape;
  for (int i = 0; i < 33; ++i) {
    shape += "1,";
  }
  EXPECT_THAT(error_of(scratch.write("a.npy", npy("{'descr': '<f4', 'fortran_order': False, "
                                                  "'shape': (" +
                                                      shape + ")}",
                                                  "1234"))),
              HasSubstr("33 dimensions, at most 32"));
  const std::string magic("\x93NUMPY\x02\x00", 8);
  EXPECT_THAT(error_of(scratch.write("a.npy", magic + little(1 << 30, 4))),
              HasSubstr("1073741824 bytes, at most 65536 are read"));
  EXPECT_THAT(error_of(scratch.write("a.npy", magic + little(100, 4))),
              HasSubstr("shorter than expected"));
  EXPECT_THAT(
      error_of(scratch.write("a.npy", std::string("\x93NUMPY\x09\x00\x00\x00\x00\x00", 12))),
      HasSubstr("version 9 is unknown"));
  EXPECT_THAT(
      error_of(scratch.write("a.npy", std::string("\x93NUMPY\x00\x00\x00\x00\x00\x00", 12))),
      HasSubstr("version 0 is unknown"));
  for (const char* lacking :
       {"{'fortran_order': False, 'shape': (1,)}", "{'descr': '<f4', 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False}"}) {
    EXPECT_THAT(error_of(scratch.write("a.npy", npy(lacking, "1234"))),
                HasSubstr("descr, fortran_order or shape is missing"))
        << lacking;
  }
}

TEST(Npy, ReadsBothOrders) {
  const Scratch scratch;
  const std::string data = bytes_of<int32_t>({0, 1, 2, 3, 4, 5});
  const File rows(scratch.write(
      "c.npy", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n", data)));
  EXPECT_EQ(rows.format(), FileFormat::kNpy);
  EXPECT_EQ(rows.tensors()[0].spec, TensorSpec(i32, {2, 3}));
  EXPECT_THAT(rows.table().load().elements<int32_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
  const File columns(scratch.write(
      "f.npy", npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n", data)));
  EXPECT_EQ(columns.tensors()[0].spec, TensorSpec(i32, {2, 3}, {1, 2}));
  EXPECT_THAT(columns.table().load().elements<int32_t>(), ElementsAre(0, 2, 4, 1, 3, 5));
}

// Elements of one byte have no order, and '=' is this machine's.
TEST(Npy, ReadsOtherSpellings) {
  const Scratch scratch;
  const std::pair<const char*, DType> spellings[] = {
      {">i1", i8}, {"|u1", u8}, {"=u1", u8}, {"|S1", opaque(1)}, {"|V1", opaque(1)}};
  for (const auto& [descr, type] : spellings) {
    const std::string header =
        std::string("{\"descr\": \"") + descr + "\", 'fortran_order': False, 'shape': (2L,)}";
    const File file(scratch.write("a.npy", npy(header, "ab")));
    EXPECT_EQ(file.tensors()[0].spec, TensorSpec(type, {2})) << descr;
  }
}

TEST(Npy, WritesWhatItReads) {
  const TensorSpec specs[] = {
      {f32, {3, 4}}, {boolean, {}}, {c128, {7}}, {bf16, {2}}, {opaque(24), {1, 0}}};
  for (const TensorSpec& spec : specs) {
    const std::string header = io::npy_header(spec);
    EXPECT_EQ(header.size() % 64, 0u);
    const io::NpyHeader read = io::parse_npy("x", "", [&](int64_t offset, int64_t count) {
      return header.substr(static_cast<size_t>(offset), static_cast<size_t>(count));
    });
    EXPECT_EQ(read.spec.sizes, spec.sizes);
    EXPECT_EQ(read.spec.dtype, spec.dtype == bf16 ? opaque(2) : spec.dtype);
    EXPECT_EQ(read.data_offset, std::ssize(header));
  }
}

}  // namespace
