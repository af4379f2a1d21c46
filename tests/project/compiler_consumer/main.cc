// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "bayloom/codegen.h"
#include "bayloom/graph.h"
#include "bayloom/report.h"
#include "bayloom/tensor.h"

using namespace bayloom;

// Compiles a product of 2 x 2 matrices and runs it.
int main() {
  const Program program = Lower(ParseOperator("matmul:2,2,2"));
  const Result<KernelObject> object = CompileProgram(program, HostTarget(1), "product");
  if (!object) return 1;
  const Result<LoadedKernel> kernel = LoadedKernel::Load(*object);
  if (!kernel) return 1;
  alignas(64) float a[16] = {1, 2, 3, 4};
  alignas(64) float b[16] = {1, 0, 0, 10};
  alignas(64) float c[16] = {};
  alignas(64) char workspace[4096];
  void* const parameters[] = {a, b, c};
  if (object->WorkspaceBytes(1) > static_cast<int64_t>(sizeof(workspace))) return 1;
  (*kernel)(parameters, workspace);
  std::printf("%s: %g %g %g %g\n", report::FormatFlops(16).c_str(), c[0], c[1], c[2], c[3]);
  const bool right = c[0] == 1 && c[1] == 20 && c[2] == 3 && c[3] == 40;
  return right && graph::CheckedElementCount({2, 3}) == 6 ? 0 : 1;
}
