// SPDX-License-Identifier: MIT

extension BNNS {
  /// How values are reduced to one. Scatters take `.sum` only.
  public enum ReductionFunction {
    case max
    case min
    case argMax
    case argMin
    @available(*, deprecated, message: "Use argMax.")
    case maxIndex
    @available(*, deprecated, message: "Use argMin.")
    case minIndex
    case mean
    case meanNonZero
    case sum
    case sumOfSquares
    case sumOfLogs(epsilon: Float)
    case sumOfAbsolutes
    case logicalOr
    case any
    case logicalAnd
    case all
    case l2Norm
    case logSumExp
    case product

    public var bnnsReduceFunction: BNNSReduceFunction {
      switch self {
      case .max: return BNNSReduceFunctionMax
      case .min: return BNNSReduceFunctionMin
      case .argMax, .maxIndex: return BNNSReduceFunctionArgMax
      case .argMin, .minIndex: return BNNSReduceFunctionArgMin
      case .mean: return BNNSReduceFunctionMean
      case .meanNonZero: return BNNSReduceFunctionMeanNonZero
      case .sum: return BNNSReduceFunctionSum
      case .sumOfSquares: return BNNSReduceFunctionSumSquare
      case .sumOfLogs: return BNNSReduceFunctionSumLog
      case .sumOfAbsolutes: return BNNSReduceFunctionL1Norm
      case .logicalOr: return BNNSReduceFunctionLogicalOr
      case .any: return BNNSReduceFunctionAny
      case .logicalAnd: return BNNSReduceFunctionLogicalAnd
      case .all: return BNNSReduceFunctionAll
      case .l2Norm: return BNNSReduceFunctionL2Norm
      case .logSumExp: return BNNSReduceFunctionLogSumExp
      case .product: return BNNSReduceFunctionProduct
      }
    }
  }
}
