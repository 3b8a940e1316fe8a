// SPDX-License-Identifier: MIT
//
// sheaf port on small programs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "porting/scan.h"
#include "program.h"

namespace {

namespace fs = std::filesystem;

// A folder of this test's own, with files.
class Tree {
 public:
  explicit Tree(const std::string& name) : root_(fs::path(testing::TempDir()) / ("port_" + name)) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Tree() { fs::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(root_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  std::string path() const { return root_.string(); }

 private:
  fs::path root_;
};

constexpr const char* kHello = R"(#include <Windows.h>
#include <wrl\client.h>
#include <DirectML.h>
#include <wil/result.h>
#include <vector>
#pragma comment(lib, "d3d12.lib")

// CreateRootSignature in a comment, and "DML_OPERATOR_GEMM" in a string, are no calls.
void dispatch(ID3D12Device* device) {
  const DML_OPERATOR_DESC desc = {DML_OPERATOR_GATHER, nullptr};  // DML_OPERATOR_GEMM
  const DML_OPERATOR_DESC other = {DML_OPERATOR_CONVOLUTION, nullptr};
  log("DML_OPERATOR_GEMM /* "); device->CreateHeap(nullptr, iid, nullptr);
  device->CreateRootSignature(0, nullptr, 0, iid, nullptr);
  THROW_IF_FAILED(DMLCreateDevice(device, flags, iid, nullptr));
}
)";

TEST(Port, Refusals) {
  const Finished none = run_sheaf({"port", "/no/such/folder"});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.err,
            "sheaf port: not a folder\n"
            "  /no/such/folder\n"
            "  a folder with sources of DirectML or BNNS is read\n"
            "  try: a path that exists\n");
  EXPECT_EQ(run_sheaf({"port"}).status, 2);
  const Tree tree("unwritable");
  const Finished patch = run_sheaf({"port", tree.path(), "--patch", "/no/such/folder/p"});
  EXPECT_EQ(patch.status, 1);
  EXPECT_EQ(patch.err,
            "sheaf port: cannot write the patch\n"
            "  /no/such/folder/p\n"
            "  a folder with sources of DirectML or BNNS is read\n"
            "  try: a path that exists\n");
}

TEST(Port, DirectML) {
  const Tree tree("directml");
  tree.write("src/main.cpp", kHello);
  tree.write(".git/main.cpp", kHello);
  tree.write("src/DirectMLX.h", "auto t = DML_OPERATOR_GEMM;");
  tree.write("README.md", "DML_OPERATOR_GEMM");
  const Finished run = run_sheaf({"port", tree.path()});
  EXPECT_EQ(run.status, 1) << "some of it is refused";
  EXPECT_EQ(run.out,
            "src/main.cpp:1: change <Windows.h>: write <windows.h>\n"
            "src/main.cpp:2: change <wrl\\client.h>: write <wrl/client.h>\n"
            "src/main.cpp:3: runs <DirectML.h>\n"
            "src/main.cpp:4: absent <wil/result.h>: wil is Windows': define THROW_IF_FAILED, or "
            "bring wil\n"
            "src/main.cpp:6: change #pragma comment(lib): link with pkg-config --libs "
            "sheaf-directml instead\n"
            "src/main.cpp:10: runs DML_OPERATOR_GATHER\n"
            "src/main.cpp:11: refused DML_OPERATOR_CONVOLUTION: CreateOperator answers "
            "E_INVALIDARG: no such operator\n"
            "src/main.cpp:12: runs CreateHeap\n"
            "src/main.cpp:13: refused CreateRootSignature: answers E_NOTIMPL: there are no "
            "shaders\n"
            "src/main.cpp:14: absent THROW_IF_FAILED: of wil: a macro of your own, or wil for "
            "Linux\n"
            "src/main.cpp:14: runs DMLCreateDevice\n"
            "1 files: 4 run, 3 to change, 2 refused, 2 absent\n");
}

TEST(Port, ThePatchApplies) {
  const Tree tree("patch"), out("patch_out");
  tree.write("src/main.cpp", kHello);
  tree.write("CMakeLists.txt", "project(x)\ntarget_link_libraries(x d3d12.lib DirectML.lib)\n");
  const std::string patch = out.path() + "/port.patch";
  run_sheaf({"port", tree.path(), "--patch", patch});
  const std::string command = "cd '" + tree.path() + "' && git apply '" + patch + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(tree.read("CMakeLists.txt"), "project(x)\ntarget_link_libraries(x d3d12 directml)\n");
  const std::string changed = tree.read("src/main.cpp");
  EXPECT_EQ(changed.substr(0, changed.find("#include <DirectML.h>")),
            "#include <windows.h>\n#include <wrl/client.h>\n");
  EXPECT_NE(changed.find("// #pragma comment(lib"), std::string::npos);
  const Finished again = run_sheaf({"port", tree.path()});
  EXPECT_NE(again.out.find(" 0 to change"), std::string::npos) << again.out;
}

TEST(Port, Bnns) {
  const Tree tree("bnns");
  tree.write("a.c",
             "#include <Accelerate/Accelerate.h>\n"
             "int f(BNNSNDArrayDescriptor* a) { return BNNSGather(0, a, a, a, 0); }\n"
             "int g(void) { return BNNSFilterApply(0, 0, 0); }\n");
  tree.write("Makefile", "LIBS = -framework Accelerate\n");
  const Finished run = run_sheaf({"port", tree.path()});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out,
            "Makefile:1: change -framework Accelerate: write -lsheaf-accelerate\n"
            "a.c:1: runs <Accelerate/Accelerate.h>\n"
            "a.c:2: runs BNNSGather\n"
            "a.c:3: absent BNNSFilterApply: not in the library: only gathers, scatters and "
            "copies are\n"
            "2 files: 2 run, 1 to change, 0 refused, 1 absent\n");
}

