// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "backends/vulkan/kernel_cache.h"
#include "support/text.h"

namespace sheaf::vulkan {
namespace {

constexpr const char* kCacheVariable = "SHEAF_VULKAN_CACHE";
constexpr char kMagic[8] = {'s', 'h', 'e', 'a', 'f', 'v', 'k', '1'};
constexpr off_t kMostCacheBytes = off_t{1} << 28;

// In front of what Vulkan gave.
struct CacheHeader {
  char magic[sizeof kMagic];
  uint64_t bytes;
  uint64_t sum;
};

// What Vulkan's bytes begin with, on every driver.
struct VulkanHeader {
  uint32_t bytes, version, vendor, device;
  uint8_t uuid[VK_UUID_SIZE];
};

// FNV-1a: finds what a disk or a stopped program does to a file.
uint64_t sum_of(const std::byte* bytes, size_t count) {
  uint64_t sum = 0xCBF29CE484222325;
  for (size_t i = 0; i < count; ++i) {
    sum = (sum ^ static_cast<uint64_t>(bytes[i])) * 0x100000001B3;
  }
  return sum;
}

class OpenedFile {
 public:
  explicit OpenedFile(int number) : number_(number) {}
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;
  ~OpenedFile() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  int number() const { return number_; }

 private:
  int number_;
};

// All of it, or nothing if it is not a file of this user.
std::vector<std::byte> read_own_file(const std::string& path) {
  const OpenedFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found {};
  if (file.number() < 0 || fstat(file.number(), &found) != 0 || !S_ISREG(found.st_mode) ||
      found.st_uid != geteuid() || found.st_size > kMostCacheBytes) {
    return {};
  }
  std::vector<std::byte> bytes(static_cast<size_t>(found.st_size));
  size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t count = read(file.number(), bytes.data() + at, bytes.size() - at);
    if (count <= 0) {
      return {};
    }
    at += static_cast<size_t>(count);
  }
  return bytes;
}

bool write_all(int file, const void* bytes, size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = write(file, at, count);
    if (written <= 0) {
      return false;
    }
    at += written;
    count -= static_cast<size_t>(written);
  }
  return true;
}

bool of_this_driver(const std::byte* bytes, size_t count,
                    const VkPhysicalDeviceProperties& properties) {
  VulkanHeader header{};
  if (count < sizeof header) {
    return false;
  }
  std::memcpy(&header, bytes, sizeof header);
  return header.bytes >= sizeof header && header.bytes <= count &&
         header.version == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         header.vendor == properties.vendorID && header.device == properties.deviceID &&
         std::memcmp(header.uuid, properties.pipelineCacheUUID, sizeof header.uuid) == 0;
}

std::string default_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') {  // a relative one is to be ignored
    return cat(cache, "/sheaf");
  }
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? cat(home, "/.cache/sheaf") : "";
}

}  // namespace

CachePlace cache_place(const VkPhysicalDeviceProperties& properties) {
  const char* const asked = std::getenv(kCacheVariable);
  const std::string_view folder = asked == nullptr ? "" : asked;
  if (folder == "off" || folder == "0") {
    return {"", cat("off (", kCacheVariable, ")")};
  }
  const std::string place = folder.empty() ? default_folder() : std::string(folder);
  if (place.empty()) {
    return {"", cat("none, for there is no HOME; ", kCacheVariable, " names a folder")};
  }
  char name[80];
  int length = std::snprintf(name, sizeof name, "vulkan-%04x-%04x-", properties.vendorID,
                             properties.deviceID);
  for (const uint8_t byte : properties.pipelineCacheUUID) {
    const auto at = static_cast<size_t>(length);
    length += std::snprintf(name + at, sizeof name - at, "%02x", byte);
  }
  return {cat(place, "/", static_cast<const char*>(name)), ""};
}

CacheContent read_cache(const std::string& file, const VkPhysicalDeviceProperties& properties) {
  const std::vector<std::byte> all = read_own_file(file);
  if (all.empty()) {
    return {};
  }
  CacheHeader header{};
  const size_t rest = all.size() - std::min(all.size(), sizeof header);
  std::memcpy(&header, all.data(), std::min(all.size(), sizeof header));
  const std::byte* const content = all.data() + (all.size() - rest);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.bytes != rest ||
      header.sum != sum_of(content, rest)) {
    return {{}, "its file was damaged"};
  }
  if (!of_this_driver(content, rest, properties)) {
    return {{}, "its file was of another driver"};
  }
  return {{content, content + rest}, ""};
}

bool write_cache(const std::string& file, const std::vector<std::byte>& content) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  std::string temporary = cat(file, ".XXXXXX");
  const OpenedFile made(mkstemp(temporary.data()));
  if (made.number() < 0) {
    return false;
  }
  CacheHeader header{{}, content.size(), sum_of(content.data(), content.size())};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  const bool written = write_all(made.number(), &header, sizeof header) &&
                       write_all(made.number(), content.data(), content.size()) &&
                       std::rename(temporary.c_str(), file.c_str()) == 0;
  if (!written) {
    unlink(temporary.c_str());
  }
  return written;
}

}  // namespace sheaf::vulkan
