// SPDX-License-Identifier: MIT
import Accelerate
import XCTest

final class ShapeTests: XCTestCase {
  /// A case without and with strides, and what it has to say.
  private struct Example {
    let shape: BNNS.Shape
    let strided: BNNS.Shape
    let layout: BNNSDataLayout
    let size: [Int]
    let stride: [Int]

    init(
      _ shape: BNNS.Shape, _ strided: BNNS.Shape, _ layout: BNNSDataLayout, _ size: [Int],
      _ stride: [Int]
    ) {
      self.shape = shape
      self.strided = strided
      self.layout = layout
      self.size = size
      self.stride = stride
    }
  }

  private let examples: [Example] = [
    Example(.vector(5), .vector(5, stride: 2), BNNSDataLayoutVector, [5], [2]),
    Example(
      .matrixRowMajor(2, 3), .matrixRowMajor(2, 3, stride: (1, 4)), BNNSDataLayoutRowMajorMatrix,
      [2, 3], [1, 4]
    ),
    Example(
      .matrixColumnMajor(2, 3), .matrixColumnMajor(2, 3, stride: (1, 4)),
      BNNSDataLayoutColumnMajorMatrix, [2, 3], [1, 4]
    ),
    Example(
      .matrixFirstMajor(2, 3), .matrixFirstMajor(2, 3, stride: (1, 4)), BNNSDataLayout2DFirstMajor,
      [2, 3], [1, 4]
    ),
    Example(
      .matrixLastMajor(2, 3), .matrixLastMajor(2, 3, stride: (1, 4)), BNNSDataLayout2DLastMajor,
      [2, 3], [1, 4]
    ),
    Example(
      .imageCHW(4, 3, 2), .imageCHW(4, 3, 2, stride: (2, 9, 30)), BNNSDataLayoutImageCHW,
      [4, 3, 2], [2, 9, 30]
    ),
    Example(
      .tensor3DFirstMajor(4, 3, 2), .tensor3DFirstMajor(4, 3, 2, stride: (2, 9, 30)),
      BNNSDataLayout3DFirstMajor, [4, 3, 2], [2, 9, 30]
    ),
    Example(
      .tensor3DLastMajor(4, 3, 2), .tensor3DLastMajor(4, 3, 2, stride: (2, 9, 30)),
      BNNSDataLayout3DLastMajor, [4, 3, 2], [2, 9, 30]
    ),
    Example(
      .tensor3DSNE(4, 3, 2), .tensor3DSNE(4, 3, 2, stride: (2, 9, 30)), BNNSDataLayoutSNE,
      [4, 3, 2], [2, 9, 30]
    ),
    Example(
      .tensor3DNSE(4, 3, 2), .tensor3DNSE(4, 3, 2, stride: (2, 9, 30)), BNNSDataLayoutNSE,
      [4, 3, 2], [2, 9, 30]
    ),
    Example(
      .convolutionWeightsOIHW(2, 3, 2, 3),
      .convolutionWeightsOIHW(2, 3, 2, 3, stride: (1, 2, 8, 16)),
      BNNSDataLayoutConvolutionWeightsOIHW, [2, 3, 2, 3], [1, 2, 8, 16]
    ),
    Example(
      .tensor4DFirstMajor(2, 3, 2, 3), .tensor4DFirstMajor(2, 3, 2, 3, stride: (1, 3, 8, 24)),
      BNNSDataLayout4DFirstMajor, [2, 3, 2, 3], [1, 3, 8, 24]
    ),
    Example(
      .tensor4DLastMajor(2, 3, 2, 3), .tensor4DLastMajor(2, 3, 2, 3, stride: (1, 2, 8, 16)),
      BNNSDataLayout4DLastMajor, [2, 3, 2, 3], [1, 2, 8, 16]
    ),
    Example(
      .tensor5DFirstMajor(2, 1, 2, 1, 2),
      .tensor5DFirstMajor(2, 1, 2, 1, 2, stride: (1, 2, 2, 5, 5)), BNNSDataLayout5DFirstMajor,
      [2, 1, 2, 1, 2], [1, 2, 2, 5, 5]
    ),
    Example(
      .tensor5DLastMajor(2, 1, 2, 1, 2),
      .tensor5DLastMajor(2, 1, 2, 1, 2, stride: (1, 2, 2, 5, 5)), BNNSDataLayout5DLastMajor,
      [2, 1, 2, 1, 2], [1, 2, 2, 5, 5]
    ),
    Example(
      .tensor6DFirstMajor(2, 1, 2, 1, 2, 2),
      .tensor6DFirstMajor(2, 1, 2, 1, 2, 2, stride: (1, 2, 4, 4, 9, 9)),
      BNNSDataLayout6DFirstMajor, [2, 1, 2, 1, 2, 2], [1, 2, 4, 4, 9, 9]
    ),
    Example(
      .tensor6DLastMajor(2, 1, 2, 1, 2, 2),
      .tensor6DLastMajor(2, 1, 2, 1, 2, 2, stride: (1, 2, 2, 4, 4, 9)),
      BNNSDataLayout6DLastMajor, [2, 1, 2, 1, 2, 2], [1, 2, 2, 4, 4, 9]
    ),
    Example(
      .tensor7DFirstMajor(2, 1, 2, 1, 2, 2, 1),
      .tensor7DFirstMajor(2, 1, 2, 1, 2, 2, 1, stride: (1, 1, 2, 4, 4, 9, 9)),
      BNNSDataLayout7DFirstMajor, [2, 1, 2, 1, 2, 2, 1], [1, 1, 2, 4, 4, 9, 9]
    ),
    Example(
      .tensor7DLastMajor(2, 1, 2, 1, 2, 2, 1),
      .tensor7DLastMajor(2, 1, 2, 1, 2, 2, 1, stride: (1, 2, 2, 4, 4, 9, 18)),
      BNNSDataLayout7DLastMajor, [2, 1, 2, 1, 2, 2, 1], [1, 2, 2, 4, 4, 9, 18]
    ),
    Example(
      .tensor8DFirstMajor(2, 1, 2, 1, 2, 2, 1, 2),
      .tensor8DFirstMajor(2, 1, 2, 1, 2, 2, 1, 2, stride: (1, 2, 2, 4, 8, 8, 17, 17)),
      BNNSDataLayout8DFirstMajor, [2, 1, 2, 1, 2, 2, 1, 2], [1, 2, 2, 4, 8, 8, 17, 17]
    ),
    Example(
      .tensor8DLastMajor(2, 1, 2, 1, 2, 2, 1, 2),
      .tensor8DLastMajor(2, 1, 2, 1, 2, 2, 1, 2, stride: (1, 2, 2, 4, 4, 9, 18, 18)),
      BNNSDataLayout8DLastMajor, [2, 1, 2, 1, 2, 2, 1, 2], [1, 2, 2, 4, 4, 9, 18, 18]
    ),
  ]

