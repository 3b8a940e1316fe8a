// SPDX-License-Identifier: MIT
//
// What a test inside XCTest cannot see, as a program for AddressSanitizer: that allocate() and
// deallocate() leave nothing behind, and that a wrong argument stops the program. scripts/swift
// runs it once for each argument, and knows what each has to end with.
import Accelerate
import Glibc

func pairs() {
  for count in 0..<100 {
    let shape = BNNS.Shape.matrixRowMajor(count, 3, stride: (1, count + 2))
    let arrays = [
      BNNSNDArrayDescriptor.allocate(repeating: Float(count), shape: shape, batchSize: 2),
      BNNSNDArrayDescriptor.allocate(
        initializingFrom: [Int8](repeating: 1, count: 600), shape: shape),
      BNNSNDArrayDescriptor.allocate(randomIn: Int64(-1)...1, shape: shape),
      BNNSNDArrayDescriptor.allocate(randomIn: Float16(-1)...1, shape: shape),
      BNNSNDArrayDescriptor.allocateUninitialized(scalarType: Bool.self, shape: shape),
    ]
    precondition(arrays[0].makeArray(of: Float.self, batchSize: 2) != nil)
    for array in arrays {
      array.deallocate()
    }
  }
}

func calls() {
  let table = BNNSNDArrayDescriptor.allocate(randomIn: Float(0)...1, shape: [50, 8])
  let rows = BNNSNDArrayDescriptor.allocate(randomIn: Int32(0)...49, shape: [20])
  let lookup = BNNSNDArrayDescriptor.allocate(randomIn: Int32(0)...49, shape: [20, 1])
  let output = BNNSNDArrayDescriptor.allocateUninitialized(scalarType: Float.self, shape: [20, 8])
  let turned = BNNSNDArrayDescriptor.allocateUninitialized(scalarType: Float.self, shape: [8, 50])
  let tiled = BNNSNDArrayDescriptor.allocateUninitialized(scalarType: Float.self, shape: [100, 8])
  let copied = BNNSNDArrayDescriptor.allocateUninitialized(scalarType: Int16.self, shape: [50, 8])
  defer {
    for array in [table, rows, lookup, output, turned, tiled, copied] {
      array.deallocate()
    }
  }
  do {
    try BNNS.gather(input: table, indices: rows, output: output, axis: 0)
    try BNNS.gatherND(input: table, indices: lookup, output: output)
    try BNNS.scatter(input: output, indices: rows, output: table, axis: 0)
    try BNNS.scatterND(input: output, indices: lookup, output: table, reductionFunction: .sum)
    try BNNS.transpose(
      input: table, output: turned, firstTransposeAxis: 0, secondTransposeAxis: 1)
    try BNNS.tile(input: table, output: tiled)
    try BNNS.copy(table, to: copied)
  } catch {
    fatalError("\(error)")
  }
}

func refusals() {
  for _ in 0..<100 {
    do {
      try BNNS.copy(BNNSNDArrayDescriptor(), to: BNNSNDArrayDescriptor())
      fatalError("nothing was refused")
    } catch {
      precondition("\(error)".hasPrefix("layerApplyFail (-1003)\nBNNSCopy: "), "\(error)")
    }
  }
}

/// A refusal on a thread that then ends.
func refusalOfAThread() {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      refusals()
      return nil
    }, nil)
  pthread_join(thread, nil)
}

switch CommandLine.arguments.dropFirst().first {
case "clean":
  pairs()
  calls()
  refusals()
  refusalOfAThread()
  print("clean")
case "forgotten":
  _ = BNNSNDArrayDescriptor.allocate(repeating: Float(0), shape: [1000])
  print("forgotten")
case "too few":
  _ = BNNSNDArrayDescriptor.allocate(initializingFrom: [1, 2] as [Float], shape: .vector(3))
case "negative size":
  _ = BNNSNDArrayDescriptor.allocate(repeating: Float(0), shape: .vector(-3))
case "negative batch":
  _ = BNNSNDArrayDescriptor.allocate(repeating: Float(0), shape: .vector(3), batchSize: -1)
case "no dimensions":
  _ = BNNS.Shape([])
case "nine dimensions":
  _ = BNNS.Shape([1, 1, 1, 1, 1, 1, 1, 1, 1])
case "wrong layout":
  _ = BNNS.Shape([2, 2], dataLayout: .imageCHW)
case "wrong strides":
  _ = BNNS.Shape([2, 2], stride: [1])
case "no such shape":
  var array = BNNSNDArrayDescriptor()
  array.layout = BNNSDataLayoutMHA_DHK
  _ = array.shape
default:
  fatalError("no such check")
}
