#include <cstdio>

#include "bayloom/tensor/workload.h"

using namespace bayloom;

int main() {
  WorkloadBuilder builder("matmul");
  Tensor a = builder.Input("a", {16, 64});
  Tensor b = builder.Input("b", {64, 32});
  Tensor c =
      builder.Reduce("c", {16, 32}, {{"k", 64}}, Reduction::kSum,
                     [&](const auto& s, const auto& r) { return a(s[0], r[0]) * b(r[0], s[1]); });
  const Workload workload = builder.Build({c});
  std::printf("%.0f\n", workload.Flops());
  return workload.Flops() == 2.0 * 16 * 32 * 64 ? 0 : 1;
}
