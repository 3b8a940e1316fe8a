// SPDX-License-Identifier: MIT
import Accelerate
import XCTest

final class ArrayDescriptorTests: XCTestCase {
  func testAnArrayWithoutMemoryHasItsShape() {
    let array = BNNSNDArrayDescriptor(dataType: .int16, shape: .imageCHW(4, 3, 2))
    XCTAssertEqual(array.layout, BNNSDataLayoutImageCHW)
    XCTAssertEqual(elements(array.size), [4, 3, 2, 0, 0, 0, 0, 0])
    XCTAssertEqual(array.data_type, .int16)
    XCTAssertEqual(array.data_scale, 1)
    XCTAssertEqual(array.data_bias, 0)
    XCTAssertEqual(array.dataSize, 48)
    XCTAssertNil(array.data)
    XCTAssertNil(array.makeArray(of: Int16.self))
    array.deallocate()  // nothing to free
  }

  func testACopyOfValuesComesBackForEveryType() {
    var generator = SeededGenerator(seed: 1)
    func check<T: TestScalar>(_ type: T.Type) {
      let values = randomValues(of: T.self, count: 24, using: &generator)
      withArray(values, .tensor3DFirstMajor(2, 3, 4)) { array in
        XCTAssertEqual(array.data_type, T.bnnsDataType)
        XCTAssertEqual(array.makeArray(of: T.self), values, "\(T.self)")
        XCTAssertEqual(array.dataSize, 24 * MemoryLayout<T>.stride)
      }
    }
    for type in allScalars {
      check(type)
    }
  }

  func testAnyCollectionWillDo() {
    let range = withArray(Array(1...6).map(Int32.init), .vector(6)) { $0.makeArray(of: Int32.self) }
    XCTAssertEqual(range, [1, 2, 3, 4, 5, 6])
    let slice = BNNSNDArrayDescriptor.allocate(
      initializingFrom: ([9, 8, 7, 6] as [Int64])[1...], shape: .vector(3))
    XCTAssertEqual(slice.makeArray(of: Int64.self), [8, 7, 6])
    slice.deallocate()
    let lazy = BNNSNDArrayDescriptor.allocate(
      initializingFrom: (0..<4).lazy.map { Float($0) / 2 }, shape: [2, 2])
    XCTAssertEqual(lazy.makeArray(of: Float.self), [0, 0.5, 1, 1.5])
    lazy.deallocate()
  }

  func testWhatIsBeyondTheShapeIsLeftOut() {
    let array = BNNSNDArrayDescriptor.allocate(
      initializingFrom: [1, 2, 3, 4] as [UInt8], shape: .vector(3))
    XCTAssertEqual(array.makeArray(of: UInt8.self), [1, 2, 3])
    array.deallocate()
  }

  func testOneValueIsRepeated() {
    let array = BNNSNDArrayDescriptor.allocate(repeating: Float(0.5), shape: .matrixRowMajor(2, 3))
    XCTAssertEqual(array.makeArray(of: Float.self), Array(repeating: 0.5, count: 6))
    array.deallocate()
  }

  func testUninitializedMemoryIsAlignedAndCanBeWritten() {
    for type in allScalars {
      let array = BNNSNDArrayDescriptor.allocateUninitialized(
        scalarType: type, shape: .matrixColumnMajor(7, 5))
      XCTAssertEqual(array.data_type, type.bnnsDataType)
      XCTAssertEqual(Int(bitPattern: array.data) % 64, 0)
      array.data!.initializeMemory(as: UInt8.self, repeating: 1, count: array.dataSize)
      array.deallocate()
    }
  }

  func testBatchesFollowEachOther() {
    let shape = BNNS.Shape.matrixRowMajor(2, 2, stride: (1, 3))
    let values = (0..<11).map(Int16.init)  // the last batch ends at its last element
    let array = BNNSNDArrayDescriptor.allocate(
      initializingFrom: values, shape: shape, batchSize: 2)
    XCTAssertEqual(array.makeArray(of: Int16.self, batchSize: 2), values)
    XCTAssertEqual(array.makeArray(of: Int16.self), [0, 1, 2, 3, 4])
    XCTAssertEqual(array.makeArray(of: Int16.self, batchSize: 0), [])
    array.deallocate()
    let filled = BNNSNDArrayDescriptor.allocate(repeating: UInt8(3), shape: [2, 2], batchSize: 5)
    XCTAssertEqual(
      filled.makeArray(of: UInt8.self, batchSize: 5), Array(repeating: 3, count: 20))
    filled.deallocate()
  }

  func testEmptyArraysHaveNoElements() {
    let array = BNNSNDArrayDescriptor.allocate(initializingFrom: [] as [Float], shape: [0, 3])
    XCTAssertEqual(array.makeArray(of: Float.self), [])
    XCTAssertEqual(array.dataSize, 0)
    array.deallocate()
  }

