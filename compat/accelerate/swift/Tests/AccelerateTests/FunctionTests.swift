// SPDX-License-Identifier: MIT
//
// Each function of BNNS against the C function of that name: random shapes, layouts, strides, types
// and indices, some of them out of range. The C side has descriptors filled field by field.
import Accelerate
import XCTest

private typealias Swift3 = (
  BNNSNDArrayDescriptor, BNNSNDArrayDescriptor, BNNSNDArrayDescriptor
) throws -> Void
private typealias C3 = (
  UnsafePointer<BNNSNDArrayDescriptor>, UnsafePointer<BNNSNDArrayDescriptor>,
  UnsafeMutablePointer<BNNSNDArrayDescriptor>
) -> Int32

final class FunctionTests: XCTestCase {
  private var generator = SeededGenerator(seed: 7)
  private var refusals = 0
  private var successes = 0

  override func setUp() {
    generator = SeededGenerator(seed: 7)
    (refusals, successes) = (0, 0)
  }

  func testGather() {
    for type in allScalars {
      for _ in 0..<40 {
        let dimensions = randomDimensions(1...5, using: &generator)
        let axis = Int.random(in: 0..<dimensions.count, using: &generator)
        let picked = replacing(dimensions, at: axis, by: Int.random(in: 1...4, using: &generator))
        let forms = [[picked[axis]], picked]
        compare(
          type, input: dimensions, indices: forms.randomElement(using: &generator)!, output: picked,
          limit: dimensions[axis],
          { try BNNS.gather(input: $0, indices: $1, output: $2, axis: axis) },
          { BNNSGather(axis, $0, $1, $2, nil) })
      }
    }
    XCTAssertGreaterThan(successes, 300)
    XCTAssertGreaterThan(refusals, 20)
  }

  func testScatter() {
    for type in allScalars {
      for _ in 0..<40 {
        let dimensions = randomDimensions(1...5, using: &generator)
        let axis = Int.random(in: 0..<dimensions.count, using: &generator)
        let updates = replacing(dimensions, at: axis, by: Int.random(in: 1...4, using: &generator))
        let forms = [[updates[axis]], updates]
        let indices = forms.randomElement(using: &generator)!
        compare(
          type, input: updates, indices: indices, output: dimensions, limit: dimensions[axis],
          { try BNNS.scatter(input: $0, indices: $1, output: $2, axis: axis) },
          { BNNSScatter(axis, BNNSReduceFunctionNone, $0, $1, $2, nil) })
        compare(
          type, input: updates, indices: indices, output: dimensions, limit: dimensions[axis],
          {
            try BNNS.scatter(
              input: $0, indices: $1, output: $2, axis: axis, reductionFunction: .sum)
          },
          { BNNSScatter(axis, BNNSReduceFunctionSum, $0, $1, $2, nil) })
      }
    }
    XCTAssertGreaterThan(successes, 300)
    XCTAssertGreaterThan(refusals, 20)
  }

  func testGatherND() {
    for type in allScalars {
      for _ in 0..<40 {
        let (dimensions, grid, length) = randomLookup()
        let slice = Array(dimensions[length...])
        guard (1...8).contains(grid.count + slice.count) else { continue }
        compare(
          type, input: dimensions, indices: grid + [length], output: grid + slice,
          limit: dimensions[..<length].min()!,
          { try BNNS.gatherND(input: $0, indices: $1, output: $2) },
          { BNNSGatherND($0, $1, $2, nil) })
      }
    }
    XCTAssertGreaterThan(successes, 200)
    XCTAssertGreaterThan(refusals, 20)
  }

  func testScatterND() {
    for type in allScalars {
      for _ in 0..<40 {
        let (dimensions, grid, length) = randomLookup()
        let slice = Array(dimensions[length...])
        guard (1...8).contains(grid.count + slice.count) else { continue }
        compare(
          type, input: grid + slice, indices: grid + [length], output: dimensions,
          limit: dimensions[..<length].min()!,
          { try BNNS.scatterND(input: $0, indices: $1, output: $2) },
          { BNNSScatterND(BNNSReduceFunctionNone, $0, $1, $2, nil) })
        compare(
          type, input: grid + slice, indices: grid + [length], output: dimensions,
          limit: dimensions[..<length].min()!,
          { try BNNS.scatterND(input: $0, indices: $1, output: $2, reductionFunction: .sum) },
          { BNNSScatterND(BNNSReduceFunctionSum, $0, $1, $2, nil) })
      }
    }
    XCTAssertGreaterThan(successes, 200)
    XCTAssertGreaterThan(refusals, 20)
  }

  func testCopy() {
    for type in allScalars {
      for _ in 0..<20 {
        let dimensions = randomDimensions(1...8, using: &generator).map { min($0, 2) }
        compare(
          type, input: dimensions, indices: [1], output: dimensions, limit: 1,
          { input, _, output in try BNNS.copy(input, to: output) },
          { input, _, output in BNNSCopy(output, input, nil) })
      }
    }
    XCTAssertGreaterThan(successes, 200)
  }

