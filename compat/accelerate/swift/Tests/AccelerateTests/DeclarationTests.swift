// SPDX-License-Identifier: MIT
//
// The names, labels, types and optionality that Apple's programs rely on: compiling is the test.
import Accelerate
import XCTest

private typealias Array_ = BNNSNDArrayDescriptor
private typealias Parameters = BNNSFilterParameters

final class DeclarationTests: XCTestCase {
  func testFunctionsOfBNNS() {
    let _: (Array_, Array_, Array_, Int, Parameters?) throws -> Void =
      BNNS.gather(input:indices:output:axis:filterParameters:)
    let _: (Array_, Array_, Array_, Parameters?) throws -> Void =
      BNNS.gatherND(input:indices:output:filterParameters:)
    let _: (Array_, Array_, Array_, Int, Parameters?) throws -> Void =
      BNNS.scatter(input:indices:output:axis:filterParameters:)
    let _: (Array_, Array_, Array_, Int, BNNS.ReductionFunction, Parameters?) throws -> Void =
      BNNS.scatter(input:indices:output:axis:reductionFunction:filterParameters:)
    let _: (Array_, Array_, Array_, Parameters?) throws -> Void =
      BNNS.scatterND(input:indices:output:filterParameters:)
    let _: (Array_, Array_, Array_, BNNS.ReductionFunction, Parameters?) throws -> Void =
      BNNS.scatterND(input:indices:output:reductionFunction:filterParameters:)
    let _: (Array_, Array_, Parameters?) throws -> Void = BNNS.copy(_:to:filterParameters:)
    let _: (Array_, Array_, Int, Int, Parameters?) throws -> Void =
      BNNS.transpose(input:output:firstTransposeAxis:secondTransposeAxis:filterParameters:)
    let _: (Array_, Array_, Parameters?) throws -> Void = BNNS.tile(input:output:filterParameters:)
  }

  func testFunctionsOfC() {
    typealias Input = UnsafePointer<BNNSNDArrayDescriptor>
    typealias Output = UnsafeMutablePointer<BNNSNDArrayDescriptor>
    typealias Filter = UnsafePointer<BNNSFilterParameters>?
    let _: (Int, Input, Input, Output, Filter) -> Int32 = BNNSGather
    let _: (Input, Input, Output, Filter) -> Int32 = BNNSGatherND
    let _: (Int, BNNSReduceFunction, Input, Input, Output, Filter) -> Int32 = BNNSScatter
    let _: (BNNSReduceFunction, Input, Input, Output, Filter) -> Int32 = BNNSScatterND
    let _: (Output, Input, Filter) -> Int32 = BNNSCopy
    let _: (Output, Input, Int, Int, Filter) -> Int32 = BNNSTranspose
    let _: (Input, Output, Filter) -> Int32 = BNNSTile
    let _: (Input) -> Int = BNNSNDArrayGetDataSize
    let _: (BNNSDataLayout) -> Int = BNNSDataLayoutGetRank
    let _: () -> UnsafePointer<CChar> = sheaf_last_error
  }

  func testMembersOfDescriptors() {
    let array = BNNSNDArrayDescriptor(
      flags: BNNSNDArrayFlags(0), layout: BNNSDataLayoutRowMajorMatrix,
      size: (3, 3, 0, 0, 0, 0, 0, 0), stride: (0, 0, 0, 0, 0, 0, 0, 0), data: nil,
      data_type: .float, table_data: nil, table_data_type: .float, data_scale: 1, data_bias: 0)
    let _: UnsafeMutableRawPointer? = array.data
    let _: UnsafeMutableRawPointer? = array.table_data
    let _: Eight = array.size
    let _: Eight = array.stride
    let _: BNNSDataLayout = array.layout
    let _: BNNSDataType = array.data_type
    let _: BNNSNDArrayFlags = array.flags
    let _: BNNS.Shape = array.shape
    let _: Int = array.dataSize
    let _: Float = array.data_scale + array.data_bias
    XCTAssertNil(BNNSNDArrayDescriptor().data)
  }

  func testMembersOfShapes() {
    let shape: BNNS.Shape = [2, 3]
    let _: Eight = shape.size
    let _: Eight = shape.stride
    let _: BNNSDataLayout = shape.layout
    let _: Int = shape.rank + shape.batchStride
    let _: ([Int], BNNS.DataLayout?, [Int]?) -> BNNS.Shape =
      BNNS.Shape.init(_:dataLayout:stride:)
  }

  func testMakingArrays() {
    let _: (Float, BNNS.Shape, Int) -> Array_ = Array_.allocate(repeating:shape:batchSize:)
    let _: (ArraySlice<Int8>, BNNS.Shape, Int) -> Array_ =
      Array_.allocate(initializingFrom:shape:batchSize:)
    let _: (any BNNSScalar.Type, BNNS.Shape, Int) -> Array_ =
      Array_.allocateUninitialized(scalarType:shape:batchSize:)
    let _: (ClosedRange<Int16>, BNNS.Shape, Int) -> Array_ =
      Array_.allocate(randomIn:shape:batchSize:)
    let _: (ClosedRange<Float>, BNNS.Shape, Int) -> Array_ =
      Array_.allocate(randomIn:shape:batchSize:)
    let _: (ClosedRange<Float>, inout SeededGenerator, BNNS.Shape, Int) -> Array_ =
      Array_.allocate(randomIn:using:shape:batchSize:)
    let _: (UnsafeMutableBufferPointer<Bool>, BNNS.Shape) -> Array_? = Array_.init(data:shape:)
    let _: (UnsafeMutableBufferPointer<Bool>, BNNS.Shape, Int) -> Array_? =
      Array_.init(data:shape:batchSize:)
    let _: (UnsafeMutableRawBufferPointer, any BNNSScalar.Type, BNNS.Shape) -> Array_? =
      Array_.init(data:scalarType:shape:)
    let _: (UnsafeMutableRawBufferPointer, any BNNSScalar.Type, BNNS.Shape, Int) -> Array_? =
      Array_.init(data:scalarType:shape:batchSize:)
    let _: (BNNSDataType, BNNS.Shape) -> Array_ = Array_.init(dataType:shape:)
    let _: (Array_) -> (String.Type, Int) -> [String]? = Array_.makeArray(of:batchSize:)
  }

  func testErrors() {
    let _: any Error = BNNS.Error.arrayDescriptorInvalidData
    let _: Set<BNNS.Error> = [.layerApplyFail, .optimizerStepFail, .unableToCreateLayer]
  }
}
