// SPDX-License-Identifier: MIT

extension BNNS {
  /// The sizes, layout and strides of an array. Sizes are in the order of the C descriptor: those
  /// of `matrixRowMajor` are columns, then rows. A stride of 0 leaves no gap.
  public enum Shape: Sendable {
    case vector(Int, stride: Int = 0)
    case matrixRowMajor(Int, Int, stride: (Int, Int) = (0, 0))
    case matrixColumnMajor(Int, Int, stride: (Int, Int) = (0, 0))
    case matrixFirstMajor(Int, Int, stride: (Int, Int) = (0, 0))
    case matrixLastMajor(Int, Int, stride: (Int, Int) = (0, 0))
    case imageCHW(Int, Int, Int, stride: (Int, Int, Int) = (0, 0, 0))
    case tensor3DFirstMajor(Int, Int, Int, stride: (Int, Int, Int) = (0, 0, 0))
    case tensor3DLastMajor(Int, Int, Int, stride: (Int, Int, Int) = (0, 0, 0))
    case tensor3DSNE(Int, Int, Int, stride: (Int, Int, Int) = (0, 0, 0))
    case tensor3DNSE(Int, Int, Int, stride: (Int, Int, Int) = (0, 0, 0))
    case convolutionWeightsOIHW(Int, Int, Int, Int, stride: (Int, Int, Int, Int) = (0, 0, 0, 0))
    case tensor4DFirstMajor(Int, Int, Int, Int, stride: (Int, Int, Int, Int) = (0, 0, 0, 0))
    case tensor4DLastMajor(Int, Int, Int, Int, stride: (Int, Int, Int, Int) = (0, 0, 0, 0))
    case tensor5DFirstMajor(
      Int, Int, Int, Int, Int,
      stride: (Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0))
    case tensor5DLastMajor(
      Int, Int, Int, Int, Int,
      stride: (Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0))
    case tensor6DFirstMajor(
      Int, Int, Int, Int, Int, Int,
      stride: (Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0))
    case tensor6DLastMajor(
      Int, Int, Int, Int, Int, Int,
      stride: (Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0))
    case tensor7DFirstMajor(
      Int, Int, Int, Int, Int, Int, Int,
      stride: (Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0))
    case tensor7DLastMajor(
      Int, Int, Int, Int, Int, Int, Int,
      stride: (Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0))
    case tensor8DFirstMajor(
      Int, Int, Int, Int, Int, Int, Int, Int,
      stride: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0))
    case tensor8DLastMajor(
      Int, Int, Int, Int, Int, Int, Int, Int,
      stride: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0))
  }
}

extension BNNS.Shape {
  /// A shape with as many dimensions as `size` has elements. Without a layout it is a vector or
  /// first-major; without strides it has no gaps.
  public init(_ size: [Int], dataLayout: BNNS.DataLayout? = nil, stride: [Int]? = nil) {
    let layout = dataLayout ?? BNNS.DataLayout(defaultForRank: size.count)
    let stride = stride ?? Array(repeating: 0, count: size.count)
    precondition(
      size.count == layout.rank, "\(layout) has \(layout.rank) sizes, and not \(size.count)")
    precondition(
      stride.count == layout.rank, "\(layout) has \(layout.rank) strides, and not \(stride.count)")
    self.init(layout: layout, size: size, stride: stride)
  }

  /// The number of dimensions.
  public var rank: Int { dataLayout.rank }

  public var layout: BNNSDataLayout { dataLayout.bnnsDataLayout }

  /// The sizes, followed by zeros.
  public var size: (Int, Int, Int, Int, Int, Int, Int, Int) { eight(sizes) }

  /// The strides as they were given, followed by zeros. 0 stands for "no gap".
  public var stride: (Int, Int, Int, Int, Int, Int, Int, Int) { eight(strides) }

  /// The number of elements from the start of one batch to the start of the next.
  public var batchStride: Int {
    guard let outermost = fromInnermost.last else { return 0 }
    return outermost.size * outermost.stride
  }
}

extension BNNS.Shape: ExpressibleByArrayLiteral {
  public init(arrayLiteral: Int...) {
    self.init(arrayLiteral)
  }
}