  func testTranspose() {
    for type in allScalars {
      for _ in 0..<20 {
        let dimensions = randomDimensions(2...5, using: &generator)
        let first = Int.random(in: 0..<dimensions.count, using: &generator)
        let second = Int.random(in: 0..<dimensions.count, using: &generator)
        var exchanged = dimensions
        exchanged.swapAt(first, second)
        compare(
          type, input: dimensions, indices: [1], output: exchanged, limit: 1,
          { input, _, output in
            try BNNS.transpose(
              input: input, output: output, firstTransposeAxis: first, secondTransposeAxis: second)
          },
          { input, _, output in BNNSTranspose(output, input, first, second, nil) })
      }
    }
    XCTAssertGreaterThan(successes, 200)
  }

  func testTile() {
    for type in allScalars {
      for _ in 0..<20 {
        let dimensions = randomDimensions(1...4, using: &generator)
        let tiled = dimensions.map { $0 * Int.random(in: 1...3, using: &generator) }
        compare(
          type, input: dimensions, indices: [1], output: tiled, limit: 1,
          { input, _, output in try BNNS.tile(input: input, output: output) },
          { input, _, output in BNNSTile(input, output, nil) })
      }
    }
    XCTAssertGreaterThan(successes, 200)
  }

  func testFilterParametersReachTheLibrary() throws {
    try withArray([1, 2, 3] as [Float], .vector(3)) { input in
      let output = BNNSNDArrayDescriptor.allocate(repeating: Float(0), shape: .vector(3))
      defer { output.deallocate() }
      let one = BNNSFilterParameters(
        options: [], threadCount: 1, allocator: nil, deallocator: nil)
      try BNNS.copy(input, to: output, filterParameters: one)
      XCTAssertEqual(output.makeArray(of: Float.self), [1, 2, 3])
      let unknown = BNNSFilterParameters(
        flags: 2, n_threads: 1, alloc_memory: nil, free_memory: nil)
      XCTAssertThrowsError(try BNNS.copy(input, to: output, filterParameters: unknown))
    }
  }

  /// Dimensions, the grid of lookup vectors, and how long those are.
  private func randomLookup() -> (dimensions: [Int], grid: [Int], length: Int) {
    let dimensions = randomDimensions(1...4, using: &generator)
    let grid = randomDimensions(0...2, using: &generator)
    return (dimensions, grid, Int.random(in: 1...dimensions.count, using: &generator))
  }

  /// Both functions on the same random arrays of these logical dimensions. `limit` is the first
  /// index that is too large; one call in eight has such indices.
  private func compare<T: TestScalar>(
    _ type: T.Type, input: [Int], indices: [Int], output: [Int], limit: Int, _ inSwift: Swift3,
    _ inC: C3
  ) {
    let end = Int.random(in: 0..<8, using: &generator) == 0 ? limit + 1 : limit
    let shapes = [input, indices, output].map { TestShape.random($0, using: &generator) }
    let values = randomValues(of: T.self, count: shapes[0].count, using: &generator)
    let picks = (0..<shapes[1].count).map { _ in
      Int32.random(in: 0..<Int32(end), using: &generator)
    }
    let before = randomValues(of: T.self, count: shapes[2].count, using: &generator)

    var code: Int32 = 0
    let expected = withCDescriptor(before, shapes[2]) { output in
      _ = withCDescriptor(picks, shapes[1]) { indices in
        _ = withCDescriptor(values, shapes[0]) { input in
          code = inC(&input, &indices, &output)
        }
      }
    }

    var thrown: Int32 = 0
    let result = withArray(before, shapes[2].shape) { output in
      withArray(picks, shapes[1].shape) { indices in
        withArray(values, shapes[0].shape) { input in
          do {
            try inSwift(input, indices, output)
          } catch let error as BNNS.Error {
            thrown = error.code
          } catch {
            XCTFail("not an error of BNNS: \(error)")
          }
        }
      }
      return output.makeArray(of: T.self)
    }

    XCTAssertEqual(result, expected, "\(T.self), \(shapes), \(picks)")
    XCTAssertEqual(thrown, code, "\(T.self), \(shapes), \(picks)")
    XCTAssertTrue(code == 0 || code == -1005, String(cString: sheaf_last_error()))
    if code == 0 {
      successes += 1
    } else {
      refusals += 1
    }
  }
}

private func withCDescriptor<T: BNNSScalar>(
  _ values: [T], _ shape: TestShape, _ body: (inout BNNSNDArrayDescriptor) -> Void
) -> [T] {
  withCDescriptor(
    values, layout: shape.shape.layout, size: shape.size, stride: shape.stride, body)
}
