#include "bayloom/cli/write_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bayloom/base/result.h"

namespace bayloom {

void WriteFile(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw InputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

void CheckFolderOf(const std::string& path) {
  if (path.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (access(folder.c_str(), W_OK) == 0) return;
  throw InputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

}  // namespace bayloom
