// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/program_features.h"

#include <algorithm>
#include <cmath>

#include "bayloom/feature/block_nest.h"
#include "bayloom/feature/op_counts.h"
#include "bayloom/feature/touched_memory.h"
#include "bayloom/plan/gpu/gpu_plan.h"
#include "bayloom/target/gpu_machine.h"

namespace bayloom::feature {
namespace {

constexpr double kCacheLineBytes = 64;

float SLog(double x) { return x == 0 ? 0.0f : std::log2(static_cast<float>(std::abs(x)) + 1); }

/// True for blocks whose store is left out: literals.
bool StoresLiteral(const tensor::Block& block) {
  return block.kind == tensor::BlockKind::kInit || block.value->op == tensor::ExprOp::kInt ||
         block.value->op == tensor::ExprOp::kFloat;
}

/// When data of a touch is used again, and what lies in between.
struct Reuse {
  BufferFeature kind = BufferFeature::kNoReuse;
  double iterations = 0;
  double bytes = 0;
  double count = 0;
};

class FeatureExtractor {
 public:
  explicit FeatureExtractor(const tensor::Program& program)
      : program_(program),
        plan_(program),
        analysis_(program, plan_),
        history_(program.digit_extents.size() * program.buffers.size()),
        bytes_under_(program.digit_extents.size(), 0) {}

  FeatureMatrix Run() {
    FeatureMatrix features;
    const std::vector<tensor::BlockId> blocks = program_.BlocksInOrder();
    features.values.reserve(blocks.size() * kFeatureColumns);
    for (tensor::BlockId block : blocks) {
      if (StoresLiteral(program_.blocks[block])) continue;
      features.values.resize(features.values.size() + kFeatureColumns, 0.0f);
      row_ = features.values.data() + static_cast<size_t>(features.rows) * kFeatureColumns;
      ++features.rows;
      FillRow(block);
    }
    return features;
  }

 private:
  /// What earlier stores below an axis touched of a buffer.
  struct History {
    int touches = 0;
    double min_elements = 0;
  };
  History& HistoryOf(tensor::DigitId axis, tensor::BufferId buffer) {
    return history_[axis * program_.buffers.size() + buffer];
  }

  void FillRow(tensor::BlockId id) {
    const tensor::Block& block = program_.blocks[id];
    nest_.Assign(program_, id);
    const OpCounts ops = CountOps(block);
    for (int op = 0; op < kOpClasses; ++op) {
      row_[kOpCountColumn + op] = SLog(ops[op] * nest_.iterations);
    }
    FillAnnotations(block);
    const std::vector<BufferTouch>& touches = analysis_.Analyze(id, nest_);
    SumBytes(touches);
    Remember(touches);
    FillBuffers(touches);
    FillIntensity(FloatOps(ops));
    FillAllocation(block.output);
    row_[kIterationsColumn] = SLog(nest_.iterations);
    row_[kLoopCountColumn] = SLog(static_cast<double>(nest_.loops.size()));
    row_[kAutoUnrollColumn] = SLog(static_cast<double>(nest_.auto_unroll));
  }

  // --- Group 1: annotated loops --------------------------------------------------------------

  void FillAnnotations(const tensor::Block& block) {
    ClassifyLoops(block);
    FillAnnotated(kVectorizedColumn, tensor::LoopKind::kVectorized);
    FillAnnotated(kUnrolledColumn, tensor::LoopKind::kUnrolled);
    FillAnnotated(kParallelColumn, tensor::LoopKind::kParallel);
    constexpr tensor::LoopKind kBound[] = {
        tensor::LoopKind::kBlockX,       tensor::LoopKind::kBlockY,  tensor::LoopKind::kBlockZ,
        tensor::LoopKind::kThreadX,      tensor::LoopKind::kThreadY, tensor::LoopKind::kThreadZ,
        tensor::LoopKind::kVirtualThread};
    float* column = row_ + kAcceleratorColumn;
    for (tensor::LoopKind kind : kBound) {
      double extent = 1;
      for (auto loop = nest_.loops.rbegin(); loop != nest_.loops.rend(); ++loop) {
        if (program_.loops[*loop].kind != kind) continue;
        extent = static_cast<double>(program_.ExtentOf(*loop));
        row_[kAcceleratorColumn] = 1;
      }
      *++column = SLog(extent);
    }
    FillSharedLoops();
  }