  func testEveryCaseSaysItsSizesStridesAndLayout() {
    XCTAssertEqual(examples.count, BNNS.DataLayout.allCases.count)
    for example in examples {
      let shape = example.shape
      let strided = example.strided
      let layout = example.layout
      let size = example.size
      let stride = example.stride
      let filler = Array(repeating: 0, count: 8 - size.count)
      for each in [shape, strided] {
        XCTAssertEqual(each.layout, layout)
        XCTAssertEqual(each.rank, size.count, "\(each)")
        XCTAssertEqual(elements(each.size), size + filler, "\(each)")
      }
      XCTAssertEqual(elements(shape.stride), Array(repeating: 0, count: 8), "\(shape)")
      XCTAssertEqual(elements(strided.stride), stride + filler, "\(strided)")
    }
  }

  func testABatchWithoutGapsIsTheProductOfTheSizes() {
    for example in examples {
      let shape = example.shape
      let size = example.size
      XCTAssertEqual(shape.batchStride, size.reduce(1, *), "\(shape)")
    }
  }

  func testABatchEndsWhereItsOutermostStrideEnds() {
    for example in examples {
      let shape = example.shape
      let strided = example.strided
      let size = example.size
      let stride = example.stride
      let isFirstMajor = "\(shape)".contains("FirstMajor")
      XCTAssertEqual(
        strided.batchStride, stride.last! * (isFirstMajor ? size.first! : size.last!), "\(strided)")
    }
    XCTAssertEqual(BNNS.Shape.vector(0).batchStride, 0)
    XCTAssertEqual(BNNS.Shape.matrixRowMajor(3, 0).batchStride, 0)
  }

