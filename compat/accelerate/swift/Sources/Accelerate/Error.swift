// SPDX-License-Identifier: MIT
//
// What the functions throw. Apple's cases carry nothing, and programs compare them, so the code and
// the text of a refusal are kept beside them: for each thread those of the last one thrown there,
// as errno and sheaf_last_error() are.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

extension BNNS {
  /// Every function of this module that throws throws `layerApplyFail`.
  public enum Error: Swift.Error, Hashable {
    case arrayDescriptorInvalidData
    case layerApplyFail
    case optimizerStepFail
    case unableToCreateLayer
  }
}

extension BNNS.Error: CustomStringConvertible {
  /// What the C function returned: -1003 for a bad argument, -1005 for a bad index (docs/bnns.md).
  /// Of the last refusal on this thread; 0 if there was none, and of cases that are never thrown.
  public var code: Int32 {
    self == .layerApplyFail ? LastRefusal.onThisThread?.code ?? 0 : 0
  }

  /// The name of the case, and for a refusal the library's text, in four lines.
  public var description: String {
    let name: String
    switch self {
    case .arrayDescriptorInvalidData: name = "arrayDescriptorInvalidData"
    case .layerApplyFail: name = "layerApplyFail"
    case .optimizerStepFail: name = "optimizerStepFail"
    case .unableToCreateLayer: name = "unableToCreateLayer"
    }
    guard self == .layerApplyFail, let refusal = LastRefusal.onThisThread else { return name }
    return "\(name) (\(refusal.code))\n\(refusal.text)"
  }

  /// The error to throw on this thread, right after a C function has returned `code`.
  static func refusal(code: Int32) -> BNNS.Error {
    LastRefusal.onThisThread = LastRefusal(code: code, text: String(cString: sheaf_last_error()))
    return .layerApplyFail
  }
}

private final class LastRefusal {
  let code: Int32
  let text: String

  init(code: Int32, text: String) {
    self.code = code
    self.text = text
  }

  /// The slot owns its object; the destructor frees that of a thread that ends.
  private static let slot: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { Unmanaged<LastRefusal>.fromOpaque($0!).release() }
    precondition(status == 0, "pthread_key_create returned \(status): no slot per thread is left")
    return key
  }()

  static var onThisThread: LastRefusal? {
    get {
      pthread_getspecific(slot).map {
        Unmanaged<LastRefusal>.fromOpaque($0).takeUnretainedValue()
      }
    }
    set {
      let old = pthread_getspecific(slot)
      let new = newValue.map { UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque()) }
      pthread_setspecific(slot, new)
      if let old {
        Unmanaged<LastRefusal>.fromOpaque(old).release()
      }
    }
  }
}
