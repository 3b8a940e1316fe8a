# SPDX-License-Identifier: MIT

# SHEAF_VULKAN: whether the vulkan backend is built. By default where Vulkan's headers and a compiler
# of GLSL are. The loader and the drivers are looked for when a program runs, never linked to.
find_path(SHEAF_VULKAN_INCLUDE vulkan/vulkan_core.h)
find_program(SHEAF_GLSLC glslc)
set(vulkan_missing "")
if(EMSCRIPTEN)
  set(vulkan_missing "there is no Vulkan in a browser")
elseif(NOT SHEAF_VULKAN_INCLUDE)
  set(vulkan_missing "no vulkan/vulkan_core.h (libvulkan-dev)")
elseif(NOT SHEAF_GLSLC)
  set(vulkan_missing "no glslc (glslc)")
endif()
if(vulkan_missing)
  # Not kept: a later run of cmake may find what is missing now.
  if(NOT DEFINED SHEAF_VULKAN)
    set(SHEAF_VULKAN OFF)
  endif()
  message(STATUS "vulkan backend left out: ${vulkan_missing}")
else()
  option(SHEAF_VULKAN "Build the vulkan backend (needs libvulkan-dev and glslc)" ON)
endif()
