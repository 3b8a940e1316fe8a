// SPDX-License-Identifier: MIT
//
// Small calls with their results written out, in the order of the functions in docs/bnns.md.
import Accelerate
import XCTest

final class ExampleTests: XCTestCase {
  /// Three slices of two rows of two.
  private let slices: [Float] = [10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33]

  private func gatherND(
    _ lookup: [Int32], _ lookupShape: BNNS.Shape, into shape: BNNS.Shape
  ) -> [Float]? {
    var input = BNNSNDArrayDescriptor.allocate(
      initializingFrom: slices, shape: .tensor3DFirstMajor(3, 2, 2))
    var indices = BNNSNDArrayDescriptor.allocate(initializingFrom: lookup, shape: lookupShape)
    var output = BNNSNDArrayDescriptor.allocateUninitialized(scalarType: Float.self, shape: shape)
    defer {
      input.deallocate()
      indices.deallocate()
      output.deallocate()
    }
    XCTAssertEqual(BNNSGatherND(&input, &indices, &output, nil), 0)
    return output.makeArray(of: Float.self)
  }

  func testALookupVectorGathersASliceARowOrAnElement() {
    XCTAssertEqual(gatherND([1], .vector(1), into: .matrixFirstMajor(2, 2)), [20, 21, 22, 23])
    XCTAssertEqual(gatherND([1, 0], [1, 2], into: .matrixFirstMajor(1, 2)), [20, 21])
    XCTAssertEqual(
      gatherND([1, 1, 1], .tensor3DFirstMajor(1, 1, 3), into: .matrixFirstMajor(1, 1)), [23])
  }

  func testScatterNDPutsThemBack() throws {
    try withArray([1, 0, 0, 1] as [Int32], [2, 2]) { indices in
      try withArray([5, 6, 7, 8] as [Float], [2, 2]) { rows in
        let output = BNNSNDArrayDescriptor.allocate(
          initializingFrom: slices, shape: .tensor3DFirstMajor(3, 2, 2))
        defer { output.deallocate() }
        try BNNS.scatterND(input: rows, indices: indices, output: output)
        XCTAssertEqual(
          output.makeArray(of: Float.self), [10, 11, 7, 8, 5, 6, 22, 23, 30, 31, 32, 33])
        try BNNS.scatterND(
          input: rows, indices: indices, output: output, reductionFunction: .sum)
        XCTAssertEqual(
          output.makeArray(of: Float.self), [10, 11, 14, 16, 10, 12, 22, 23, 30, 31, 32, 33])
      }
    }
  }

  /// Columns, then rows: axis 0 of a row-major matrix is its rows.
  func testGatherTakesColumnsOfARowMajorMatrix() throws {
    try withArray([1, 2, 3, 4, 5, 6] as [Int8], .matrixRowMajor(3, 2)) { input in
      try withArray([2, 0] as [Int32], .vector(2)) { indices in
        let output = BNNSNDArrayDescriptor.allocateUninitialized(
          scalarType: Int8.self, shape: .matrixRowMajor(2, 2))
        defer { output.deallocate() }
        try BNNS.gather(input: input, indices: indices, output: output, axis: 1)
        XCTAssertEqual(output.makeArray(of: Int8.self), [3, 1, 6, 4])
      }
    }
  }

  func testScatterAddsRows() throws {
    try withArray([1, 2, 10, 20] as [Float], .matrixRowMajor(2, 2)) { rows in
      try withArray([2, 2] as [Int32], .vector(2)) { indices in
        let output = BNNSNDArrayDescriptor.allocate(
          repeating: Float(5), shape: .matrixRowMajor(2, 3))
        defer { output.deallocate() }
        try BNNS.scatter(
          input: rows, indices: indices, output: output, axis: 0, reductionFunction: .sum)
        XCTAssertEqual(output.makeArray(of: Float.self), [5, 5, 5, 5, 16, 27])
        try BNNS.scatter(input: rows, indices: indices, output: output, axis: 0)
        XCTAssertEqual(output.makeArray(of: Float.self), [5, 5, 5, 5, 10, 20])
      }
    }
  }

  func testCopyConvertsAndTransposeExchangesAxes() throws {
    try withArray([1.5, -2.5, 300, 4, 5, 6] as [Float], [2, 3]) { input in
      let bytes = BNNSNDArrayDescriptor.allocate(repeating: Int8(0), shape: [2, 3])
      let turned = BNNSNDArrayDescriptor.allocate(repeating: Float(0), shape: [3, 2])
      defer {
        bytes.deallocate()
        turned.deallocate()
      }
      try BNNS.copy(input, to: bytes)
      XCTAssertEqual(bytes.makeArray(of: Int8.self), [1, -2, 127, 4, 5, 6])
      try BNNS.transpose(
        input: input, output: turned, firstTransposeAxis: 0, secondTransposeAxis: 1)
      XCTAssertEqual(turned.makeArray(of: Float.self), [1.5, 4, -2.5, 5, 300, 6])
    }
  }

  func testTileRepeats() throws {
    try withArray([1, 2] as [Int32], [1, 2]) { input in
      let output = BNNSNDArrayDescriptor.allocate(repeating: Int32(0), shape: [2, 4])
      defer { output.deallocate() }
      try BNNS.tile(input: input, output: output)
      XCTAssertEqual(output.makeArray(of: Int32.self), [1, 2, 1, 2, 1, 2, 1, 2])
    }
  }
}
