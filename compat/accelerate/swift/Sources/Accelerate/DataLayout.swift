// SPDX-License-Identifier: MIT

extension BNNS {
  /// The layouts that a `BNNS.Shape` can have.
  public enum DataLayout: Hashable, CaseIterable, Sendable {
    case vector
    case matrixRowMajor
    case matrixColumnMajor
    case matrixFirstMajor
    case matrixLastMajor
    case imageCHW
    case tensor3DFirstMajor
    case tensor3DLastMajor
    case tensor3DSNE
    case tensor3DNSE
    case convolutionWeightsOIHW
    case tensor4DFirstMajor
    case tensor4DLastMajor
    case tensor5DFirstMajor
    case tensor5DLastMajor
    case tensor6DFirstMajor
    case tensor6DLastMajor
    case tensor7DFirstMajor
    case tensor7DLastMajor
    case tensor8DFirstMajor
    case tensor8DLastMajor

    /// The number of dimensions.
    public var rank: Int { BNNSDataLayoutGetRank(bnnsDataLayout) }

    var bnnsDataLayout: BNNSDataLayout {
      switch self {
      case .vector: return BNNSDataLayoutVector
      case .matrixRowMajor: return BNNSDataLayoutRowMajorMatrix
      case .matrixColumnMajor: return BNNSDataLayoutColumnMajorMatrix
      case .matrixFirstMajor: return BNNSDataLayout2DFirstMajor
      case .matrixLastMajor: return BNNSDataLayout2DLastMajor
      case .imageCHW: return BNNSDataLayoutImageCHW
      case .tensor3DFirstMajor: return BNNSDataLayout3DFirstMajor
      case .tensor3DLastMajor: return BNNSDataLayout3DLastMajor
      case .tensor3DSNE: return BNNSDataLayoutSNE
      case .tensor3DNSE: return BNNSDataLayoutNSE
      case .convolutionWeightsOIHW: return BNNSDataLayoutConvolutionWeightsOIHW
      case .tensor4DFirstMajor: return BNNSDataLayout4DFirstMajor
      case .tensor4DLastMajor: return BNNSDataLayout4DLastMajor
      case .tensor5DFirstMajor: return BNNSDataLayout5DFirstMajor
      case .tensor5DLastMajor: return BNNSDataLayout5DLastMajor
      case .tensor6DFirstMajor: return BNNSDataLayout6DFirstMajor
      case .tensor6DLastMajor: return BNNSDataLayout6DLastMajor
      case .tensor7DFirstMajor: return BNNSDataLayout7DFirstMajor
      case .tensor7DLastMajor: return BNNSDataLayout7DLastMajor
      case .tensor8DFirstMajor: return BNNSDataLayout8DFirstMajor
      case .tensor8DLastMajor: return BNNSDataLayout8DLastMajor
      }
    }

    /// The layout of a descriptor; nil if shapes have no case for it.
    init?(_ layout: BNNSDataLayout) {
      if layout == BNNSDataLayout1DFirstMajor || layout == BNNSDataLayout1DLastMajor {
        self = .vector
      } else if let match = Self.allCases.first(where: { $0.bnnsDataLayout == layout }) {
        self = match
      } else {
        return nil
      }
    }

    /// The layout of a shape that names none.
    init(defaultForRank rank: Int) {
      let layouts: [DataLayout] = [
        .vector, .matrixFirstMajor, .tensor3DFirstMajor, .tensor4DFirstMajor, .tensor5DFirstMajor,
        .tensor6DFirstMajor, .tensor7DFirstMajor, .tensor8DFirstMajor,
      ]
      precondition(
        layouts.indices.contains(rank - 1), "a shape has 1 to 8 dimensions, and not \(rank)")
      self = layouts[rank - 1]
    }

    /// Whether strides are in the other order than sizes: stride 0 is that of the last dimension.
    var hasReversedStrides: Bool {
      switch self {
      case .matrixFirstMajor, .tensor3DFirstMajor, .tensor4DFirstMajor, .tensor5DFirstMajor,
        .tensor6DFirstMajor, .tensor7DFirstMajor, .tensor8DFirstMajor:
        return true
      default:
        return false
      }
    }
  }
}
