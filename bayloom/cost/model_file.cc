// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/model_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"

namespace bayloom::cost {
namespace {

constexpr std::string_view kMagic = "bayloom-model ";
constexpr std::string_view kVersion = "2";
/// A hundred times the largest that training gives.
constexpr size_t kMaxModelBytes = size_t{256} << 20;
constexpr size_t kMaxHeaderBytes = 200;

uint32_t ChecksumOf(std::string_view name, std::string_view bytes) {
  const auto add = [](uLong sum, std::string_view part) {
    return crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
  };
  return static_cast<uint32_t>(add(add(0, name), bytes));
}

/// The text up to the separator, which is taken off with it.
std::string_view TakeWord(std::string_view& text, char separator) {
  const std::string_view word = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string PackModel(const ThroughputModel& model) {
  const std::string bytes = model.Save();
  return fmt::format("{}{} {} {} {:08x}\n{}", kMagic, kVersion, model.name(), bytes.size(),
                     ChecksumOf(model.name(), bytes), bytes);
}

Result<std::unique_ptr<ThroughputModel>> UnpackModel(std::string_view content) {
  const size_t header_end = content.substr(0, kMaxHeaderBytes).find('\n');
  if (!content.starts_with(kMagic) || header_end == std::string_view::npos) {
    return Error{"it holds no trained cost model"};
  }
  std::string_view header = content.substr(kMagic.size(), header_end - kMagic.size());
  const std::string_view bytes = content.substr(header_end + 1);
  if (TakeWord(header, ' ') != kVersion) {
    return Error{"the model was written by another version of this program; train it again"};
  }
  const std::string name(TakeWord(header, ' '));
  const auto length = ParseNumber<size_t>(TakeWord(header, ' '), 10);
  const auto checksum = ParseNumber<uint32_t>(header, 16);
  if (!length || !checksum) return Error{"the model is damaged: its first line is not whole"};
  if (*length != bytes.size()) {
    return Error{
        fmt::format("the model is damaged: it has {} bytes in place of {}", bytes.size(), *length)};
  }
  if (*checksum != ChecksumOf(name, bytes)) {
    return Error{"the model is damaged: its checksum is another"};
  }
  const std::vector<std::string> names = ThroughputModelNames();
  if (std::ranges::find(names, name) == names.end()) {
    return Error{fmt::format("there is no model '{}'", base::SingleLine(name))};
  }
  std::unique_ptr<ThroughputModel> model = CreateThroughputModel(name, 0);
  if (const Status loaded = model->Load(bytes); !loaded) {
    return Error{fmt::format("the model is damaged: {}", base::SingleLine(loaded.error().message))};
  }
  return model;
}

void WriteModelFile(const ThroughputModel& model, const std::string& path) {
  base::WriteFile(path, PackModel(model));
}

std::unique_ptr<ThroughputModel> ReadModelFile(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return InputError(
        fmt::format("cannot use '{}': {}", base::SingleLine(path, base::kMaxPathBytes), why));
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  // To read from a pipe or a device might never end.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw refuse("it is not a regular file");
  }
  Result<std::unique_ptr<ThroughputModel>> model =
      UnpackModel(base::ReadFile(path, kMaxModelBytes));
  if (!model) throw refuse(model.error().message);
  return *std::move(model);
}

}  // namespace bayloom::cost
