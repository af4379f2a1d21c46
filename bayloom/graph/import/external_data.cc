// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/external_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

#include "bayloom/base/descriptor.h"
#include "bayloom/base/result.h"
#include "bayloom/graph/import/onnx_tensor.h"

namespace bayloom::graph {
namespace {

/// A field of "location, offset, length" of external data; -1 if absent.
int64_t ExternalNumber(const std::string& key, const std::string& text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw InputError(
        fmt::format("external data: the {} '{}' is no number of bytes", key, Printable(text)));
  }
  return value;
}

/// Opens a file in the directory or in a folder below it, without following links.
base::Descriptor OpenBelow(const std::string& directory, const std::filesystem::path& relative) {
  base::Descriptor opened(
      open(directory.empty() ? "." : directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (auto part = relative.begin(); part != relative.end() && opened.number() >= 0; ++part) {
    const bool last = std::next(part) == relative.end();
    // A pipe is opened without waiting for who writes to it, to be refused.
    const int flags = last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY;
    const int next = openat(opened.number(), part->c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
    const int error = errno;
    opened = base::Descriptor(next);
    errno = error;
  }
  return opened;
}

/// Opens a file of the model as ReadExternal has it; errno if it cannot be opened. Links are
/// resolved first, then the file is opened without following any: what changes in between is
/// noticed.
base::Descriptor OpenData(const DataFolder& folder, const std::filesystem::path& relative) {
  base::Descriptor file = OpenBelow(folder.path, relative);
  if (file.number() >= 0 || (errno != ELOOP && errno != ENOTDIR)) return file;
  std::error_code error;
  const std::filesystem::path base = std::filesystem::path(folder.path) / ".";
  const std::filesystem::path home = std::filesystem::canonical(base, error);
  const std::filesystem::path target = std::filesystem::canonical(base / relative, error);
  if (!error) {
    const std::filesystem::path inside = target.lexically_relative(home);
    if (!inside.empty() && *inside.begin() != "..") return OpenBelow(home.string(), inside);
    if (target.parent_path() == folder.linked) return OpenBelow(folder.linked, target.filename());
    errno = ELOOP;
  }
  return {};
}

}  // namespace

DataFolder DataFolderOf(const std::string& model_path) {
  const std::filesystem::path path(model_path);
  DataFolder folder{path.parent_path().string(), ""};
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) {
    folder.linked = std::filesystem::canonical(path, error).parent_path().string();
  }
  return folder;
}

std::vector<std::byte> ReadExternal(const onnx::TensorProto& proto, const DataFolder& folder,
                                    int64_t bytes) {
  std::string location;
  int64_t offset = 0, length = bytes;
  std::set<std::string> keys;
  for (const auto& entry : proto.external_data()) {
    if (!keys.insert(entry.key()).second) {
      throw InputError(fmt::format("external data: '{}' is given twice", Printable(entry.key())));
    }
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = ExternalNumber("offset", entry.value());
    if (entry.key() == "length") length = ExternalNumber("length", entry.value());
  }
  const std::filesystem::path relative(location);
  bool inside = !location.empty() && relative.is_relative();
  inside &= location.find('\0') == std::string::npos;
  for (const auto& part : relative) inside &= part != "..";
  if (!inside) {
    throw InputError(fmt::format("external data at '{}', which is not a file beside the model",
                                 Printable(location)));
  }
  const std::string path = Printable((std::filesystem::path(folder.path) / relative).string());
  const base::Descriptor file = OpenData(folder, relative);
  if (file.number() < 0 && (errno == ELOOP || errno == ENOTDIR)) {
    throw InputError(fmt::format(
        "external data in {}: has to be a file below the model's folder; links lead elsewhere",
        path));
  }
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw InputError(fmt::format("external data in {}: cannot be read", path));
  }
  if (length != bytes || offset > status.st_size || bytes > status.st_size - offset) {
    throw InputError(fmt::format("{} bytes of external data needed; {} has {} from offset {}",
                                 bytes, path, status.st_size, offset));
  }
  std::vector<std::byte> data(bytes);
  for (int64_t done = 0; done < bytes;) {
    const ssize_t count =
        pread(file.number(), data.data() + done, static_cast<size_t>(bytes - done), offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw InputError(fmt::format("external data in {}: cannot be read", path));
    done += count;
  }
  return data;
}

}  // namespace bayloom::graph
