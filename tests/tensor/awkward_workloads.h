// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tests/tensor/workloads.h"

namespace bayloom::testing {

/// Small workloads that schedule primitives find hard: indices that run backwards, jump, repeat,
/// lie on a diagonal or are only guarded, and stages with several readers.
inline std::vector<NamedWorkload> AwkwardCatalogue() {
  std::vector<NamedWorkload> all;
  using B = tensor::WorkloadBuilder;
  const auto one = [&](const std::string& name, std::vector<int64_t> shape, const auto& write) {
    all.push_back({name, OneInput(std::move(shape), write)});
  };
  const auto twice = [](tensor::Expr e) { return e * 2; };
  const auto plus = [](tensor::Expr a, tensor::Expr b) { return a + b; };
  const tensor::Expr zero = tensor::Literal(0, tensor::DType::kFloat32);

  one("backwards", {6, 12}, [&](B& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, twice);
    const tensor::Tensor z =
        b.Compute("z", {6, 12}, [&](const auto& i) { return y(i[0], 11 - i[1]); });
    return tensor::Zip(b, "w", z, y, plus);
  });
  one("diagonal", {8, 8}, [&](B& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, twice);
    const tensor::Tensor z =
        b.Compute("z", {8, 4}, [&](const auto& i) { return y(i[0], i[0]) * y(0, i[1]); });
    return tensor::ReduceAxes(b, "sum", z, {1}, tensor::Reduction::kSum, false);
  });
  one("three_stencils", {20, 9}, [&](B& b, tensor::Tensor x) {
    tensor::Tensor y = tensor::Map(b, "start", x, twice);
    for (int64_t n : {18, 16, 12}) {
      const int64_t step = n == 12 ? 2 : 1;
      y = b.Compute("blur", {n, 9}, [&](const auto& i) {
        return y(i[0], i[1]) + y(i[0] + step, i[1]) * y(i[0] + 2 * step, 8 - i[1]);
      });
    }
    return y;
  });
  one("strided_chain", {33, 4}, [&](B& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, twice);
    const tensor::Tensor z = b.Compute(
        "z", {16, 4}, [&](const auto& i) { return y(2 * i[0], i[1]) + y(2 * i[0] + 1, i[1]); });
    const tensor::Tensor w =
        b.Compute("w", {8, 4}, [&](const auto& i) { return z(2 * i[0], i[1]); });
    return tensor::ReduceAxes(b, "sum", w, {0}, tensor::Reduction::kMax, false);
  });
  one("upsampled", {6, 5}, [&](B& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, twice);
    const tensor::Tensor z =
        b.Compute("z", {12, 5}, [&](const auto& i) { return y(tensor::FloorDiv(i[0], 2), i[1]); });
    return tensor::Map(b, "w", z, twice);
  });
  one("joined", {4, 6}, [&](B& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, twice);
    const tensor::Tensor s = tensor::ReduceAxes(b, "s", x, {1}, tensor::Reduction::kSum, true);
    const tensor::Tensor z = b.Compute("z", {4, 13}, [&](const auto& i) {
      return tensor::Select(i[1] < 6, y(i[0], i[1]),
                            tensor::Select(i[1] < 7, s(i[0], 0), y(i[0], i[1] - 7)));
    });
    return tensor::Map(b, "w", z, twice);
  });
  one("padded_twice", {7, 5}, [&](B& b, tensor::Tensor x) {
    const auto pad = [&](const std::string& name, tensor::Tensor t, int64_t n) {
      return b.Compute(name, {n, 5}, [&](const auto& i) {
        return tensor::Select(0 < i[0] && i[0] < n - 1, t(i[0] - 1, i[1]), zero);
      });
    };
    const tensor::Tensor y = pad("outer", tensor::Map(b, "y", pad("inner", x, 9), twice), 11);
    return b.Reduce("sum", {9, 5}, {{"r", 3}}, tensor::Reduction::kSum,
                    [&](const auto& s, const auto& r) { return y(s[0] + r[0], s[1]); });
  });
  one("many_readers", {6, 8}, [&](B& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, twice);
    const tensor::Tensor rows =
        tensor::ReduceAxes(b, "rows", y, {1}, tensor::Reduction::kSum, false);
    const tensor::Tensor columns =
        tensor::ReduceAxes(b, "columns", y, {0}, tensor::Reduction::kMax, false);
    const tensor::Tensor z = b.Compute(
        "z", {6, 8}, [&](const auto& i) { return y(i[0], i[1]) * rows(i[0]) + columns(i[1]); });
    return tensor::Zip(b, "w", z, y, plus);
  });
  one("sums_of_sums", {4, 6, 5}, [&](B& b, tensor::Tensor x) {
    const tensor::Tensor inner =
        tensor::ReduceAxes(b, "inner", x, {2}, tensor::Reduction::kSum, false);
    const tensor::Tensor outer =
        tensor::ReduceAxes(b, "outer", inner, {1}, tensor::Reduction::kSum, false);
    return b.Compute("share", {4, 6}, [&](const auto& i) {
      return inner(i[0], i[1]) * outer(i[0]) + inner(3 - i[0], i[1]);
    });
  });
  one("to_a_scalar", {6, 10}, [&](B& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, twice);
    const tensor::Tensor all_of_it =
        tensor::ReduceAxes(b, "sum", y, {0, 1}, tensor::Reduction::kSum, false);
    const tensor::Tensor half = b.Compute("half", {}, [&](const auto&) { return all_of_it() / 2; });
    return b.Compute("z", {6, 10}, [&](const auto& i) { return y(i[0], i[1]) * half(); });
  });
  one("two_matmuls", {6, 8}, [&](B& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Matmul(b, "first", x, b.Constant("v", {8, 10}));
    const tensor::Tensor z = tensor::Map(b, "relu", y, tensor::Relu);
    return tensor::Matmul(b, "second", z, b.Constant("w", {10, 4}));
  });
  return all;
}

}  // namespace bayloom::testing
