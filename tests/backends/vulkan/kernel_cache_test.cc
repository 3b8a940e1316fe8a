// SPDX-License-Identifier: MIT
//
// Compiled kernels in a file: found again, and never trusted if they are damaged or foreign.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "backends/vulkan/kernel_cache.h"
#include "helpers/device.h"
#include "helpers/vulkan_program.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

// Sets a variable of the environment, and at the end what it was before.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) {
      before_ = before;
    }
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) { value != nullptr ? setenv(name_, value, 1) : unsetenv(name_); }
  const char* name_;
  std::optional<std::string> before_;
};

VkPhysicalDeviceProperties a_device() {
  VkPhysicalDeviceProperties properties{};
  properties.vendorID = 0x10DE;
  properties.deviceID = 0x2335;
  std::memset(properties.pipelineCacheUUID, 0xAB, VK_UUID_SIZE);
  return properties;
}

// As a driver writes it.
std::vector<std::byte> content_for(const VkPhysicalDeviceProperties& properties, size_t bytes) {
  std::vector<std::byte> content(32 + bytes, std::byte{7});
  const uint32_t head[4] = {32, VK_PIPELINE_CACHE_HEADER_VERSION_ONE, properties.vendorID,
                            properties.deviceID};
  std::memcpy(content.data(), head, sizeof head);
  std::memcpy(content.data() + sizeof head, properties.pipelineCacheUUID, VK_UUID_SIZE);
  return content;
}

class KernelCacheFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/sheaf_kernels_" + std::to_string(getpid());
    fs::remove_all(folder_);
    file_ = folder_ + "/deep/cache";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string trouble() const { return vulkan::read_cache(file_, a_device()).trouble; }

  std::string folder_, file_;
};

TEST_F(KernelCacheFile, IsReadAsItWasWritten) {
  const std::vector<std::byte> content = content_for(a_device(), 1000);
  EXPECT_TRUE(vulkan::write_cache(file_, content));
  EXPECT_EQ(vulkan::read_cache(file_, a_device()).bytes, content);
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ + "/deep"), {}), 1);  // no other is left
}

TEST_F(KernelCacheFile, ThatIsNotThereIsNoTrouble) {
  EXPECT_TRUE(vulkan::read_cache(file_, a_device()).bytes.empty());
  EXPECT_EQ(trouble(), "");
  fs::create_directories(file_);  // a folder in its place
  EXPECT_TRUE(vulkan::read_cache(file_, a_device()).bytes.empty());
  EXPECT_FALSE(vulkan::write_cache(file_, content_for(a_device(), 10)));
}

TEST_F(KernelCacheFile, IsIgnoredWhereverItIsDamaged) {
  ASSERT_TRUE(vulkan::write_cache(file_, content_for(a_device(), 8)));
  std::ifstream in(file_, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto write = [&](const std::string& bytes) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
  };
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    write(bytes);
    EXPECT_EQ(trouble(), "its file was damaged") << at;
  }
  for (size_t size = 1; size < good.size(); ++size) {
    write(good.substr(0, size));
    EXPECT_EQ(trouble(), "its file was damaged") << size;
  }
  write(good + "x");
  EXPECT_EQ(trouble(), "its file was damaged");
  write(good);
  EXPECT_EQ(trouble(), "");
}

TEST_F(KernelCacheFile, OfAnotherDriverIsIgnored) {
  const auto trouble_of = [&](auto change) {
    VkPhysicalDeviceProperties other = a_device();
    change(other);
    EXPECT_TRUE(vulkan::write_cache(file_, content_for(other, 8)));
    return trouble();
  };
  const std::string foreign = "its file was of another driver";
  EXPECT_EQ(trouble_of([](auto& device) { device.vendorID ^= 1; }), foreign);
  EXPECT_EQ(trouble_of([](auto& device) { device.deviceID ^= 1; }), foreign);
  EXPECT_EQ(trouble_of([](auto& device) { device.pipelineCacheUUID[15] ^= 1; }), foreign);
  EXPECT_TRUE(vulkan::write_cache(file_, std::vector<std::byte>(31)));
  EXPECT_EQ(trouble(), foreign);
}

