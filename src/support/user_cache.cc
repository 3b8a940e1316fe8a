// SPDX-License-Identifier: MIT
#include "support/user_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "support/text.h"

namespace sheaf {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  int number() const { return number_; }

 private:
  int number_;
};

bool write_text(int file, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written <= 0) {
      return false;
    }
    at += static_cast<size_t>(written);
  }
  return true;
}

}  // namespace

std::string user_cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') {  // a relative one is to be ignored
    return cat(cache, "/sheaf");
  }
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? cat(home, "/.cache/sheaf") : "";
}

std::optional<std::string> read_user_file(const std::string& path, int64_t most_bytes) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found {};
  if (file.number() < 0 || fstat(file.number(), &found) != 0 || !S_ISREG(found.st_mode) ||
      found.st_uid != geteuid() || found.st_size > most_bytes) {
    return std::nullopt;
  }
  std::string text(static_cast<size_t>(found.st_size), '\0');
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = read(file.number(), text.data() + at, text.size() - at);
    if (count <= 0) {
      return std::nullopt;
    }
    at += static_cast<size_t>(count);
  }
  return text;
}

bool replace_user_file(const std::string& path, const std::string& content) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::string temporary = cat(path, ".XXXXXX");
  const Descriptor made(mkstemp(temporary.data()));
  if (made.number() < 0) {
    return false;
  }
  const bool done =
      write_text(made.number(), content) && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!done) {
    unlink(temporary.c_str());
  }
  return done;
}

}  // namespace sheaf
