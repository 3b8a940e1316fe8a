// swift-tools-version:5.9
// SPDX-License-Identifier: MIT
//
// `import Accelerate` on machines that are not Apple's: BNNS's gathers, scatters and copies as Swift
// programs call them, over libsheaf-accelerate. pkg-config finds that library, so PKG_CONFIG_PATH has
// to name the folder of its sheaf-accelerate.pc. docs/bnns.md goes from a clone to a program.
import PackageDescription

let package = Package(
  name: "Accelerate",
  products: [.library(name: "Accelerate", targets: ["Accelerate"])],
  targets: [
    .systemLibrary(name: "CAccelerate", pkgConfig: "sheaf-accelerate"),
    .target(name: "Accelerate", dependencies: ["CAccelerate"]),
    .testTarget(name: "AccelerateTests", dependencies: ["Accelerate"]),
    .executableTarget(
      name: "MemoryCheck", dependencies: ["Accelerate"], path: "Tests/MemoryCheck"),
  ]
)
