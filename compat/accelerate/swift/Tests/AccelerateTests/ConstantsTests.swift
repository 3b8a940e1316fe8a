// SPDX-License-Identifier: MIT
import Accelerate
import XCTest

final class ConstantsTests: XCTestCase {
  /// The C enumerations are structures, and their constants have those types.
  func testEnumerationsAreTypesOfTheirOwn() {
    let layout: BNNSDataLayout = BNNSDataLayout3DFirstMajor
    let type: BNNSDataType = BNNSDataTypeBFloat16
    let flags: BNNSNDArrayFlags = BNNSNDArrayFlagBackpropAccumulate
    let function: BNNSReduceFunction = BNNSReduceFunctionNone
    XCTAssertEqual(layout.rawValue, 0x38001)
    XCTAssertEqual(layout, BNNSDataLayout(0x38001))
    XCTAssertEqual(type, BNNSDataType(rawValue: 0x18010))
    XCTAssertEqual(flags, BNNSNDArrayFlags(1))
    XCTAssertEqual(function, BNNSReduceFunction(15))
    XCTAssertEqual(Set([layout, BNNSDataLayoutVector, layout]).count, 2)
    XCTAssertEqual(Set([type]).union([.float]).count, 2)
    XCTAssertEqual(Set([flags, flags]).count, 1)
    XCTAssertEqual(Set([function, BNNSReduceFunctionSum]).count, 2)
    XCTAssertEqual(Set([BNNSFlags.useClientPointer]).count, 1)
    XCTAssertEqual(BNNS_MAX_TENSOR_DIMENSION, 8)
    XCTAssertEqual(BNNSDataLayoutGetRank(layout), 3)
  }

  func testTypesHaveShortNames() {
    XCTAssertEqual(BNNSDataType.float, BNNSDataTypeFloat32)
    XCTAssertEqual(BNNSDataType.float16, BNNSDataTypeFloat16)
    XCTAssertEqual(BNNSDataType.int8, BNNSDataTypeInt8)
    XCTAssertEqual(BNNSDataType.int16, BNNSDataTypeInt16)
    XCTAssertEqual(BNNSDataType.int32, BNNSDataTypeInt32)
    XCTAssertEqual(BNNSDataType.uint8, BNNSDataTypeUInt8)
    XCTAssertEqual(BNNSDataType.uint16, BNNSDataTypeUInt16)
    XCTAssertEqual(BNNSDataType.uint32, BNNSDataTypeUInt32)
    XCTAssertEqual(BNNSDataType.indexed8, BNNSDataTypeIndexed8)
  }

  func testScalarsNameTheirTypes() {
    let types: [(any BNNSScalar.Type, BNNSDataType)] = [
      (Float16.self, BNNSDataTypeFloat16), (Float.self, BNNSDataTypeFloat32),
      (Int8.self, BNNSDataTypeInt8), (Int16.self, BNNSDataTypeInt16),
      (Int32.self, BNNSDataTypeInt32), (Int64.self, BNNSDataTypeInt64),
      (UInt8.self, BNNSDataTypeUInt8), (UInt16.self, BNNSDataTypeUInt16),
      (UInt32.self, BNNSDataTypeUInt32), (UInt64.self, BNNSDataTypeUInt64),
      (Bool.self, BNNSDataTypeBoolean),
    ]
    for (scalar, type) in types {
      XCTAssertEqual(scalar.bnnsDataType, type, "\(scalar)")
    }
  }

  func testFlagsAreASet() {
    var flags: BNNSFlags = []
    XCTAssertFalse(flags.contains(.useClientPointer))
    flags.insert(.useClientPointer)
    XCTAssertEqual(flags, [.useClientPointer])
    XCTAssertEqual(flags, BNNSFlagsUseClientPtr)
    XCTAssertEqual(flags.rawValue, 1)
  }

  func testFilterParametersHaveSwiftNames() {
    XCTAssertEqual(BNNSFilterParameters().flags, 0)
    XCTAssertNil(BNNSFilterParameters().alloc_memory)
    var parameters = BNNSFilterParameters(
      options: .useClientPointer, threadCount: 3, allocator: nil, deallocator: { _ in })
    XCTAssertEqual(parameters.flags, 1)
    XCTAssertEqual(parameters.n_threads, 3)
    XCTAssertNil(parameters.allocator)
    XCTAssertNotNil(parameters.free_memory)
    parameters.options = []
    parameters.threadCount = 1
    parameters.allocator = { _, _, _ in 12 }
    parameters.deallocator = nil
    XCTAssertEqual(parameters.options, BNNSFlags(0))
    XCTAssertEqual(parameters.threadCount, 1)
    XCTAssertEqual(parameters.alloc_memory?(nil, 8, 8), 12)
    XCTAssertNil(parameters.deallocator)
  }

  func testReductionsNameTheirFunctions() {
    let functions: [(BNNS.ReductionFunction, BNNSReduceFunction)] = [
      (.max, BNNSReduceFunctionMax), (.min, BNNSReduceFunctionMin),
      (.argMax, BNNSReduceFunctionArgMax), (.argMin, BNNSReduceFunctionArgMin),
      (.mean, BNNSReduceFunctionMean), (.meanNonZero, BNNSReduceFunctionMeanNonZero),
      (.sum, BNNSReduceFunctionSum), (.sumOfSquares, BNNSReduceFunctionSumSquare),
      (.sumOfLogs(epsilon: 0.5), BNNSReduceFunctionSumLog),
      (.sumOfAbsolutes, BNNSReduceFunctionL1Norm), (.logicalOr, BNNSReduceFunctionLogicalOr),
      (.any, BNNSReduceFunctionAny), (.logicalAnd, BNNSReduceFunctionLogicalAnd),
      (.all, BNNSReduceFunctionAll), (.l2Norm, BNNSReduceFunctionL2Norm),
      (.logSumExp, BNNSReduceFunctionLogSumExp), (.product, BNNSReduceFunctionProduct),
    ]
    for (function, value) in functions {
      XCTAssertEqual(function.bnnsReduceFunction, value, "\(function)")
    }
  }
}
