// SPDX-License-Identifier: MIT
//
// The IIDs of DirectML's interfaces, for __uuidof and IID_PPV_ARGS. Microsoft's DirectML.h attaches
// them by a language extension that Linux compilers do not have: a program that uses it includes
// this header after it. Include directml.h otherwise.
#pragma once

#include "d3d12.h"

#if SHEAF_OWN_D3D12
#define SHEAF_DML_IID SHEAF_DECLARE_IID
#else
#define SHEAF_DML_IID WINADAPTER_IID  // its uuidof<> knows them too
#endif

SHEAF_DML_IID(IDMLObject, 0xc8263aac, 0x9e0c, 0x4a2d, 0x9b, 0x8e, 0x00, 0x75, 0x21, 0xa3, 0x31,
              0x7c)
SHEAF_DML_IID(IDMLDevice, 0x6dbd6437, 0x96fd, 0x423f, 0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57,
              0x3f)
SHEAF_DML_IID(IDMLDeviceChild, 0x27e83142, 0x8165, 0x49e3, 0x97, 0x4e, 0x2f, 0xd6, 0x6e, 0x4c, 0xb6,
              0x9d)
SHEAF_DML_IID(IDMLPageable, 0xb1ab0825, 0x4542, 0x4a4b, 0x86, 0x17, 0x6d, 0xde, 0x6e, 0x8f, 0x62,
              0x01)
SHEAF_DML_IID(IDMLOperator, 0x26caae7a, 0x3081, 0x4633, 0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69,
              0x5d)
SHEAF_DML_IID(IDMLDispatchable, 0xdcb821a8, 0x1039, 0x441e, 0x9f, 0x1c, 0xb1, 0x75, 0x9c, 0x2f,
              0x3c, 0xec)
SHEAF_DML_IID(IDMLCompiledOperator, 0x6b15e56a, 0xbf5c, 0x4902, 0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a,
              0xfe, 0xa4)
SHEAF_DML_IID(IDMLOperatorInitializer, 0x427c1113, 0x435c, 0x469c, 0x86, 0x76, 0x4d, 0x5d, 0xd0,
              0x72, 0xf8, 0x13)
SHEAF_DML_IID(IDMLBindingTable, 0x29c687dc, 0xde74, 0x4e3b, 0xab, 0x00, 0x11, 0x68, 0xf2, 0xfc,
              0x3c, 0xfc)
SHEAF_DML_IID(IDMLCommandRecorder, 0xe6857a76, 0x2e3e, 0x4fdd, 0xbf, 0xf4, 0x5d, 0x2b, 0xa1, 0x0f,
              0xb4, 0x53)
SHEAF_DML_IID(IDMLDebugDevice, 0x7d6f3ac9, 0x394a, 0x4ac3, 0x92, 0xa7, 0x39, 0x0c, 0xc5, 0x7a, 0x82,
              0x17)
SHEAF_DML_IID(IDMLDevice1, 0xa0884f9a, 0xd2be, 0x4355, 0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1,
              0xd2)

#undef SHEAF_DML_IID

#if !SHEAF_OWN_D3D12
// Programs for Linux attach these IIDs themselves, by WINADAPTER_IID of the DirectX headers, after
// they included DirectML.h. A second definition is an error of the language, so from here on the
// macro compares the twelve above and defines only what is new.
#define SHEAF_IID_GIVEN_IDMLObject ~, 1
#define SHEAF_IID_GIVEN_IDMLDevice ~, 1
#define SHEAF_IID_GIVEN_IDMLDeviceChild ~, 1
#define SHEAF_IID_GIVEN_IDMLPageable ~, 1
#define SHEAF_IID_GIVEN_IDMLOperator ~, 1
#define SHEAF_IID_GIVEN_IDMLDispatchable ~, 1
#define SHEAF_IID_GIVEN_IDMLCompiledOperator ~, 1
#define SHEAF_IID_GIVEN_IDMLOperatorInitializer ~, 1
#define SHEAF_IID_GIVEN_IDMLBindingTable ~, 1
#define SHEAF_IID_GIVEN_IDMLCommandRecorder ~, 1
#define SHEAF_IID_GIVEN_IDMLDebugDevice ~, 1
#define SHEAF_IID_GIVEN_IDMLDevice1 ~, 1

#define SHEAF_IID_SECOND(first, second, ...) second
#define SHEAF_IID_IS_GIVEN(...) SHEAF_IID_SECOND(__VA_ARGS__, 0, ~)
#define SHEAF_IID_CHOOSE_(given) SHEAF_IID_GIVEN_IS_##given
#define SHEAF_IID_CHOOSE(given) SHEAF_IID_CHOOSE_(given)

#define SHEAF_IID_GIVEN_IS_1(type, data1, data2, data3, ...)                                \
  static_assert(ConstexprIsEqualGUID(__uuidof(type), {data1, data2, data3, {__VA_ARGS__}}), \
                "another IID than DirectML's: " #type);
#define SHEAF_IID_GIVEN_IS_0(type, data1, data2, data3, ...) \
  template <>                                                \
  constexpr GUID uuidof<type>() {                            \
    return {data1, data2, data3, {__VA_ARGS__}};             \
  }                                                          \
  __CRT_UUID_DECL(type, data1, data2, data3, __VA_ARGS__)

#undef WINADAPTER_IID
#define WINADAPTER_IID(type, ...) \
  SHEAF_IID_CHOOSE(SHEAF_IID_IS_GIVEN(SHEAF_IID_GIVEN_##type))(type, __VA_ARGS__)
#endif  // !SHEAF_OWN_D3D12
