// SPDX-License-Identifier: MIT

/// A type that arrays of BNNS hold.
public protocol BNNSScalar {
  static var bnnsDataType: BNNSDataType { get }
}

extension Float16: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeFloat16 }
}

extension Float: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeFloat32 }
}

extension Int8: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeInt8 }
}

extension Int16: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeInt16 }
}

extension Int32: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeInt32 }
}

extension Int64: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeInt64 }
}

extension UInt8: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeUInt8 }
}

extension UInt16: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeUInt16 }
}

extension UInt32: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeUInt32 }
}

extension UInt64: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeUInt64 }
}

extension Bool: BNNSScalar {
  public static var bnnsDataType: BNNSDataType { BNNSDataTypeBoolean }
}
