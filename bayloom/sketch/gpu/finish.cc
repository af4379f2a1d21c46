// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/gpu/gpu_rules.h"
#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {
namespace {

Status AnnotateUniformly(tensor::Schedule& schedule, tensor::BlockVar block, const char* key,
                         const std::vector<int64_t>& choices) {
  const std::vector<double> uniform(choices.size(), 1.0 / static_cast<double>(choices.size()));
  Result<tensor::ValueVar> choice = schedule.SampleCategorical(choices, uniform);
  if (!choice) return choice.error();
  return schedule.Annotate(block, key, *choice);
}

/// The loops of a stage, one for each of its iterators, become one that all threads share.
void Cooperate(tensor::Program& program, tensor::BlockId id, int64_t width) {
  std::vector<tensor::LoopId> own = program.LoopsAround(tensor::NodeRef::Block(id));
  own.erase(own.begin(), own.end() - static_cast<int64_t>(program.blocks[id].iters.size()));
  if (own.empty()) return;
  tensor::LoopId loop = own.front();
  if (own.size() > 1) {
    Result<tensor::LoopId> fused = tensor::Fuse(program, own);
    if (!fused) return;
    loop = *fused;
  }
  if (width > 1) {
    const auto parts = tensor::Split(program, loop, std::vector<int64_t>{-1, width});
    if (parts) {
      loop = parts->front();
      (void)tensor::Vectorize(program, parts->back());
    }
  }
  (void)tensor::Bind(program, loop, tensor::LoopKind::kCooperative);
}

/// The outermost loops whose iterations are independent, as one.
void DealToGrid(tensor::Program& program, tensor::LoopId outermost, int64_t threads) {
  std::vector<tensor::LoopId> chain;
  for (tensor::NodeRef at = tensor::NodeRef::Loop(outermost); at.is_loop();) {
    const tensor::Loop& loop = program.loops[at.id];
    if (loop.kind != tensor::LoopKind::kSerial || !tensor::CheckParallel(program, at.id)) break;
    chain.push_back(at.id);
    if (loop.body.size() != 1) break;
    at = loop.body[0];
  }
  if (chain.empty()) return;
  tensor::LoopId all = chain.front();
  if (chain.size() > 1) {
    Result<tensor::LoopId> fused = tensor::Fuse(program, chain);
    if (!fused) return;
    all = *fused;
  }
  (void)tensor::Bind(program, all, tensor::LoopKind::kGridThread, threads);
}

}  // namespace

Status ChooseGridThreads(GpuSketch& sketch) {
  tensor::Schedule& schedule = sketch.schedule;
  const tensor::Program& program = schedule.program();
  Result<tensor::BlockVar> last =
      schedule.GetBlock(program.blocks[program.BlocksInOrder().back()].name);
  if (!last) return last.error();
  if (Status s = AnnotateUniformly(schedule, *last, kGridThreads, {32, 64, 128, 256, 512, 1024});
      !s) {
    return s;
  }
  return AnnotateUniformly(schedule, *last, kUnrollMaxStep, {0, 64, 256, 1024});
}

void PostprocessForGpu(tensor::Program& program) {
  int64_t threads = 0;
  for (tensor::BlockId id : program.BlocksInOrder()) {
    const std::map<std::string, int64_t>& hints = program.blocks[id].annotations;
    if (const auto width = hints.find(kCopyVector); width != hints.end()) {
      Cooperate(program, id, width->second);
    }
    if (const auto hint = hints.find(kGridThreads); hint != hints.end()) threads = hint->second;
  }
  const std::vector<tensor::NodeRef> roots = program.roots;
  for (tensor::NodeRef root : roots) {
    if (root.is_loop()) DealToGrid(program, root.id, threads);
  }
  DecomposeReductions(program);
  AnnotateUnrolling(program);
}

}  // namespace bayloom::sketch
