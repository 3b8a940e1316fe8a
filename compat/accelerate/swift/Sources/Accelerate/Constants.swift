// SPDX-License-Identifier: MIT
//
// The C enumerations and the filter parameters under their Swift names.

extension BNNSDataType {
  public static var float16: BNNSDataType { BNNSDataTypeFloat16 }
  public static var float: BNNSDataType { BNNSDataTypeFloat32 }
  public static var int8: BNNSDataType { BNNSDataTypeInt8 }
  public static var int16: BNNSDataType { BNNSDataTypeInt16 }
  public static var int32: BNNSDataType { BNNSDataTypeInt32 }
  public static var uint8: BNNSDataType { BNNSDataTypeUInt8 }
  public static var uint16: BNNSDataType { BNNSDataTypeUInt16 }
  public static var uint32: BNNSDataType { BNNSDataTypeUInt32 }
  public static var indexed8: BNNSDataType { BNNSDataTypeIndexed8 }

  /// The low bits of a type, but for the one that marks BFloat16.
  var bitsPerElement: Int { Int(rawValue & 0x7fff) }
}

// With the names of the modules, as types and protocols are both from elsewhere: Swift 6 warns
// otherwise.
extension CAccelerate.BNNSDataType: Swift.Hashable {}
extension CAccelerate.BNNSDataLayout: Swift.Hashable {}
extension CAccelerate.BNNSNDArrayFlags: Swift.Hashable {}
extension CAccelerate.BNNSReduceFunction: Swift.Hashable {}
extension CAccelerate.BNNSFlags: Swift.Hashable, Swift.OptionSet {
  public static var useClientPointer: BNNSFlags { BNNSFlagsUseClientPtr }
}

extension BNNSFilterParameters {
  /// `threadCount` is a maximum; 0 lets the library choose. The allocator is never called.
  public init(
    options: BNNSFlags, threadCount: Int, allocator: BNNSAlloc?, deallocator: BNNSFree?
  ) {
    self.init(
      flags: options.rawValue, n_threads: threadCount, alloc_memory: allocator,
      free_memory: deallocator)
  }

  public var options: BNNSFlags {
    get { BNNSFlags(rawValue: flags) }
    set { flags = newValue.rawValue }
  }

  public var threadCount: Int {
    get { n_threads }
    set { n_threads = newValue }
  }

  public var allocator: BNNSAlloc? {
    get { alloc_memory }
    set { alloc_memory = newValue }
  }

  public var deallocator: BNNSFree? {
    get { free_memory }
    set { free_memory = newValue }
  }
}