  func testBuffersAreReferredTo() {
    var values: [Float] = [1, 2, 3, 4]
    values.withUnsafeMutableBufferPointer { buffer in
      let array = BNNSNDArrayDescriptor(data: buffer, shape: [2, 2])!
      XCTAssertEqual(array.data, UnsafeMutableRawPointer(buffer.baseAddress!))
      XCTAssertEqual(array.data_type, .float)
      buffer[3] = 9
      XCTAssertEqual(array.makeArray(of: Float.self), [1, 2, 3, 9])
      let batches = BNNSNDArrayDescriptor(data: buffer, shape: .vector(2), batchSize: 2)!
      XCTAssertEqual(batches.makeArray(of: Float.self, batchSize: 2), [1, 2, 3, 9])
    }
    values.withUnsafeMutableBytes { bytes in
      let array = BNNSNDArrayDescriptor(data: bytes, scalarType: UInt32.self, shape: .vector(2))!
      XCTAssertEqual(array.makeArray(of: UInt32.self), [Float(1).bitPattern, Float(2).bitPattern])
      XCTAssertNotNil(
        BNNSNDArrayDescriptor(data: bytes, scalarType: Int64.self, shape: [1], batchSize: 2))
    }
  }

  func testBuffersThatAreTooShortAreRefused() {
    var values: [Float] = [1, 2, 3, 4]
    values.withUnsafeMutableBufferPointer { buffer in
      XCTAssertNil(BNNSNDArrayDescriptor(data: buffer, shape: .vector(5)))
      XCTAssertNil(BNNSNDArrayDescriptor(data: buffer, shape: .vector(3, stride: 2)))
      XCTAssertNotNil(BNNSNDArrayDescriptor(data: buffer, shape: .vector(2, stride: 3)))
      XCTAssertNil(BNNSNDArrayDescriptor(data: buffer, shape: .vector(2), batchSize: 3))
    }
    values.withUnsafeMutableBytes { bytes in
      XCTAssertNil(BNNSNDArrayDescriptor(data: bytes, scalarType: Int64.self, shape: .vector(3)))
      XCTAssertNil(
        BNNSNDArrayDescriptor(data: bytes, scalarType: Int64.self, shape: [1], batchSize: 3))
    }
    let nothing = UnsafeMutableBufferPointer<Float>(start: nil, count: 0)
    XCTAssertNil(BNNSNDArrayDescriptor(data: nothing, shape: .vector(1)))
  }

  func testElementsOfAnotherSizeAreNotRead() {
    withArray([1, 2] as [Float], .vector(2)) { array in
      XCTAssertNil(array.makeArray(of: Float16.self))
      XCTAssertNil(array.makeArray(of: Int64.self))
      XCTAssertNil(array.makeArray(of: String.self))
      XCTAssertNil(array.makeArray(of: Double.self))
      XCTAssertEqual(array.makeArray(of: UInt32.self), [0x3f80_0000, 0x4000_0000])
    }
    withArray([0, 1, 2] as [UInt8], .vector(3)) { array in
      XCTAssertNil(array.makeArray(of: Bool.self))  // 2 is none
    }
    withArray([true, false], .vector(2)) { array in
      XCTAssertEqual(array.makeArray(of: UInt8.self), [1, 0])
    }
  }

  func testBFloat16IsReadAsItsBits() {
    var array = BNNSNDArrayDescriptor.allocate(
      initializingFrom: [0x3f80, 0x4000] as [UInt16], shape: .vector(2))
    array.data_type = BNNSDataTypeBFloat16
    XCTAssertEqual(array.makeArray(of: UInt16.self), [0x3f80, 0x4000])
    array.deallocate()
  }

  func testRandomValuesAreInTheirRange() {
    var generator = SeededGenerator(seed: 5)
    let shape: BNNS.Shape = [4, 25]
    let arrays = [
      BNNSNDArrayDescriptor.allocate(randomIn: Int16(-3)...3, shape: shape),
      BNNSNDArrayDescriptor.allocate(randomIn: Int16(-3)...3, using: &generator, shape: shape),
    ]
    for array in arrays {
      XCTAssertTrue(array.makeArray(of: Int16.self)!.allSatisfy { (-3...3).contains($0) })
      array.deallocate()
    }
    let floats = [
      BNNSNDArrayDescriptor.allocate(randomIn: Float(0)...1, shape: shape, batchSize: 2),
      BNNSNDArrayDescriptor.allocate(
        randomIn: Float(0)...1, using: &generator, shape: shape, batchSize: 2),
    ]
    for array in floats {
      let values = array.makeArray(of: Float.self, batchSize: 2)!
      XCTAssertEqual(values.count, 200)
      XCTAssertTrue(values.allSatisfy { (0...1).contains($0) })
      XCTAssertGreaterThan(Set(values).count, 100)
      array.deallocate()
    }
    var first = SeededGenerator(seed: 6)
    var second = first
    let a = BNNSNDArrayDescriptor.allocate(randomIn: UInt8.min...255, using: &first, shape: [9])
    let b = BNNSNDArrayDescriptor.allocate(randomIn: UInt8.min...255, using: &second, shape: [9])
    XCTAssertEqual(a.makeArray(of: UInt8.self), b.makeArray(of: UInt8.self))
    a.deallocate()
    b.deallocate()
  }
}