  /// What becomes of loops that threads share: a grid's are blocks and their threads, those that
  /// share a reduction are another dimension of them.
  void FillSharedLoops() {
    float* const bound = row_ + kAcceleratorColumn;
    constexpr int kBlocks = 1, kThreads = 4, kReducing = 5;
    for (const tensor::LoopId loop : nest_.loops) {
      const tensor::LoopKind kind = program_.loops[loop].kind;
      const auto extent = static_cast<double>(program_.ExtentOf(loop));
      if (kind == tensor::LoopKind::kGridThread) {
        const double threads = plan::GridThreads(program_, loop);
        bound[0] = 1;
        bound[kBlocks] = SLog(std::ceil(extent / threads));
        bound[kThreads] = SLog(std::min(extent, threads));
      } else if (kind == tensor::LoopKind::kThreadReduce) {
        bound[0] = 1;
        bound[kReducing] = SLog(plan::ReducingThreads(program_, loop));
      }
    }
  }

  /// Which loops drive the block's reduction, and how many of either kind there are.
  void ClassifyLoops(const tensor::Block& block) {
    reduces_.clear();
    spatial_loops_ = reduction_loops_ = 0;
    for (tensor::LoopId loop : nest_.loops) {
      const bool reduces = DrivesReduction(block, program_.loops[loop]);
      reduces_.push_back(reduces);
      ++(reduces ? reduction_loops_ : spatial_loops_);
    }
  }

  static bool DrivesReduction(const tensor::Block& block, const tensor::Loop& loop) {
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
      for (const tensor::Affine::Term& term : block.bindings[i].terms) {
        if (std::find(loop.digits.begin(), loop.digits.end(), term.digit) != loop.digits.end()) {
          return true;
        }
      }
    }
    return false;
  }

  void FillAnnotated(int column, tensor::LoopKind kind) {
    int count = 0, spatial = 0, reduction = 0;  // loops of either kind so far
    double product = 1, innermost = 0;
    LoopPosition position = LoopPosition::kNone;
    for (size_t i = 0; i < nest_.loops.size(); ++i) {
      ++(reduces_[i] ? reduction : spatial);
      if (!Counts(program_.loops[nest_.loops[i]].kind, kind)) continue;
      innermost = static_cast<double>(program_.ExtentOf(nest_.loops[i]));
      product *= innermost;
      position = ++count > 1 ? LoopPosition::kMixed
                 : reduces_[i]
                     ? PositionAmong(reduction, reduction_loops_, LoopPosition::kInnerReduction)
                     : PositionAmong(spatial, spatial_loops_, LoopPosition::kInnerSpatial);
    }
    if (count > 0) {
      row_[column + kAnnotatedCount] = SLog(count);
      row_[column + kAnnotatedProduct] = SLog(product);
      row_[column + kAnnotatedInnermost] = SLog(innermost);
    }
    row_[column + kAnnotatedPosition + static_cast<int>(position)] = 1;
  }

  /// What an instruction sums up at once is carried out at once, as lanes are.
  static bool Counts(tensor::LoopKind kind, tensor::LoopKind annotation) {
    return kind == annotation ||
           (kind == tensor::LoopKind::kTensorized && annotation == tensor::LoopKind::kVectorized);
  }

  /// The ordinal-th of `count` loops from outside; `inner` and its successors name the answer.
  static LoopPosition PositionAmong(int ordinal, int count, LoopPosition inner) {
    const int offset = ordinal == count ? 0 : ordinal == 1 ? 2 : 1;
    return static_cast<LoopPosition>(static_cast<int>(inner) + offset);
  }