// What the descriptors need.
extension BNNS.Shape {
  /// Every dimension, innermost first, with the stride that it has in memory.
  private var fromInnermost: [(size: Int, stride: Int)] {
    let sizes = dataLayout.hasReversedStrides ? self.sizes.reversed() : self.sizes
    var withoutGap = 1
    return zip(sizes, strides).map { size, given in
      let stride = given == 0 ? withoutGap : given
      withoutGap = stride * size
      return (size, stride)
    }
  }

  /// The number of elements from the first to the last of all batches, gaps included.
  func span(batchSize: Int) -> Int {
    let dimensions = fromInnermost
    precondition(batchSize >= 0, "a batch size below 0: \(batchSize)")
    precondition(
      dimensions.allSatisfy { $0.size >= 0 && $0.stride >= 0 },
      "a size or a stride below 0: \(self)")
    if batchSize == 0 || dimensions.contains(where: { $0.size == 0 }) {
      return 0
    }
    let last = dimensions.reduce(0) { $0 + ($1.size - 1) * $1.stride }
    return (batchSize - 1) * batchStride + last + 1
  }

  var dataLayout: BNNS.DataLayout {
    switch self {
    case .vector: return .vector
    case .matrixRowMajor: return .matrixRowMajor
    case .matrixColumnMajor: return .matrixColumnMajor
    case .matrixFirstMajor: return .matrixFirstMajor
    case .matrixLastMajor: return .matrixLastMajor
    case .imageCHW: return .imageCHW
    case .tensor3DFirstMajor: return .tensor3DFirstMajor
    case .tensor3DLastMajor: return .tensor3DLastMajor
    case .tensor3DSNE: return .tensor3DSNE
    case .tensor3DNSE: return .tensor3DNSE
    case .convolutionWeightsOIHW: return .convolutionWeightsOIHW
    case .tensor4DFirstMajor: return .tensor4DFirstMajor
    case .tensor4DLastMajor: return .tensor4DLastMajor
    case .tensor5DFirstMajor: return .tensor5DFirstMajor
    case .tensor5DLastMajor: return .tensor5DLastMajor
    case .tensor6DFirstMajor: return .tensor6DFirstMajor
    case .tensor6DLastMajor: return .tensor6DLastMajor
    case .tensor7DFirstMajor: return .tensor7DFirstMajor
    case .tensor7DLastMajor: return .tensor7DLastMajor
    case .tensor8DFirstMajor: return .tensor8DFirstMajor
    case .tensor8DLastMajor: return .tensor8DLastMajor
    }
  }

  private var sizes: [Int] { sizesAndStrides.0 }
  private var strides: [Int] { sizesAndStrides.1 }

  private var sizesAndStrides: ([Int], [Int]) {
    switch self {
    case .vector(let a, let s):
      return ([a], [s])
    case .matrixRowMajor(let a, let b, let s),
      .matrixColumnMajor(let a, let b, let s),
      .matrixFirstMajor(let a, let b, let s),
      .matrixLastMajor(let a, let b, let s):
      return ([a, b], [s.0, s.1])
    case .imageCHW(let a, let b, let c, let s),
      .tensor3DFirstMajor(let a, let b, let c, let s),
      .tensor3DLastMajor(let a, let b, let c, let s),
      .tensor3DSNE(let a, let b, let c, let s),
      .tensor3DNSE(let a, let b, let c, let s):
      return ([a, b, c], [s.0, s.1, s.2])
    case .convolutionWeightsOIHW(let a, let b, let c, let d, let s),
      .tensor4DFirstMajor(let a, let b, let c, let d, let s),
      .tensor4DLastMajor(let a, let b, let c, let d, let s):
      return ([a, b, c, d], [s.0, s.1, s.2, s.3])
    case .tensor5DFirstMajor(let a, let b, let c, let d, let e, let s),
      .tensor5DLastMajor(let a, let b, let c, let d, let e, let s):
      return ([a, b, c, d, e], [s.0, s.1, s.2, s.3, s.4])
    case .tensor6DFirstMajor(let a, let b, let c, let d, let e, let f, let s),
      .tensor6DLastMajor(let a, let b, let c, let d, let e, let f, let s):
      return ([a, b, c, d, e, f], [s.0, s.1, s.2, s.3, s.4, s.5])
    case .tensor7DFirstMajor(let a, let b, let c, let d, let e, let f, let g, let s),
      .tensor7DLastMajor(let a, let b, let c, let d, let e, let f, let g, let s):
      return ([a, b, c, d, e, f, g], [s.0, s.1, s.2, s.3, s.4, s.5, s.6])
    case .tensor8DFirstMajor(let a, let b, let c, let d, let e, let f, let g, let h, let s),
      .tensor8DLastMajor(let a, let b, let c, let d, let e, let f, let g, let h, let s):
      return ([a, b, c, d, e, f, g, h], [s.0, s.1, s.2, s.3, s.4, s.5, s.6, s.7])
    }
  }

