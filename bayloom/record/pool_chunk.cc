// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/pool_chunk.h"

#include <zlib.h>

#include <cstring>
#include <optional>

#include "bayloom/base/json.h"
#include "bayloom/record/json_text.h"

namespace bayloom::record {
namespace {

/// What a chunk can be expected to take and to hold at most; more is damage.
constexpr uint64_t kMaxChunkBytes = uint64_t{1} << 30;
constexpr uint32_t kMaxChunkPrograms = 1 << 20;

template <typename Number>
void Append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void AppendText(std::string& bytes, std::string_view text) {
  Append(bytes, static_cast<uint32_t>(text.size()));
  bytes += text;
}

/// Takes bytes apart; says no where they end too early.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  bool Read(Number& number) {
    if (rest_.size() < sizeof(number)) return false;
    std::memcpy(&number, rest_.data(), sizeof(number));
    rest_.remove_prefix(sizeof(number));
    return true;
  }
  bool ReadText(std::string& text) {
    uint32_t size = 0;
    if (!Read(size) || rest_.size() < size) return false;
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

/// The size, then the bytes compressed.
std::string Compress(std::string_view bytes) {
  std::string packed;
  Append(packed, static_cast<uint64_t>(bytes.size()));
  uLongf size = compressBound(bytes.size());
  const size_t head = packed.size();
  packed.resize(head + size);
  compress2(reinterpret_cast<Bytef*>(packed.data() + head), &size,
            reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_DEFAULT_COMPRESSION);
  packed.resize(head + size);
  return packed;
}

std::optional<std::string> Decompress(std::string_view packed) {
  uint64_t size = 0;
  if (!Reader(packed).Read(size) || size > kMaxChunkBytes) return std::nullopt;
  packed.remove_prefix(sizeof(size));
  std::string bytes(size, '\0');
  uLongf written = size;
  const int code = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &written,
                              reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (code != Z_OK || written != size) return std::nullopt;
  return bytes;
}

const Error kDamaged{"a chunk of programs is damaged"};

}  // namespace

std::string PackPrograms(std::span<const PoolProgram> programs) {
  std::string bytes;
  Append(bytes, static_cast<uint32_t>(programs.size()));
  for (const PoolProgram& program : programs) {
    Append(bytes, program.hash);
    Append(bytes, static_cast<int32_t>(program.space));
    AppendText(bytes, program.origin);
    AppendText(bytes, program.trace);
  }
  return Compress(bytes);
}

std::string PackFeatures(std::span<const PoolProgram> programs) {
  std::string bytes;
  Append(bytes, static_cast<uint32_t>(programs.size()));
  for (const PoolProgram& program : programs) {
    Append(bytes, static_cast<uint32_t>(program.features.rows));
  }
  for (int column = 0; column < feature::kFeatureColumns; ++column) {
    for (const PoolProgram& program : programs) {
      for (int row = 0; row < program.features.rows; ++row) {
        Append(bytes, program.features.Row(row)[column]);
      }
    }
  }
  return Compress(bytes);
}

Result<std::vector<PoolProgram>> UnpackPrograms(std::string_view packed) {
  const std::optional<std::string> bytes = Decompress(packed);
  if (!bytes) return kDamaged;
  Reader reader(*bytes);
  uint32_t count = 0;
  if (!reader.Read(count) || count > reader.left() || count > kMaxChunkPrograms) return kDamaged;
  std::vector<PoolProgram> programs(count);
  for (PoolProgram& program : programs) {
    int32_t space = 0;
    if (!reader.Read(program.hash) || !reader.Read(space) || !reader.ReadText(program.origin) ||
        !reader.ReadText(program.trace)) {
      return kDamaged;
    }
    program.space = space;
    if (base::IsNestedTooDeep(program.trace)) return kDamaged;
  }
  return programs;
}

Result<std::vector<feature::FeatureMatrix>> UnpackFeatures(std::string_view packed) {
  const std::optional<std::string> bytes = Decompress(packed);
  if (!bytes) return kDamaged;
  Reader reader(*bytes);
  uint32_t count = 0;
  if (!reader.Read(count) || count > reader.left() || count > kMaxChunkPrograms) return kDamaged;
  std::vector<feature::FeatureMatrix> features(count);
  size_t rows = 0;
  for (feature::FeatureMatrix& matrix : features) {
    uint32_t own = 0;
    if (!reader.Read(own) || own > reader.left()) return kDamaged;
    matrix.rows = static_cast<int>(own);
    rows += own;
  }
  if (rows > reader.left() || reader.left() != rows * feature::kFeatureColumns * sizeof(float))
    return kDamaged;
  for (feature::FeatureMatrix& matrix : features) {
    matrix.values.resize(static_cast<size_t>(matrix.rows) * feature::kFeatureColumns);
  }
  for (int column = 0; column < feature::kFeatureColumns; ++column) {
    for (feature::FeatureMatrix& matrix : features) {
      for (int row = 0; row < matrix.rows; ++row) {
        reader.Read(matrix.values[static_cast<size_t>(row) * feature::kFeatureColumns + column]);
      }
    }
  }
  return features;
}

}  // namespace bayloom::record
