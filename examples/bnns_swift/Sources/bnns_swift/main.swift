// SPDX-License-Identifier: MIT
//
// Rows of a table by number, and back: a gather, a sum, and an index that is out of range.
// docs/bnns.md says how to build and run it.

// [example bnns-swift]
import Accelerate

let words: [Float] = [
  0.1, 0.2, 0.3,
  1.1, 1.2, 1.3,
  2.1, 2.2, 2.3,
]
let table = BNNSNDArrayDescriptor.allocate(
  initializingFrom: words, shape: .matrixFirstMajor(3, 3))
let sentence = BNNSNDArrayDescriptor.allocate(
  initializingFrom: [2, 0] as [Int32], shape: .vector(2))
let rows = BNNSNDArrayDescriptor.allocateUninitialized(
  scalarType: Float.self, shape: .matrixFirstMajor(2, 3))
defer {
  table.deallocate()
  sentence.deallocate()
  rows.deallocate()
}

try BNNS.gather(input: table, indices: sentence, output: rows, axis: 0)
print(rows.makeArray(of: Float.self)!)

try BNNS.scatter(
  input: rows, indices: sentence, output: table, axis: 0, reductionFunction: .sum)
print(table.makeArray(of: Float.self)!)

do {
  sentence.data!.storeBytes(of: 7, as: Int32.self)
  try BNNS.gather(input: table, indices: sentence, output: rows, axis: 0)
} catch {
  print(error)
}
// [/example]