TEST(Port, WhatRunsIsSuccess) {
  const Tree tree("clean");
  tree.write("a.cc", "#include <directml.h>\nauto t = DML_OPERATOR_TOP_K1;\n");
  const Finished run = run_sheaf({"port", tree.path()});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out,
            "a.cc:1: runs <directml.h>\n"
            "a.cc:2: runs DML_OPERATOR_TOP_K1\n"
            "1 files: 2 run, 0 to change, 0 refused, 0 absent\n");
}

// Changes far apart are pieces of their own, with three lines around each.
TEST(Port, PiecesOfAPatch) {
  std::string text;
  for (int i = 1; i <= 20; ++i) {
    text += i == 2 || i == 18 ? "#include <D3D12.h>\n" : "line " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(sheaf::cli::unified_diff("x.cc", sheaf::cli::scan_source(text)),
            "--- a/x.cc\n+++ b/x.cc\n"
            "@@ -1,5 +1,5 @@\n line 1\n-#include <D3D12.h>\n+#include <d3d12.h>\n line 3\n line 4\n"
            " line 5\n"
            "@@ -15,6 +15,6 @@\n line 15\n line 16\n line 17\n-#include <D3D12.h>\n"
            "+#include <d3d12.h>\n line 19\n line 20\n");
  EXPECT_EQ(sheaf::cli::unified_diff("x.cc", sheaf::cli::scan_source("int i;\n")), "");
}

TEST(Port, CommentsAndQuotes) {
  const auto words = [](const std::string& text) {
    std::string found;
    for (const auto& finding : sheaf::cli::scan_source(text).findings) {
      found += finding.what + ";";
    }
    return found;
  };
  EXPECT_EQ(words("/* CreateHeap\nCreateHeap */ SetEvent\n"), "SetEvent;");
  EXPECT_EQ(words("f(\"a\\\"CreateHeap\", CreateEvent)\n"), "CreateEvent;");
  EXPECT_EQ(words("x = 1'000 + SetEvent; // CreateHeap\n"), "SetEvent;");
  EXPECT_EQ(words("\"never closed CreateHeap\nSetEvent"), "SetEvent;");
  EXPECT_EQ(words("MyCreateHeap CreateHeap2 CreateHeap CreateHeap"), "CreateHeap;");
  EXPECT_EQ(words("#include\n#include <\n#\n"), "");
}

}  // namespace