  // --- Group 2: touched buffers --------------------------------------------------------------

  /// region_bytes_[p]: bytes of all buffers touched while the p innermost axes run.
  void SumBytes(const std::vector<BufferTouch>& touches) {
    region_bytes_.assign(nest_.axes.size() + 1, 0);
    for (const BufferTouch& touch : touches) {
      for (size_t p = 0; p < region_bytes_.size(); ++p) {
        region_bytes_[p] += touch.element_bytes * touch.elements[p];
      }
    }
  }

  void Remember(const std::vector<BufferTouch>& touches) {
    const size_t depth = nest_.axes.size();
    for (size_t axis = 0; axis < depth; ++axis) {
      bytes_under_[nest_.axes[axis]] += region_bytes_[depth - axis];
      for (const BufferTouch& touch : touches) {
        History& history = HistoryOf(nest_.axes[axis], touch.buffer);
        const double elements = touch.elements[depth - axis];
        history.min_elements =
            history.touches == 0 ? elements : std::min(history.min_elements, elements);
        ++history.touches;
      }
    }
  }

  struct TouchSummary {
    const BufferTouch* touch;
    double bytes, lines, stride;
  };

  /// Cache lines by the innermost axis that moves the access: the axes inside it stay on the
  /// same line, its own steps reach a new line every 64 bytes.
  TouchSummary Summarize(const BufferTouch& touch) const {
    TouchSummary summary{&touch, touch.element_bytes * nest_.iterations, 1, 0};
    double inside = 1;
    for (size_t axis = nest_.axes.size(); axis-- > 0;) {
      const double stride = touch.strides[axis];
      if (stride <= 0) {
        inside *= static_cast<double>(nest_.extents[axis]);
        continue;
      }
      if (axis + 1 == nest_.axes.size()) summary.stride = stride;
      const double new_lines = std::min(1.0, stride * touch.element_bytes / kCacheLineBytes);
      summary.lines = std::max(1.0, nest_.iterations / inside * new_lines);
      break;
    }
    return summary;
  }

  Reuse FindReuse(const BufferTouch& touch) {
    const size_t depth = nest_.axes.size();
    double inside = 1;
    for (size_t axis = depth; axis-- > 0;) {
      const auto extent = static_cast<double>(nest_.extents[axis]);
      if (touch.strides[axis] == BufferTouch::kUnmoved) {
        return {BufferFeature::kLoopReuse, inside, region_bytes_[depth - axis - 1], extent};
      }
      const History& history = HistoryOf(nest_.axes[axis], touch.buffer);
      if (history.touches > 1) {
        return {BufferFeature::kSerialReuse, history.min_elements / extent,
                bytes_under_[nest_.axes[axis]] / extent, history.touches - 1.0};
      }
      inside *= extent;
    }
    return {};
  }

  void FillBuffers(const std::vector<BufferTouch>& touches) {
    summaries_.clear();
    for (const BufferTouch& touch : touches) summaries_.push_back(Summarize(touch));
    std::stable_sort(summaries_.begin(), summaries_.end(),
                     [](const TouchSummary& a, const TouchSummary& b) {
                       return a.lines != b.lines ? a.lines > b.lines : a.bytes > b.bytes;
                     });
    const int described = std::min(kDescribedBuffers, static_cast<int>(summaries_.size()));
    for (int i = 0; i < described; ++i) {
      FillBuffer(summaries_[i], row_ + BufferColumnOf(i, BufferFeature::kRead));
    }
  }