TEST(KernelCachePlace, IsTheUsersCache) {
  const VkPhysicalDeviceProperties device = a_device();
  const std::string name = "vulkan-10de-2335-abababababababababababababababab";
  const Variable unset("SHEAF_VULKAN_CACHE", nullptr);
  const Variable home("HOME", "/home/me");
  {
    const Variable cache("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(vulkan::cache_place(device).file, "/cache/sheaf/" + name);
  }
  {
    const Variable cache("XDG_CACHE_HOME", "not/absolute");
    EXPECT_EQ(vulkan::cache_place(device).file, "/home/me/.cache/sheaf/" + name);
  }
  const Variable none("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(vulkan::cache_place(device).file, "/home/me/.cache/sheaf/" + name);
  {
    const Variable nowhere("HOME", nullptr);
    EXPECT_EQ(vulkan::cache_place(device).reason,
              "none, for there is no HOME; SHEAF_VULKAN_CACHE names a folder");
  }
  const Variable asked("SHEAF_VULKAN_CACHE", "/there");
  EXPECT_EQ(vulkan::cache_place(device).file, "/there/" + name);
  const Variable off("SHEAF_VULKAN_CACHE", "off");
  EXPECT_EQ(vulkan::cache_place(device).file, "");
  EXPECT_EQ(vulkan::cache_place(device).reason, "off (SHEAF_VULKAN_CACHE)");
}

class VulkanKernelCache : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    folder_ = testing::TempDir() + "/sheaf_device_kernels_" + std::to_string(getpid());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // What a program says about its cache at the start and after a gather.
  struct Said {
    std::string before, after;
  };
  Said run_gather() const {
    const VulkanProgram program;
    const vulkan::Device device(program.handles());
    Said said;
    said.before = device.kernel_cache();
    const Plan plan =
        plan_gather({i32, {4}}, {i32, {2}}, {.rule = {.out_of_range = OutOfRange::kClamp}});
    vulkan::Memory data(device, 16), rows(device, 8), output(device, 8);
    const int32_t table[] = {5, 6, 7, 8}, picks[] = {3, 1};
    data.upload(table, 16);
    rows.upload(picks, 8);
    const vulkan::Stream stream(device);
    run(plan, data.data(), rows.data(), output.data(), stream.queue());
    finish(plan, stream.queue());
    int32_t got[2];
    output.download(got, 8);
    EXPECT_EQ(got[0], 8);
    EXPECT_EQ(got[1], 6);
    said.after = device.kernel_cache();
    return said;
  }
  std::string file() const { return fs::directory_iterator(folder_)->path().string(); }

  std::string folder_;
};

TEST_F(VulkanKernelCache, IsKeptAndFoundAgain) {
  const Variable folder("SHEAF_VULKAN_CACHE", folder_.c_str());
  const Said first = run_gather();
  EXPECT_THAT(first.before, StartsWith(folder_ + "/vulkan-"));
  EXPECT_THAT(first.before, EndsWith(", empty"));
  EXPECT_THAT(first.after, EndsWith(" KiB"));
  struct stat made {};
  ASSERT_EQ(stat(file().c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0600u);
  const Said second = run_gather();
  EXPECT_EQ(second.before, first.after);
  EXPECT_EQ(second.after, first.after);
}

TEST_F(VulkanKernelCache, ADamagedFileIsReplaced) {
  const Variable folder("SHEAF_VULKAN_CACHE", folder_.c_str());
  const Said first = run_gather();
  const auto size = fs::file_size(file());
  std::ofstream(file(), std::ios::binary | std::ios::trunc) << "sheafvk1 and then nothing useful";
  const Said second = run_gather();
  EXPECT_THAT(second.before, EndsWith(", empty, its file was damaged"));
  EXPECT_THAT(second.after, HasSubstr(" KiB"));
  EXPECT_EQ(fs::file_size(file()), size);
  EXPECT_EQ(run_gather().before, first.after);
}

// What was compiled ahead is what runs need: the file does not grow any more.
TEST_F(VulkanKernelCache, IsFilledByCompilingAhead) {
  const Variable folder("SHEAF_VULKAN_CACHE", folder_.c_str());
  const VulkanProgram program;
  const vulkan::Device device(program.handles());
  const std::vector<vulkan::CompiledKernel> all = device.compile_kernels();
  EXPECT_GE(all.size(), 20u);
  EXPECT_EQ(all.front().name, "gather_lines 1");
  for (const vulkan::CompiledKernel& kernel : all) {
    EXPECT_GT(kernel.spirv_bytes, 1000u) << kernel.name;
    EXPECT_GE(kernel.seconds, 0) << kernel.name;
  }
  const std::string filled = device.kernel_cache();
  EXPECT_THAT(filled, EndsWith(" KiB"));
  EXPECT_LT(device.compile_kernels().back().seconds, 0.1);
  EXPECT_EQ(device.kernel_cache(), filled);
}

TEST_F(VulkanKernelCache, CanBeTurnedOffOrImpossible) {
  const Variable off("SHEAF_VULKAN_CACHE", "off");
  EXPECT_EQ(run_gather().after, "off (SHEAF_VULKAN_CACHE)");
  const Variable impossible("SHEAF_VULKAN_CACHE", "/dev/null/no");
  EXPECT_THAT(run_gather().after, EndsWith(", empty"));
}

}  // namespace
}  // namespace sheaf