  /// Both arrays have as many elements as the layout has dimensions.
  init(layout: BNNS.DataLayout, size n: [Int], stride s: [Int]) {
    switch layout {
    case .vector: self = .vector(n[0], stride: s[0])
    case .matrixRowMajor: self = .matrixRowMajor(n[0], n[1], stride: (s[0], s[1]))
    case .matrixColumnMajor: self = .matrixColumnMajor(n[0], n[1], stride: (s[0], s[1]))
    case .matrixFirstMajor: self = .matrixFirstMajor(n[0], n[1], stride: (s[0], s[1]))
    case .matrixLastMajor: self = .matrixLastMajor(n[0], n[1], stride: (s[0], s[1]))
    case .imageCHW: self = .imageCHW(n[0], n[1], n[2], stride: (s[0], s[1], s[2]))
    case .tensor3DFirstMajor:
      self = .tensor3DFirstMajor(
        n[0], n[1], n[2],
        stride: (s[0], s[1], s[2]))
    case .tensor3DLastMajor: self = .tensor3DLastMajor(n[0], n[1], n[2], stride: (s[0], s[1], s[2]))
    case .tensor3DSNE: self = .tensor3DSNE(n[0], n[1], n[2], stride: (s[0], s[1], s[2]))
    case .tensor3DNSE: self = .tensor3DNSE(n[0], n[1], n[2], stride: (s[0], s[1], s[2]))
    case .convolutionWeightsOIHW:
      self = .convolutionWeightsOIHW(
        n[0], n[1], n[2], n[3],
        stride: (s[0], s[1], s[2], s[3]))
    case .tensor4DFirstMajor:
      self = .tensor4DFirstMajor(
        n[0], n[1], n[2], n[3],
        stride: (s[0], s[1], s[2], s[3]))
    case .tensor4DLastMajor:
      self = .tensor4DLastMajor(
        n[0], n[1], n[2], n[3],
        stride: (s[0], s[1], s[2], s[3]))
    case .tensor5DFirstMajor:
      self = .tensor5DFirstMajor(
        n[0], n[1], n[2], n[3], n[4],
        stride: (s[0], s[1], s[2], s[3], s[4]))
    case .tensor5DLastMajor:
      self = .tensor5DLastMajor(
        n[0], n[1], n[2], n[3], n[4],
        stride: (s[0], s[1], s[2], s[3], s[4]))
    case .tensor6DFirstMajor:
      self = .tensor6DFirstMajor(
        n[0], n[1], n[2], n[3], n[4], n[5],
        stride: (s[0], s[1], s[2], s[3], s[4], s[5]))
    case .tensor6DLastMajor:
      self = .tensor6DLastMajor(
        n[0], n[1], n[2], n[3], n[4], n[5],
        stride: (s[0], s[1], s[2], s[3], s[4], s[5]))
    case .tensor7DFirstMajor:
      self = .tensor7DFirstMajor(
        n[0], n[1], n[2], n[3], n[4], n[5], n[6],
        stride: (s[0], s[1], s[2], s[3], s[4], s[5], s[6]))
    case .tensor7DLastMajor:
      self = .tensor7DLastMajor(
        n[0], n[1], n[2], n[3], n[4], n[5], n[6],
        stride: (s[0], s[1], s[2], s[3], s[4], s[5], s[6]))
    case .tensor8DFirstMajor:
      self = .tensor8DFirstMajor(
        n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7],
        stride: (s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]))
    case .tensor8DLastMajor:
      self = .tensor8DLastMajor(
        n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7],
        stride: (s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]))
    }
  }
}

/// The first elements of a C array of eight.
private func eight(_ v: [Int]) -> (Int, Int, Int, Int, Int, Int, Int, Int) {
  let v = v + repeatElement(0, count: 8 - v.count)
  return (v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7])
}
