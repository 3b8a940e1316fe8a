// SPDX-License-Identifier: MIT
import Accelerate
import XCTest

final class ErrorTests: XCTestCase {
  /// Calls with `indices` into a vector of three; the error, if there is one.
  private func gather(_ indices: [Int32], outputSize: Int? = nil) -> (any Error)? {
    withArray([1, 2, 3] as [Float], .vector(3)) { input in
      withArray(indices, .vector(indices.count)) { indices in
        let output = BNNSNDArrayDescriptor.allocate(
          repeating: Float(-1), shape: .vector(outputSize ?? indices.size.0))
        defer { output.deallocate() }
        do {
          try BNNS.gather(input: input, indices: indices, output: output, axis: 0)
          return nil
        } catch {
          XCTAssertTrue(output.makeArray(of: Float.self)!.allSatisfy { $0 == -1 })
          return error
        }
      }
    }
  }

  func testABadIndexIsThrownWithCodeAndText() throws {
    let error = try XCTUnwrap(gather([0, 7]) as? BNNS.Error)
    XCTAssertEqual(error, .layerApplyFail)
    XCTAssertEqual(error.code, -1005)
    XCTAssertEqual(
      error.description,
      """
      layerApplyFail (-1005)
      BNNSGather: index out of range
        indices[1] = 7, but axis 0 of data has 3 entries (allowed 0..2); \
      1 of 2 indices are out of range
        data f32[3]   indices i32[2]   axis 0   output f32[2]
        try: indices that are in range; BNNS has no other rule, and none counts from the end;  \
      picture: sheaf explain 'gather f32[3] i32[2]={0,7} axis=0 negative=out_of_range'
      """)
  }

  func testABadShapeIsThrownWithCodeAndText() throws {
    let error = try XCTUnwrap(gather([0, 1], outputSize: 3) as? BNNS.Error)
    XCTAssertEqual(error, .layerApplyFail)
    XCTAssertEqual(error.code, -1003)
    XCTAssertEqual(
      error.description,
      """
      layerApplyFail (-1003)
      BNNSGather: output has the wrong shape
        output is [3], but this call makes [2]
        data f32[3]   indices i32[2]   axis 0   output f32[3]
        try: an output of shape [2]
      """)
  }

  func testEveryFunctionThrows() {
    let empty = BNNSNDArrayDescriptor()
    let calls: [(String, () throws -> Void)] = [
      ("BNNSGather", { try BNNS.gather(input: empty, indices: empty, output: empty, axis: 0) }),
      ("BNNSGatherND", { try BNNS.gatherND(input: empty, indices: empty, output: empty) }),
      ("BNNSScatter", { try BNNS.scatter(input: empty, indices: empty, output: empty, axis: 0) }),
      (
        "BNNSScatter",
        {
          try BNNS.scatter(
            input: empty, indices: empty, output: empty, axis: 0, reductionFunction: .sum)
        }
      ),
      ("BNNSScatterND", { try BNNS.scatterND(input: empty, indices: empty, output: empty) }),
      (
        "BNNSScatterND",
        {
          try BNNS.scatterND(
            input: empty, indices: empty, output: empty, reductionFunction: .sum)
        }
      ),
      ("BNNSCopy", { try BNNS.copy(empty, to: empty) }),
      (
        "BNNSTranspose",
        {
          try BNNS.transpose(
            input: empty, output: empty, firstTransposeAxis: 0, secondTransposeAxis: 1)
        }
      ),
      ("BNNSTile", { try BNNS.tile(input: empty, output: empty) }),
    ]
    for (name, call) in calls {
      XCTAssertThrowsError(try call(), name) { error in
        XCTAssertEqual((error as? BNNS.Error)?.code, -1003, name)
        XCTAssertTrue("\(error)".contains(name), "\(error)")
      }
    }
  }

  func testReductionsThatScattersLackAreRefused() throws {
    try withArray([1] as [Float], .vector(1)) { array in
      try withArray([0] as [Int32], .vector(1)) { indices in
        let output = BNNSNDArrayDescriptor.allocate(repeating: Float(0), shape: .vector(1))
        defer { output.deallocate() }
        for function in [BNNS.ReductionFunction.max, .product, .any, .mean] {
          XCTAssertThrowsError(
            try BNNS.scatter(
              input: array, indices: indices, output: output, axis: 0, reductionFunction: function)
          ) { XCTAssertEqual(($0 as? BNNS.Error)?.code, -1003, "\(function)") }
        }
      }
    }
  }

  func testAnErrorIsCaughtByItsCase() {
    do {
      try BNNS.tile(input: BNNSNDArrayDescriptor(), output: BNNSNDArrayDescriptor())
      XCTFail("nothing thrown")
    } catch BNNS.Error.layerApplyFail {
    } catch {
      XCTFail("\(error)")
    }
  }

  /// A C function that fails later does not change what was thrown.
  func testTheTextIsThatOfTheThrownError() throws {
    let error = try XCTUnwrap(gather([9]) as? BNNS.Error)
    let text = error.description
    var empty = BNNSNDArrayDescriptor()
    var other = empty
    XCTAssertEqual(BNNSTile(&empty, &other, nil), -1003)
    XCTAssertEqual(error.description, text)
    XCTAssertNil(gather([1]))
    XCTAssertEqual(error.description, text)
  }

  func testCasesThatAreNotThrownHaveNoCode() {
    XCTAssertNotNil(gather([9]))
    for error in [
      BNNS.Error.arrayDescriptorInvalidData, .optimizerStepFail, .unableToCreateLayer,
    ] {
      XCTAssertEqual(error.code, 0)
      XCTAssertFalse(error.description.contains("\n"))
    }
    XCTAssertEqual(BNNS.Error.optimizerStepFail.description, "optimizerStepFail")
  }

  /// Each thread has its own last refusal, and a thread that ends leaves nothing behind.
  func testThreadsDoNotShareTheirErrors() throws {
    let error = try XCTUnwrap(gather([9]) as? BNNS.Error)
    let done = expectation(description: "the other thread")
    Thread {
      XCTAssertEqual(BNNS.Error.layerApplyFail.code, 0)
      XCTAssertEqual(BNNS.Error.layerApplyFail.description, "layerApplyFail")
      XCTAssertEqual((self.gather([0], outputSize: 2) as? BNNS.Error)?.code, -1003)
      done.fulfill()
    }.start()
    wait(for: [done], timeout: 60)
    XCTAssertEqual(error.code, -1005)
  }
}
