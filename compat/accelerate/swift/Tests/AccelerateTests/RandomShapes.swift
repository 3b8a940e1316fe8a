// SPDX-License-Identifier: MIT
import Accelerate

/// Sizes, strides and layout apart, for a shape and for a descriptor filled by hand.
struct TestShape: CustomStringConvertible {
  let layout: BNNS.DataLayout
  let size: [Int]
  let stride: [Int]

  var shape: BNNS.Shape { BNNS.Shape(size, dataLayout: layout, stride: stride) }
  var description: String { "\(shape)" }

  /// The elements from the first to the last, gaps included, as the library counts them.
  var count: Int { BNNSNDArrayDescriptor(dataType: .int8, shape: shape).dataSize }

  /// A layout of the rank that `dimensions` have, with those sizes, with or without gaps.
  /// `dimensions` are logical: axis 0 first.
  static func random(_ dimensions: [Int], using generator: inout SeededGenerator) -> TestShape {
    let layout = BNNS.DataLayout.allCases.filter { $0.rank == dimensions.count }
      .randomElement(using: &generator)!
    let isReversed = slowestIsLast.contains(layout)
    let size = isReversed ? dimensions.reversed() : dimensions
    var stride = Array(repeating: 0, count: size.count)
    if Bool.random(using: &generator) {
      var next = Int.random(in: 1...2, using: &generator)
      let fromInnermost = "\(layout)".contains("FirstMajor") ? size.reversed() : size
      for (k, extent) in fromInnermost.enumerated() {
        stride[k] = next
        next = next * extent + Int.random(in: 0...2, using: &generator)
      }
    }
    return TestShape(layout: layout, size: size, stride: stride)
  }

  /// The layouts whose sizes are written innermost first, while axis 0 is the outermost.
  private static let slowestIsLast: Set<BNNS.DataLayout> = [
    .matrixRowMajor, .imageCHW, .tensor3DSNE, .tensor3DNSE, .convolutionWeightsOIHW,
  ]
}

func randomDimensions(_ rank: ClosedRange<Int>, using generator: inout SeededGenerator) -> [Int] {
  (0..<Int.random(in: rank, using: &generator)).map { _ in Int.random(in: 1...4, using: &generator)
  }
}

/// `dimensions` with another extent on one axis.
func replacing(_ dimensions: [Int], at axis: Int, by extent: Int) -> [Int] {
  var changed = dimensions
  changed[axis] = extent
  return changed
}
