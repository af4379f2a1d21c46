// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/package.h"
#include "tests/graph/model_writer.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/two_layers.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

/// The most memory that a process of its own has had, in bytes.
int64_t PeakOf(const std::function<void()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(0);
  }
  int status = 0;
  rusage usage;
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return int64_t{usage.ru_maxrss} * 1024;
}

/// A product with weights of [width, width], whose file has their order and the library another.
void WriteModel(const std::string& path, int64_t width) {
  ModelWriter writer;
  const std::string x = writer.Input(tensor::DType::kFloat32, {1, width});
  const std::string weights = writer.Constant(RandomTensor({width, width}, 1));
  writer.Output(writer.Node("Gemm", {x, weights}, {{"transB", int64_t{1}}}));
  writer.Save(path);
}

TEST(PackageMemory, IsAboutTwiceTheModel) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory of their own";
#endif
  const TemporaryFolder folder;
  const auto peak = [&](int64_t width) {
    const std::string model = folder / "model.onnx";
    WriteModel(model, width);
    return PeakOf([&] {
      const target::Target target = codegen::HostTarget(1);
      const std::unique_ptr<Compiled> compiled = Compile(ImportOnnx(model), target);
      const PackageVariant variant = {target, compiled->programs};
      WritePackage(compiled->network, {&variant, 1}, folder / "lib", "net");
    });
  };
  constexpr int64_t kWidth = 4096;
  const auto model = static_cast<double>(4 * kWidth * kWidth);
  EXPECT_LE(static_cast<double>(peak(kWidth) - peak(16)), 2.2 * model);
}

}  // namespace
}  // namespace bayloom::graph
