#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom {
namespace {

int64_t WantedJobs(const Program& program) {
  for (const Block& block : program.blocks) {
    if (!block.alive) continue;
    const auto it = block.annotations.find(kParallelJobs);
    if (it != block.annotations.end()) return it->second;
  }
  return 1;
}

/// Fuses loops from the outside until their product reaches `jobs`, including the loop that
/// crosses the limit.
void ParallelizeNest(Program& program, LoopId outermost, int64_t jobs) {
  std::vector<LoopId> chain;
  int64_t product = 1;
  for (LoopId loop = outermost; product < jobs;) {
    if (program.loops[loop].kind != LoopKind::kSerial || !CheckParallel(program, loop)) break;
    chain.push_back(loop);
    product *= program.ExtentOf(loop);
    const std::vector<NodeRef>& body = program.loops[loop].body;
    if (body.size() != 1 || !body[0].is_loop()) break;
    loop = body[0].id;
  }
  if (chain.empty()) return;
  LoopId parallel = chain.front();
  if (chain.size() > 1) {
    Result<LoopId> fused = Fuse(program, chain);
    if (fused) parallel = *fused;
  }
  (void)Parallelize(program, parallel);
}

}  // namespace

void ParallelizeOuterLoops(Program& program) {
  const int64_t jobs = WantedJobs(program);
  if (jobs <= 1) return;
  const std::vector<NodeRef> nests = program.roots;
  for (NodeRef nest : nests) {
    if (nest.is_loop()) ParallelizeNest(program, nest.id, jobs);
  }
}

}  // namespace bayloom