  void FillBuffer(const TouchSummary& summary, float* out) {
    const auto set = [out](BufferFeature feature, double value) {
      out[static_cast<int>(feature)] = SLog(value);
    };
    const BufferTouch& touch = *summary.touch;
    const Reuse reuse = FindReuse(touch);
    const BufferFeature kind = touch.read && touch.write ? BufferFeature::kReadWrite
                               : touch.write             ? BufferFeature::kWrite
                                                         : BufferFeature::kRead;
    const bool looped = !nest_.axes.empty();
    const double unique_bytes = looped ? touch.UniqueBytes() : 1;
    const double unique_lines =
        std::max(1.0, unique_bytes / std::min(kCacheLineBytes, touch.run_bytes));
    const double per = reuse.count > 0 ? 1 / reuse.count : 2;
    out[static_cast<int>(kind)] = 1;
    out[static_cast<int>(reuse.kind)] = 1;
    set(BufferFeature::kBytes, summary.bytes);
    set(BufferFeature::kUniqueBytes, unique_bytes);
    set(BufferFeature::kLines, summary.lines);
    set(BufferFeature::kUniqueLines, unique_lines);
    set(BufferFeature::kReuseIterations, reuse.iterations);
    set(BufferFeature::kReuseBytes, reuse.bytes);
    set(BufferFeature::kReuseCount, reuse.count);
    set(BufferFeature::kBytesPerReuse, summary.bytes * per);
    set(BufferFeature::kUniqueBytesPerReuse, unique_bytes * per);
    set(BufferFeature::kLinesPerReuse, summary.lines * per);
    set(BufferFeature::kUniqueLinesPerReuse, unique_lines * per);
    set(BufferFeature::kStride, summary.stride);
  }

  // --- Group 3: arithmetic intensity -----------------------------------------------------------

  /// slog(operations / bytes) of the p innermost axes, sampled over the share of all operations
  /// they hold, linearly between neighbouring p.
  void FillIntensity(double ops_per_iteration) {
    if (ops_per_iteration == 0) return;
    const double total = ops_per_iteration * nest_.iterations;
    const size_t depth = nest_.axes.size();
    double previous_ops = 0, ops = ops_per_iteration;
    float previous = 0, intensity = SLog(ops / region_bytes_[0]);
    size_t p = 0;
    for (int sample = 1; sample <= kIntensitySamples; ++sample) {
      const double wanted = total * sample / kIntensitySamples;
      while (ops < wanted && p < depth) {
        ++p;
        previous_ops = ops;
        previous = intensity;
        ops *= static_cast<double>(nest_.extents[depth - p]);
        intensity = SLog(ops / region_bytes_[p]);
      }
      const float share =
          p == 0 ? 1.0f : static_cast<float>((wanted - previous_ops) / (ops - previous_ops));
      row_[kIntensityColumn + sample - 1] =
          previous + std::min(share, 1.0f) * (intensity - previous);
    }
  }

  // --- Group 4: allocation ---------------------------------------------------------------------

  void FillAllocation(tensor::BufferId buffer) {
    const BufferPlaces::Place& place = plan_.Of(buffer);
    double outside = 1;
    if (place.allocation) {
      for (tensor::NodeRef node = place.allocation->scope; node.is_loop();
           node = program_.loops[node.id].parent) {
        outside *= static_cast<double>(program_.ExtentOf(node.id));
      }
    }
    const auto elements = static_cast<double>(place.elements);
    float* column = row_ + kAllocationColumn;
    column[0] = SLog(elements * tensor::ByteSize(program_.buffers[buffer].dtype));
    column[1] = SLog(elements * outside);
    column[2] = SLog(outside);
    column[3] = SLog(nest_.iterations / outside);
  }

  const tensor::Program& program_;
  const BufferPlaces plan_;
  TouchAnalysis analysis_;
  std::vector<History> history_;     ///< [axis][buffer]
  std::vector<double> bytes_under_;  ///< [axis]: bytes touched below by the stores so far
  // The row being filled.
  float* row_ = nullptr;
  BlockNest nest_;
  std::vector<bool> reduces_;
  int spatial_loops_ = 0;
  int reduction_loops_ = 0;
  std::vector<double> region_bytes_;
  std::vector<TouchSummary> summaries_;
};

}  // namespace

FeatureMatrix ExtractFeatures(const tensor::Program& program) {
  return FeatureExtractor(program).Run();
}

}  // namespace bayloom::feature
