// SPDX-License-Identifier: MIT
#include "helpers/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void* map(size_t bytes, int protection) {
  void* memory =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::runtime_error("mmap failed");
  }
  return memory;
}

}  // namespace

GuardedMemory::GuardedMemory(size_t bytes) {
  const size_t page = page_bytes();
  bytes_ = (bytes / page + 1) * page;
  first_ = static_cast<std::byte*>(map(bytes_ + 2 * page, PROT_NONE)) + page;
  set_writable(true);
}

GuardedMemory::~GuardedMemory() { munmap(first_ - page_bytes(), bytes_ + 2 * page_bytes()); }

std::span<std::byte> GuardedMemory::part(size_t bytes, Flush flush) const {
  if (bytes > bytes_) {
    throw std::length_error("guarded memory is too small");
  }
  return flush == Flush::kFront ? all().first(bytes) : all().last(bytes);
}

void GuardedMemory::set_writable(bool writable) const {
  if (mprotect(first_, bytes_, writable ? PROT_READ | PROT_WRITE : PROT_READ) != 0) {
    throw std::runtime_error("mprotect failed");
  }
}

SparseMemory::SparseMemory(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
  data_ = static_cast<uint8_t*>(map(bytes_, PROT_READ | PROT_WRITE));
}

SparseMemory::~SparseMemory() { munmap(data_, bytes_); }
