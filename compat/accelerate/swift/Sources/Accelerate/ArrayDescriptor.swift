// SPDX-License-Identifier: MIT
//
// Arrays with memory of their own, or over memory of the caller. A descriptor is a C structure: it
// owns nothing, and copies of it point to the same memory. What allocate() made, deallocate()
// frees, once.

extension BNNSNDArrayDescriptor {
  /// An array without memory.
  public init(dataType: BNNSDataType, shape: BNNS.Shape) {
    self.init()
    layout = shape.layout
    size = shape.size
    stride = shape.stride
    data_type = dataType
    data_scale = 1
  }

  /// An array over the elements of `data`; nil if those are fewer than the shape spans.
  public init?<T>(data: UnsafeMutableBufferPointer<T>, shape: BNNS.Shape) where T: BNNSScalar {
    self.init(data: data, shape: shape, batchSize: 1)
  }

  public init?<T>(data: UnsafeMutableBufferPointer<T>, shape: BNNS.Shape, batchSize: Int)
  where T: BNNSScalar {
    self.init(
      data: UnsafeMutableRawBufferPointer(data), scalarType: T.self, shape: shape,
      batchSize: batchSize)
  }

  /// An array over the bytes of `data`; nil if those are fewer than the shape spans.
  public init?(
    data: UnsafeMutableRawBufferPointer, scalarType: any BNNSScalar.Type, shape: BNNS.Shape
  ) {
    self.init(data: data, scalarType: scalarType, shape: shape, batchSize: 1)
  }

  public init?(
    data: UnsafeMutableRawBufferPointer, scalarType: any BNNSScalar.Type, shape: BNNS.Shape,
    batchSize: Int
  ) {
    self.init(dataType: scalarType.bnnsDataType, shape: shape)
    guard let start = data.baseAddress, data.count >= byteCount(shape, batchSize) else {
      return nil
    }
    self.data = start
  }

  /// A new array, of which every element is `repeatedValue`.
  public static func allocate<T>(
    repeating repeatedValue: T, shape: BNNS.Shape, batchSize: Int = 1
  ) -> BNNSNDArrayDescriptor where T: BNNSScalar {
    let count = shape.span(batchSize: batchSize)
    return allocate(
      initializingFrom: repeatElement(repeatedValue, count: count), shape: shape,
      batchSize: batchSize)
  }

  /// A new array with a copy of `source`, which holds what the memory will hold, in that order: the
  /// gaps of a shape that has some are elements of it too. It has to reach from the first to the
  /// last element of the array; what it has beyond is left out.
  public static func allocate<C>(
    initializingFrom source: C, shape: BNNS.Shape, batchSize: Int = 1
  ) -> BNNSNDArrayDescriptor where C: Collection, C.Element: BNNSScalar {
    let count = shape.span(batchSize: batchSize)
    precondition(
      source.count >= count,
      "\(shape) needs \(count) elements, batches and gaps included, and got \(source.count)")
    let array = allocateUninitialized(
      scalarType: C.Element.self, shape: shape, batchSize: batchSize)
    let elements = UnsafeMutableBufferPointer(
      start: array.data?.bindMemory(to: C.Element.self, capacity: count), count: count)
    _ = elements.initialize(from: source.prefix(count))
    return array
  }

  /// A new array. Its elements have to be written before they are read.
  public static func allocateUninitialized(
    scalarType: any BNNSScalar.Type, shape: BNNS.Shape, batchSize: Int = 1
  ) -> BNNSNDArrayDescriptor {
    var array = BNNSNDArrayDescriptor(dataType: scalarType.bnnsDataType, shape: shape)
    array.data = .allocate(byteCount: array.byteCount(shape, batchSize), alignment: 64)
    return array
  }

  /// Frees the memory of an array that one of the functions above has allocated.
  public func deallocate() {
    data?.deallocate()
  }

  /// A copy of the memory from the first to the last element, gaps included. nil without memory,
  /// and if the elements of the array are not as large as a `T`. Elements of another type of that
  /// size are taken bit by bit: those of BFloat16 as `UInt16`, say.
  public func makeArray<T>(of scalarType: T.Type, batchSize: Int = 1) -> [T]? {
    guard let data, let type = (T.self as? any BNNSScalar.Type)?.bnnsDataType,
      type == data_type
        || (type.bitsPerElement == data_type.bitsPerElement && type != BNNSDataTypeBoolean)
    else {
      return nil
    }
    let count = shape.span(batchSize: batchSize)
    return Array(unsafeUninitializedCapacity: count) { elements, written in
      if let start = elements.baseAddress {
        UnsafeMutableRawPointer(start).copyMemory(
          from: data, byteCount: count * MemoryLayout<T>.stride)
      }
      written = count
    }
  }

  /// Stops the program for the layouts that no shape has: rotated or packed convolution weights,
  /// `FullyConnectedSparse` and `MHA_DHK`.
  public var shape: BNNS.Shape {
    guard let layout = BNNS.DataLayout(self.layout) else {
      preconditionFailure("BNNS.Shape has no case for the layout \(self.layout.rawValue)")
    }
    let size = [
      self.size.0, self.size.1, self.size.2, self.size.3, self.size.4, self.size.5, self.size.6,
      self.size.7,
    ]
    let stride = [
      self.stride.0, self.stride.1, self.stride.2, self.stride.3, self.stride.4, self.stride.5,
      self.stride.6, self.stride.7,
    ]
    return BNNS.Shape(
      Array(size.prefix(layout.rank)), dataLayout: layout,
      stride: Array(stride.prefix(layout.rank)))
  }

  /// The number of bytes from the first to the last element; -1 if the descriptor is not sound.
  public var dataSize: Int {
    withUnsafePointer(to: self) { BNNSNDArrayGetDataSize($0) }
  }

  private func byteCount(_ shape: BNNS.Shape, _ batchSize: Int) -> Int {
    shape.span(batchSize: batchSize) * (data_type.bitsPerElement / 8)
  }
}