  /// The library computes the same bytes from the same sizes and strides.
  func testEveryCaseSpansWhatTheLibrarySays() {
    for example in examples {
      let shape = example.shape
      let strided = example.strided
      for each in [shape, strided] {
        let array = BNNSNDArrayDescriptor.allocate(repeating: Int16(7), shape: each)
        defer { array.deallocate() }
        XCTAssertEqual(array.makeArray(of: Int16.self)!.count * 2, array.dataSize, "\(each)")
      }
    }
  }

  func testADescriptorGivesItsShapeBack() {
    for example in examples {
      let shape = example.shape
      let strided = example.strided
      for each in [shape, strided] {
        let array = BNNSNDArrayDescriptor(dataType: .float, shape: each)
        XCTAssertEqual("\(array.shape)", "\(each)")
      }
    }
    var array = BNNSNDArrayDescriptor(dataType: .float, shape: .vector(3, stride: 2))
    for layout in [BNNSDataLayout1DFirstMajor, BNNSDataLayout1DLastMajor] {
      array.layout = layout
      XCTAssertEqual("\(array.shape)", "vector(3, stride: 2)")
    }
  }

  func testSizesAloneAreAVectorOrFirstMajor() {
    let expected: [BNNS.Shape] = [
      .vector(9), .matrixFirstMajor(9, 8), .tensor3DFirstMajor(9, 8, 7),
      .tensor4DFirstMajor(9, 8, 7, 6), .tensor5DFirstMajor(9, 8, 7, 6, 5),
      .tensor6DFirstMajor(9, 8, 7, 6, 5, 4), .tensor7DFirstMajor(9, 8, 7, 6, 5, 4, 3),
      .tensor8DFirstMajor(9, 8, 7, 6, 5, 4, 3, 2),
    ]
    for (rank, shape) in zip(1...8, expected) {
      let size = Array([9, 8, 7, 6, 5, 4, 3, 2].prefix(rank))
      XCTAssertEqual("\(BNNS.Shape(size))", "\(shape)")
      XCTAssertEqual(BNNS.DataLayout.allCases.filter { $0.rank == rank }.isEmpty, false)
    }
    let literal: BNNS.Shape = [3, 4]
    XCTAssertEqual("\(literal)", "\(BNNS.Shape.matrixFirstMajor(3, 4))")
  }

  func testSizesTakeALayoutAndStrides() {
    for (layout, each) in zip(BNNS.DataLayout.allCases, examples) {
      XCTAssertEqual("\(BNNS.Shape(each.size, dataLayout: layout))", "\(each.shape)")
      XCTAssertEqual(
        "\(BNNS.Shape(each.size, dataLayout: layout, stride: each.stride))", "\(each.strided)")
      XCTAssertEqual(layout.rank, each.size.count)
    }
    XCTAssertEqual(
      "\(BNNS.Shape([3, 4], stride: [1, 5]))",
      "\(BNNS.Shape.matrixFirstMajor(3, 4, stride: (1, 5)))")
  }
}
