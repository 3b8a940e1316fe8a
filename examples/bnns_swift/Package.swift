// swift-tools-version:5.9
// SPDX-License-Identifier: MIT
import PackageDescription

let package = Package(
  name: "bnns_swift",
  dependencies: [.package(name: "Accelerate", path: "../../compat/accelerate/swift")],
  targets: [.executableTarget(name: "bnns_swift", dependencies: ["Accelerate"])]
)
