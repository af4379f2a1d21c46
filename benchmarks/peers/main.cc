// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Rates of the libraries Bayloom is compared with, on this machine.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "bayloom/base/random.h"
#include "benchmarks/alternate.h"
#include "benchmarks/peers/convolution.h"
#include "benchmarks/peers/matmul.h"
#include "benchmarks/shapes.h"

namespace bayloom {
namespace {

std::vector<float> RandomValues(int64_t count, base::RandomStream& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

void PrintRow(const std::string& name, int threads, double flops, const RunTime& time,
              const std::string& implementation) {
  fmt::print("{:<18}{:>3}{:>12.1f}{:>10.1f}{:>10.1f}  {}\n", name, threads, time.median * 1e6,
             time.iqr * 1e6, flops / time.median * 1e-9, implementation);
}

void TimeConvolutions(const std::vector<ConvolutionLayer>& shapes, int threads) {
  base::RandomStream random(1);
  for (const ConvolutionLayer& shape : shapes) {
    PeerConvolution peer(shape, RandomValues(shape.InputCount(), random),
                         RandomValues(shape.WeightCount(), random), RandomValues(shape.out, random),
                         threads);
    const RunTime time = Alternate({[&] { peer.Run(); }}).front();
    PrintRow(shape.name, threads, shape.Flops(), time, "oneDNN " + peer.Implementation());
  }
}

void TimeMatmul(int64_t size, int threads) {
  base::RandomStream random(1);
  const std::vector<float> a = RandomValues(size * size, random);
  const std::vector<float> b = RandomValues(size * size, random);
  std::vector<float> c(size * size);
  PeerMatmul peer(size, size, size, a, b, c, threads);
  const RunTime time = Alternate({[&] { peer.Run(); }}).front();
  const double flops = 2.0 * static_cast<double>(size * size * size);
  PrintRow(fmt::format("matmul.{}", size), threads, flops, time,
           "OpenBLAS " + PeerMatmul::Implementation());
}

void TimeAll(int threads) {
  for (int64_t size : {512, 1024}) TimeMatmul(size, threads);
  TimeConvolutions(ResNet50Convolutions(), threads);
  TimeConvolutions(MobileNetDepthwiseConvolutions(), threads);
  TimeConvolutions(MobileNetPointwiseConvolutions(), threads);
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::PeerMatmul::UseBestKernels(argv);
  CLI::App app("Times OpenBLAS and oneDNN on the operators of bayloom-quality.", "bayloom-peers");
  std::vector<int> threads = {1, 2};
  app.add_option("--threads", threads, "Numbers of threads to measure with")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  fmt::print("{:<18}{:>3}{:>12}{:>10}{:>10}\n", "operator", "thr", "median us", "IQR us",
             "GFLOP/s");
  for (int count : threads) bayloom::TimeAll(count);
  return 0;
}
