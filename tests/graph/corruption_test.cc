// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bayloom/base/random.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "tests/graph/small_models.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Flips bits, overwrites bytes, cuts the end off, repeats or drops a part.
std::string Corrupted(std::string bytes, base::RandomStream& random) {
  const auto place = [&] { return random.UniformInt(static_cast<int64_t>(bytes.size())); };
  switch (random.UniformInt(5)) {
    case 0:
      for (int64_t n = 1 + random.UniformInt(8); n > 0; --n) {
        bytes[place()] ^= static_cast<char>(1 << random.UniformInt(8));
      }
      break;
    case 1:
      for (int64_t n = 1 + random.UniformInt(4); n > 0; --n) {
        bytes[place()] = static_cast<char>(random.UniformInt(256));
      }
      break;
    case 2:
      bytes.resize(place());
      break;
    case 3:
      bytes.insert(place(), bytes.substr(place(), 1 + random.UniformInt(64)));
      break;
    default:
      bytes.erase(place(), 1 + random.UniformInt(64));
  }
  return bytes;
}

/// A file of any content is imported and compiled or refused in one line.
void ExpectContained(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "corrupted.onnx";
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<int64_t>(bytes.size()));
  try {
    Graph graph = ImportOnnx(path);
    Optimize(graph);
    ExtractTasks(std::move(graph));
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 500u) << message;
    EXPECT_EQ(message.rfind(path, 0), 0u) << "names the file: " << message;
  }
}

TEST(Corruption, ThousandDamagedNetworks) {
  const SmallModel models[] = {SmallConvolutionalNetwork(), SmallTransformer(), SmallDenseNetwork(),
                               SmallInceptionNetwork()};
  base::RandomStream random(11);
  for (int n = 0; n < 1000; ++n) {
    ExpectContained(Corrupted(ReadAll(models[n % 4].path()), random));
  }
}

TEST(Corruption, DamagedOperatorTests) {
  const std::filesystem::path root = "/usr/share/libonnx-testdata/data/node";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "libonnx-testdata is not installed";
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    paths.push_back((entry.path() / "model.onnx").string());
  }
  std::sort(paths.begin(), paths.end());
  base::RandomStream random(12);
  for (const std::string& path : paths) {
    for (int n = 0; n < 3; ++n) ExpectContained(Corrupted(ReadAll(path), random));
  }
}

}  // namespace
}  // namespace bayloom::graph
