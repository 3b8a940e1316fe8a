# SPDX-License-Identifier: MIT
"""SwiftShader as the Vulkan device of this process, where it is installed and runs."""

import os
import pathlib
import subprocess
import sys

ICD = pathlib.Path("/usr/lib/chromium/vk_swiftshader_icd.json")
GATHER = "import sheaf; sheaf.gather(sheaf.vulkan.array([1.0, 2.0]), sheaf.vulkan.array([1])).numpy()"


def choose() -> None:
    """Tried in a process of its own: on some arm64 machines its compiler emits instructions that these lack."""
    if not ICD.exists() or "SHEAF_VULKAN_DEVICE" in os.environ:
        return
    named = {"VK_ICD_FILENAMES": str(ICD), "SHEAF_VULKAN_DEVICE": "SwiftShader"}
    if subprocess.run([sys.executable, "-c", GATHER], env=os.environ | named, capture_output=True).returncode == 0:
        os.environ.update(named)
