// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {
namespace {

int64_t WantedJobs(const tensor::Program& program) {
  for (const tensor::Block& block : program.blocks) {
    if (!block.alive) continue;
    const auto it = block.annotations.find(kParallelJobs);
    if (it != block.annotations.end()) return it->second;
  }
  return 1;
}

/// Fuses loops from the outside until their product reaches `jobs`, including the loop that
/// crosses the limit.
void ParallelizeNest(tensor::Program& program, tensor::LoopId outermost, int64_t jobs) {
  std::vector<tensor::LoopId> chain;
  int64_t product = 1;
  for (tensor::LoopId loop = outermost; product < jobs;) {
    if (program.loops[loop].kind != tensor::LoopKind::kSerial ||
        !tensor::CheckParallel(program, loop, tensor::ParallelStores::kMayRepeat))
      break;
    chain.push_back(loop);
    product *= program.ExtentOf(loop);
    const std::vector<tensor::NodeRef>& body = program.loops[loop].body;
    if (body.size() != 1 || !body[0].is_loop()) break;
    loop = body[0].id;
  }
  if (chain.empty()) return;
  tensor::LoopId parallel = chain.front();
  if (chain.size() > 1) {
    Result<tensor::LoopId> fused = tensor::Fuse(program, chain);
    if (fused) parallel = *fused;
  }
  (void)tensor::Parallelize(program, parallel);
}

}  // namespace

void ParallelizeOuterLoops(tensor::Program& program) {
  const int64_t jobs = WantedJobs(program);
  if (jobs <= 1) return;
  const std::vector<tensor::NodeRef> nests = program.roots;
  for (tensor::NodeRef nest : nests) {
    if (nest.is_loop()) ParallelizeNest(program, nest.id, jobs);
  }
}

}  // namespace bayloom::sketch
