// SPDX-License-Identifier: MIT

extension BNNSNDArrayDescriptor {
  /// A new array of random integers.
  public static func allocate<Scalar>(
    randomIn range: ClosedRange<Scalar>, shape: BNNS.Shape, batchSize: Int = 1
  ) -> BNNSNDArrayDescriptor where Scalar: BNNSScalar, Scalar: FixedWidthInteger {
    var generator = SystemRandomNumberGenerator()
    return allocate(randomIn: range, using: &generator, shape: shape, batchSize: batchSize)
  }

  /// A new array of random integers from the given generator.
  public static func allocate<Scalar, Generator>(
    randomIn range: ClosedRange<Scalar>, using generator: inout Generator, shape: BNNS.Shape,
    batchSize: Int = 1
  ) -> BNNSNDArrayDescriptor
  where Scalar: BNNSScalar, Scalar: FixedWidthInteger, Generator: RandomNumberGenerator {
    let count = shape.span(batchSize: batchSize)
    let values = (0..<count).map { _ in Scalar.random(in: range, using: &generator) }
    return allocate(initializingFrom: values, shape: shape, batchSize: batchSize)
  }

  /// A new array of random floating-point numbers.
  public static func allocate<Scalar>(
    randomIn range: ClosedRange<Scalar>, shape: BNNS.Shape, batchSize: Int = 1
  ) -> BNNSNDArrayDescriptor
  where
    Scalar: BNNSScalar, Scalar: BinaryFloatingPoint, Scalar.RawSignificand: FixedWidthInteger
  {
    var generator = SystemRandomNumberGenerator()
    return allocate(randomIn: range, using: &generator, shape: shape, batchSize: batchSize)
  }

  /// A new array of random floating-point numbers from the given generator.
  public static func allocate<Scalar, Generator>(
    randomIn range: ClosedRange<Scalar>, using generator: inout Generator, shape: BNNS.Shape,
    batchSize: Int = 1
  ) -> BNNSNDArrayDescriptor
  where
    Scalar: BNNSScalar, Scalar: BinaryFloatingPoint, Generator: RandomNumberGenerator,
    Scalar.RawSignificand: FixedWidthInteger
  {
    let count = shape.span(batchSize: batchSize)
    let values = (0..<count).map { _ in Scalar.random(in: range, using: &generator) }
    return allocate(initializingFrom: values, shape: shape, batchSize: batchSize)
  }
}
