// SPDX-License-Identifier: MIT
//
// The names of Apple's Accelerate in Swift, for its gathers, scatters and copies. docs/bnns.md says
// what is here and what was chosen where Apple's documentation is silent.
@_exported import CAccelerate

/// The namespace of BNNS in Swift.
public enum BNNS {}

extension BNNS {
  /// Takes slices or elements of `input` along one axis. `indices` is a vector, or has the shape of
  /// `output`.
  public static func gather(
    input: BNNSNDArrayDescriptor, indices: BNNSNDArrayDescriptor, output: BNNSNDArrayDescriptor,
    axis: Int, filterParameters: BNNSFilterParameters? = nil
  ) throws {
    try call(filterParameters) { parameters in
      var (input, indices, output) = (input, indices, output)
      return BNNSGather(axis, &input, &indices, &output, parameters)
    }
  }

  /// Takes slices or elements of `input` by lookup vectors, which lie along the last dimension of
  /// `indices`.
  public static func gatherND(
    input: BNNSNDArrayDescriptor, indices: BNNSNDArrayDescriptor, output: BNNSNDArrayDescriptor,
    filterParameters: BNNSFilterParameters? = nil
  ) throws {
    try call(filterParameters) { parameters in
      var (input, indices, output) = (input, indices, output)
      return BNNSGatherND(&input, &indices, &output, parameters)
    }
  }

  /// Writes slices or elements of `input` into `output` along one axis; the last one wins.
  public static func scatter(
    input: BNNSNDArrayDescriptor, indices: BNNSNDArrayDescriptor, output: BNNSNDArrayDescriptor,
    axis: Int, filterParameters: BNNSFilterParameters? = nil
  ) throws {
    try scatter(
      input, indices, output, axis: axis, by: BNNSReduceFunctionNone, filterParameters)
  }

  /// The same, with what `output` holds reduced with what is written. Only `.sum` is there.
  public static func scatter(
    input: BNNSNDArrayDescriptor, indices: BNNSNDArrayDescriptor, output: BNNSNDArrayDescriptor,
    axis: Int, reductionFunction: BNNS.ReductionFunction,
    filterParameters: BNNSFilterParameters? = nil
  ) throws {
    try scatter(
      input, indices, output, axis: axis, by: reductionFunction.bnnsReduceFunction,
      filterParameters)
  }

  /// Writes slices or elements of `input` into `output` by lookup vectors; the last one wins.
  public static func scatterND(
    input: BNNSNDArrayDescriptor, indices: BNNSNDArrayDescriptor, output: BNNSNDArrayDescriptor,
    filterParameters: BNNSFilterParameters? = nil
  ) throws {
    try scatterND(input, indices, output, by: BNNSReduceFunctionNone, filterParameters)
  }

  /// The same, with what `output` holds reduced with what is written. Only `.sum` is there.
  public static func scatterND(
    input: BNNSNDArrayDescriptor, indices: BNNSNDArrayDescriptor, output: BNNSNDArrayDescriptor,
    reductionFunction: BNNS.ReductionFunction, filterParameters: BNNSFilterParameters? = nil
  ) throws {
    try scatterND(
      input, indices, output, by: reductionFunction.bnnsReduceFunction, filterParameters)
  }

  /// Copies between arrays of one shape. Layouts, strides and types may differ; values are
  /// converted.
  public static func copy(
    _ source: BNNSNDArrayDescriptor, to destination: BNNSNDArrayDescriptor,
    filterParameters: BNNSFilterParameters? = nil
  ) throws {
    try call(filterParameters) { parameters in
      var (source, destination) = (source, destination)
      return BNNSCopy(&destination, &source, parameters)
    }
  }

  /// Copies with two axes exchanged. Not in place.
  public static func transpose(
    input: BNNSNDArrayDescriptor, output: BNNSNDArrayDescriptor, firstTransposeAxis: Int,
    secondTransposeAxis: Int, filterParameters: BNNSFilterParameters? = nil
  ) throws {
    try call(filterParameters) { parameters in
      var (input, output) = (input, output)
      return BNNSTranspose(&output, &input, firstTransposeAxis, secondTransposeAxis, parameters)
    }
  }

  /// Repeats `input` along every dimension in which `output` is a multiple of it.
  public static func tile(
    input: BNNSNDArrayDescriptor, output: BNNSNDArrayDescriptor,
    filterParameters: BNNSFilterParameters? = nil
  ) throws {
    try call(filterParameters) { parameters in
      var (input, output) = (input, output)
      return BNNSTile(&input, &output, parameters)
    }
  }

  private static func scatter(
    _ input: BNNSNDArrayDescriptor, _ indices: BNNSNDArrayDescriptor,
    _ output: BNNSNDArrayDescriptor, axis: Int, by function: BNNSReduceFunction,
    _ filterParameters: BNNSFilterParameters?
  ) throws {
    try call(filterParameters) { parameters in
      var (input, indices, output) = (input, indices, output)
      return BNNSScatter(axis, function, &input, &indices, &output, parameters)
    }
  }

  private static func scatterND(
    _ input: BNNSNDArrayDescriptor, _ indices: BNNSNDArrayDescriptor,
    _ output: BNNSNDArrayDescriptor, by function: BNNSReduceFunction,
    _ filterParameters: BNNSFilterParameters?
  ) throws {
    try call(filterParameters) { parameters in
      var (input, indices, output) = (input, indices, output)
      return BNNSScatterND(function, &input, &indices, &output, parameters)
    }
  }

  /// Runs a C function with its last argument, and throws if it returns something other than 0.
  private static func call(
    _ filterParameters: BNNSFilterParameters?,
    _ function: (UnsafePointer<BNNSFilterParameters>?) -> Int32
  ) throws {
    let code: Int32
    if let filterParameters {
      code = withUnsafePointer(to: filterParameters) { function($0) }
    } else {
      code = function(nil)
    }
    if code != 0 {
      throw Error.refusal(code: code)
    }
  }
}
