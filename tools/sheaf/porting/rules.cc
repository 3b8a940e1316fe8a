// SPDX-License-Identifier: MIT
#include "porting/rules.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace sheaf::cli {
namespace {

// docs/directml.md, "Operators".
constexpr std::string_view kOperators[] = {
    "CAST",
    "ELEMENT_WISE_IDENTITY",
    "FILL_VALUE_CONSTANT",
    "FILL_VALUE_SEQUENCE",
    "GATHER",
    "GATHER_ELEMENTS",
    "GATHER_ND",
    "GATHER_ND1",
    "INVALID",
    "JOIN",
    "NONZERO_COORDINATES",
    "ONE_HOT",
    "PADDING",
    "PADDING1",
    "REVERSE_SUBSEQUENCES",
    "SCATTER",
    "SCATTER_ELEMENTS",
    "SCATTER_ND",
    "SLICE",
    "SLICE1",
    "SLICE_GRAD",
    "SPLIT",
    "TILE",
    "TOP_K",
    "TOP_K1",
};

struct Word {
  std::string_view word;
  Fate fate;
  std::string_view advice;
};

constexpr std::string_view kNotImplemented = "answers E_NOTIMPL: there are no shaders";
constexpr std::string_view kCloseFails = "Close() answers E_NOTIMPL: there are no shaders";
constexpr std::string_view kNoWindows = "no windows here: leave it out";

constexpr Word kWords[] = {
    // How programs begin.
    {"D3D12CreateDevice", Fate::kRuns, ""},
    {"DMLCreateDevice", Fate::kRuns, ""},
    {"DMLCreateDevice1", Fate::kRuns, ""},
    {"DXCoreCreateAdapterFactory", Fate::kRuns, ""},
    {"CreateDXGIFactory", Fate::kRuns, ""},
    {"CreateDXGIFactory1", Fate::kRuns, ""},
    {"CreateDXGIFactory2", Fate::kRuns, ""},
    {"D3D12GetDebugInterface", Fate::kRuns, ""},
    {"EnumWarpAdapter", Fate::kRefused,
     "answers DXGI_ERROR_NOT_FOUND: the host is one of the other adapters"},
    {"CreateSwapChainForComposition", Fate::kRefused, kNoWindows},
    {"CreateSwapChainForHwnd", Fate::kRefused, kNoWindows},
    {"CreateSwapChain", Fate::kRefused, kNoWindows},
    // Direct3D.
    {"CreateHeap", Fate::kRuns, ""},
    {"CreatePlacedResource", Fate::kRuns, ""},
    {"CreateCommittedResource", Fate::kRuns, ""},
    {"CreateReservedResource", Fate::kRefused,
     "answers DXGI_ERROR_UNSUPPORTED, as TiledResourcesTier says: use CreatePlacedResource"},
    {"UpdateTileMappings", Fate::kRefused, "does nothing, as TiledResourcesTier says"},
    {"ClearUnorderedAccessViewUint", Fate::kRuns, ""},
    {"ClearUnorderedAccessViewFloat", Fate::kRuns, ""},
    {"CreateQueryHeap", Fate::kRuns, ""},
    {"CreateComputePipelineState", Fate::kRefused, kNotImplemented},
    {"CreateGraphicsPipelineState", Fate::kRefused, kNotImplemented},
    {"CreatePipelineState", Fate::kRefused, kNotImplemented},
    {"CreateRootSignature", Fate::kRefused, kNotImplemented},
    {"D3D12SerializeRootSignature", Fate::kRefused, kNotImplemented},
    {"D3D12SerializeVersionedRootSignature", Fate::kRefused, kNotImplemented},
    {"SetComputeRootSignature", Fate::kRefused, kCloseFails},
    {"SetPipelineState", Fate::kRefused, kCloseFails},
    {"ExecuteIndirect", Fate::kRefused, kCloseFails},
    {"DrawInstanced", Fate::kRefused, kCloseFails},
    {"CopyTextureRegion", Fate::kRefused, "Close() answers E_NOTIMPL: there are no textures"},
    {"CreateSharedHandle", Fate::kRefused, "answers E_NOTIMPL: memory belongs to its process"},
    {"D3DCompile", Fate::kAbsent, "no shaders here: leave it out"},
    {"D3DCompileFromFile", Fate::kAbsent, "no shaders here: leave it out"},
    // Win32.
    {"CreateEvent", Fate::kRuns, ""},
    {"CreateEventA", Fate::kRuns, ""},
    {"CreateEventW", Fate::kRuns, ""},
    {"CreateEventEx", Fate::kRuns, ""},
    {"SetEvent", Fate::kRuns, ""},
    {"ResetEvent", Fate::kRuns, ""},
    {"CloseHandle", Fate::kRuns, ""},
    {"WaitForSingleObject", Fate::kRuns, ""},
    {"WaitForSingleObjectEx", Fate::kRuns, ""},
    {"WaitForMultipleObjects", Fate::kAbsent, "wait for one event after the other"},
    {"LoadLibraryA", Fate::kAbsent, "dlopen(\"libdirectml.so\", RTLD_NOW) of <dlfcn.h>"},
    {"LoadLibraryW", Fate::kAbsent, "dlopen(\"libdirectml.so\", RTLD_NOW) of <dlfcn.h>"},
    {"GetProcAddress", Fate::kAbsent, "dlsym of <dlfcn.h>"},
    {"THROW_IF_FAILED", Fate::kAbsent, "of wil: a macro of your own, or wil for Linux"},
    {"winrt", Fate::kAbsent, "C++/WinRT is Windows': Microsoft::WRL::ComPtr of <wrl/client.h>"},
    {"wWinMain", Fate::kAbsent, "int main()"},
    {"wmain", Fate::kAbsent, "int main()"},
    {"SUCCEEDED", Fate::kRuns, ""},
    // BNNS: include/sheaf/bnns.h.
    {"BNNSCopy", Fate::kRuns, ""},
    {"BNNSDataLayoutGetRank", Fate::kRuns, ""},
    {"BNNSGather", Fate::kRuns, ""},
    {"BNNSGatherND", Fate::kRuns, ""},
    {"BNNSNDArrayGetDataSize", Fate::kRuns, ""},
    {"BNNSScatter", Fate::kRuns, ""},
    {"BNNSScatterND", Fate::kRuns, ""},
    {"BNNSTile", Fate::kRuns, ""},
    {"BNNSTranspose", Fate::kRuns, ""},
};

// Types of BNNS that are declared, by how their names begin.
constexpr std::string_view kBnnsTypes[] = {"BNNSDataLayout", "BNNSDataType", "BNNSFilterParameters",
                                           "BNNSFlags",      "BNNSNDArray",  "BNNSReduceFunction"};

// Headers that are here, under the names that Linux needs; and those that are not.
constexpr std::string_view kHeaders[] = {
    "Accelerate/Accelerate.h",
    "DirectML.h",
    "DirectMLX.h",
    "d3d12.h",
    "d3dx12.h",
    "dxcore.h",
    "dxgi.h",
    "dxgi1_2.h",
    "dxgi1_3.h",
    "dxgi1_4.h",
    "dxgi1_5.h",
    "dxgi1_6.h",
    "handleapi.h",
    "synchapi.h",
    "windows.h",
    "wrl/client.h",
};
constexpr Word kAbsentHeaders[] = {
    {"wil/result.h", Fate::kAbsent, "wil is Windows': define THROW_IF_FAILED, or bring wil"},
    {"wil/resource.h", Fate::kAbsent, "wil is Windows': use ComPtr and CloseHandle"},
    {"d3dcompiler.h", Fate::kAbsent, "no shaders here: leave it out"},
    {"dxcapi.h", Fate::kAbsent, "no shaders here: leave it out"},
    {"winrt/base.h", Fate::kAbsent, "C++/WinRT is Windows': <wrl/client.h>"},
    {"wrl/implements.h", Fate::kAbsent, "of the package directx-headers-dev"},
};

std::string lower(std::string_view text) {
  std::string low(text);
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) {
    return c == '\\' ? '/' : static_cast<char>(std::tolower(c));
  });
  return low;
}

