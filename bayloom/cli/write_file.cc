#include "bayloom/cli/write_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "bayloom/base/result.h"

namespace bayloom {

void WriteFile(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw InputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

}  // namespace bayloom
