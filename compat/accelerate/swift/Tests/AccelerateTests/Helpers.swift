// SPDX-License-Identifier: MIT
import Accelerate
import XCTest

/// The same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
  }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

typealias Eight = (Int, Int, Int, Int, Int, Int, Int, Int)

func elements(_ t: Eight) -> [Int] { [t.0, t.1, t.2, t.3, t.4, t.5, t.6, t.7] }

/// Scalars that can be made of a random byte.
protocol TestScalar: BNNSScalar, Hashable {
  init(byte: UInt8)
}

extension TestScalar where Self: BinaryInteger {
  init(byte: UInt8) { self.init(truncatingIfNeeded: Int8(bitPattern: byte)) }
}

extension TestScalar where Self: BinaryFloatingPoint {
  init(byte: UInt8) { self.init(Int8(bitPattern: byte)) }
}

extension Float16: TestScalar {}
extension Float: TestScalar {}
extension Int8: TestScalar {}
extension Int16: TestScalar {}
extension Int32: TestScalar {}
extension Int64: TestScalar {}
extension UInt8: TestScalar {}
extension UInt16: TestScalar {}
extension UInt32: TestScalar {}
extension UInt64: TestScalar {}
extension Bool: TestScalar {
  init(byte: UInt8) { self = byte & 1 != 0 }
}

let allScalars: [any TestScalar.Type] = [
  Float16.self, Float.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt8.self,
  UInt16.self, UInt32.self, UInt64.self, Bool.self,
]

func randomValues<T: TestScalar>(
  of type: T.Type, count: Int, using generator: inout SeededGenerator
) -> [T] {
  (0..<count).map { _ in T(byte: UInt8.random(in: 0...255, using: &generator)) }
}

/// A descriptor filled field by field, as a C program does, over `values` while `body` runs.
/// Returns what the memory holds afterwards.
func withCDescriptor<T: BNNSScalar>(
  _ values: [T], layout: BNNSDataLayout, size: [Int], stride: [Int] = [],
  _ body: (inout BNNSNDArrayDescriptor) -> Void
) -> [T] {
  var values = values
  values.withUnsafeMutableBytes { bytes in
    var array = BNNSNDArrayDescriptor()
    array.layout = layout
    array.data_type = T.bnnsDataType
    array.data = bytes.baseAddress
    withUnsafeMutableBytes(of: &array.size) { $0.copyBytes(from: bytesOf(size)) }
    withUnsafeMutableBytes(of: &array.stride) { $0.copyBytes(from: bytesOf(stride)) }
    body(&array)
  }
  return values
}

private func bytesOf(_ values: [Int]) -> [UInt8] { values.withUnsafeBytes { Array($0) } }

/// An array with memory for as long as `body` runs.
func withArray<T: BNNSScalar, Result>(
  _ values: [T], _ shape: BNNS.Shape, _ body: (BNNSNDArrayDescriptor) throws -> Result
) rethrows -> Result {
  let array = BNNSNDArrayDescriptor.allocate(initializingFrom: values, shape: shape)
  defer { array.deallocate() }
  return try body(array)
}