bool rule_on_operator(std::string_view word, Ruling& ruling) {
  constexpr std::string_view kPrefix = "DML_OPERATOR_";
  if (!word.starts_with(kPrefix) || word == "DML_OPERATOR_DESC" || word == "DML_OPERATOR_TYPE" ||
      word.starts_with("DML_OPERATOR_GRAPH_NODE")) {
    return false;
  }
  const std::string_view name = word.substr(kPrefix.size());
  const bool here =
      std::find(std::begin(kOperators), std::end(kOperators), name) != std::end(kOperators);
  ruling = here ? Ruling{Fate::kRuns, ""}
                : Ruling{Fate::kRefused, "CreateOperator answers E_INVALIDARG: no such operator"};
  return true;
}

bool rule_on_bnns(std::string_view word, Ruling& ruling) {
  const bool type = std::any_of(std::begin(kBnnsTypes), std::end(kBnnsTypes),
                                [&](std::string_view t) { return word.starts_with(t); });
  if (!word.starts_with("BNNS") || type || word == "BNNS") {
    return false;
  }
  ruling = {Fate::kAbsent, "not in the library: only gathers, scatters and copies are"};
  return true;
}

}  // namespace

bool rule_on_word(std::string_view word, Ruling& ruling) {
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords),
                                   [&](const Word& known) { return known.word == word; });
  if (found != std::end(kWords)) {
    ruling = {found->fate, std::string(found->advice)};
    return true;
  }
  return rule_on_operator(word, ruling) || rule_on_bnns(word, ruling);
}

bool rule_on_include(std::string& name, Ruling& ruling) {
  const std::string wanted = lower(name);
  for (const Word& absent : kAbsentHeaders) {
    if (absent.word == wanted) {
      ruling = {absent.fate, std::string(absent.advice)};
      return true;
    }
  }
  for (const std::string_view header : kHeaders) {
    if (lower(header) == wanted) {
      const bool same = header == name || (name == "directml.h" && header == "DirectML.h");
      ruling = same ? Ruling{Fate::kRuns, ""}
                    : Ruling{Fate::kChange, "write <" + std::string(header) + ">"};
      name = same ? name : std::string(header);
      return true;
    }
  }
  return false;
}

}  // namespace sheaf::cli
