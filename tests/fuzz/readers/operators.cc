// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// ONNX's own tests of single operators, as far as they are supported.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/reader.h"
#include "tests/fuzz/try.h"

namespace bayloom::fuzz {
namespace {

/// One in so many is taken; the others are much like these.
constexpr size_t kStride = 3;

}  // namespace

std::vector<std::string> Seeds() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(BAYLOOM_OPERATOR_TESTS)) {
    paths.push_back(entry.path() / "model.onnx");
  }
  std::ranges::sort(paths);
  std::vector<std::string> seeds;
  for (size_t i = 0; i < paths.size(); i += kStride) {
    std::ifstream file(paths[i], std::ios::binary);
    std::string model{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (Try(model).verdict == Verdict::kAccepted) seeds.push_back(std::move(model));
  }
  return seeds;
}

}  // namespace bayloom::fuzz
