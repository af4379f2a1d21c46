// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <string_view>

#include "bayloom/tensor/loop_names.h"
#include "bayloom/tensor/names.h"
#include "bayloom/tensor/print_expr.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tensor {
namespace {

// --- Buffers -----------------------------------------------------------------------------------

/// "rows in 1..512".
std::string PrintSize(const Buffer& size) {
  return fmt::format("{} in {}..{}", size.name, size.range.smallest, size.range.largest);
}

/// Where an axis ends: "512", of an open one "rows".
std::string PrintEnd(int64_t extent, Bound bound, std::span<const Buffer> buffers) {
  if (!bound.is_open()) return fmt::format("{}", extent);
  const std::string& size = buffers[bound.size].name;
  const std::string end = bound.beyond == 0 ? size : fmt::format("{}+{}", size, bound.beyond);
  return bound.step == 1 ? end : fmt::format("{}/{}", end, bound.step);
}

std::string PrintShape(const Buffer& buffer, std::span<const Buffer> buffers) {
  const std::string whole =
      buffer.slice_of.empty() ? "" : fmt::format(" of {}", fmt::join(buffer.slice_of, ", "));
  std::vector<std::string> shape;
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    shape.push_back(PrintEnd(buffer.shape[d], buffer.BoundOf(d), buffers));
  }
  return fmt::format("{}[{}{}]", ToString(buffer.dtype), fmt::join(shape, ", "), whole);
}

/// The physical order, e.g. " as [d1/16, d0, d1%16]".
std::string PrintLayout(const Buffer& buffer) {
  if (buffer.layout.empty()) return "";
  std::vector<std::string> axes;
  for (const LayoutAxis& axis : buffer.layout) {
    std::string text = fmt::format("d{}", axis.dimension);
    if (axis.stride != 1) text += fmt::format("/{}", axis.stride);
    if (axis.stride * axis.extent < buffer.shape[axis.dimension]) {
      text += fmt::format("%{}", axis.extent);
    }
    axes.push_back(std::move(text));
  }
  return fmt::format(" as [{}]", fmt::join(axes, ", "));
}

/// What it is made from, e.g. " from [3, 3, 64, 64]".
std::string PrintTransform(const Buffer& buffer) {
  if (!buffer.transform) return "";
  return fmt::format(" from [{}]", fmt::join(buffer.transform->source_shape, ", "));
}

/// "name(a: float32[4, 8], const w: float32[8, 8]) -> c: float32[4, 8]".
std::string PrintSignature(const std::string& name, std::span<const Buffer> buffers) {
  std::vector<std::string> inputs, outputs;
  for (const Buffer& buffer : buffers) {
    if (buffer.role == BufferRole::kSize) inputs.push_back(PrintSize(buffer));
    const std::string text = buffer.name + ": " + PrintShape(buffer, buffers) +
                             PrintTransform(buffer) + PrintLayout(buffer);
    if (buffer.role == BufferRole::kInput) inputs.push_back(text);
    if (buffer.role == BufferRole::kConstant) inputs.push_back("const " + text);
    if (buffer.role == BufferRole::kOutput) outputs.push_back(text);
  }
  return fmt::format("{}({}) -> {}", name, fmt::join(inputs, ", "), fmt::join(outputs, ", "));
}

// --- Statements --------------------------------------------------------------------------------

/// "c[i, j] = sum over k < 8: a[i, k] * b[k, j]".
std::string PrintEquation(const Stage& stage, const std::vector<Buffer>& buffers) {
  const ExprPrinter printer(stage.iters, buffers);
  std::vector<std::string> spatial, reduced;
  for (const Iter& iter : stage.iters) {
    if (iter.kind == IterKind::kSpatial) {
      spatial.push_back(iter.name);
    } else {
      reduced.push_back(
          fmt::format("{} < {}", iter.name, PrintEnd(iter.extent, iter.bound, buffers)));
    }
  }
  std::string text = fmt::format("{}[{}] = ", buffers[stage.output].name, fmt::join(spatial, ", "));
  if (stage.reduction != Reduction::kNone) {
    text += fmt::format("{} over {}: ", NameOf(stage.reduction), fmt::join(reduced, ", "));
  }
  return text + printer.Print(stage.value);
}

/// What a block does, in its own iterators.
std::string PrintStatement(const Block& block, const std::vector<Buffer>& buffers) {
  const ExprPrinter printer(block.iters, buffers);
  if (block.kind == BlockKind::kCall) {
    return fmt::format("{} = {}", printer.BufferName(block.output), printer.Print(block.value));
  }
  const std::string target =
      fmt::format("{}[{}]", printer.BufferName(block.output), printer.List(block.output_index));
  if (block.kind == BlockKind::kInit) {
    return fmt::format("{} = {}", target,
                       printer.Print(NeutralElement(block.reduction, buffers[block.output].dtype)));
  }
  const std::string value = printer.Print(block.value);
  if (block.kind == BlockKind::kPlain) return fmt::format("{} = {}", target, value);
  const std::string neutral =
      printer.Print(NeutralElement(block.reduction, buffers[block.output].dtype));
  const std::string start =
      block.kind == BlockKind::kReduce ? fmt::format("  # starts from {}", neutral) : "";
  switch (block.reduction) {
    case Reduction::kSum:
      return fmt::format("{} += {}{}", target, value, start);
    case Reduction::kProduct:
      return fmt::format("{} *= {}{}", target, value, start);
    default:
      return fmt::format("{0} = {1}({0}, {2}){3}", target, NameOf(block.reduction), value, start);
  }
}

// --- Names for digits --------------------------------------------------------------------------

/// Gives every digit the name of the iterator it is a piece of, numbered from the slowest piece
/// if there are several: h0, h1, h2. Names are unique within a nest of loops at the root.
class DigitNames {
 public:
  explicit DigitNames(const Program& program)
      : program_(program), names_(program.digit_extents.size()), mentioned_(names_.size()) {
    for (int size = 0; size < program.SizeCount(); ++size)
      names_[size] = program.buffers[size].name;
    for (NodeRef root : program.roots) NameNest(root);
  }

  bool IsMentioned(DigitId digit) const { return mentioned_[digit]; }

  std::string Of(const Loop& loop) const {
    std::vector<std::string> names;
    for (DigitId digit : loop.digits) names.push_back(names_[digit]);
    return fmt::format("{}", fmt::join(names, "."));
  }

  std::string Print(const Affine& affine) const {
    // Slowest first reads as a mixed-radix number.
    std::vector<Affine::Term> terms = affine.terms;
    std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
      return std::abs(a.coefficient) > std::abs(b.coefficient);
    });
    std::string text;
    for (const Affine::Term& term : terms) {
      const int64_t size = std::abs(term.coefficient);
      const std::string_view sign =
          term.coefficient < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
      text += sign;
      text += names_[term.digit];
      if (size != 1) text += fmt::format("*{}", size);
    }
    if (text.empty()) return fmt::format("{}", affine.constant);
    if (affine.constant > 0) text += fmt::format(" + {}", affine.constant);
    if (affine.constant < 0) text += fmt::format(" - {}", -affine.constant);
    return text;
  }

 private:
  void NameNest(NodeRef root) {
    std::vector<BlockId> blocks = program_.BlocksBelow(root);
    // The reduction is what a nest is about: its iterators name the loops it shares.
    std::stable_partition(blocks.begin(), blocks.end(), [&](BlockId id) {
      const BlockKind kind = program_.blocks[id].kind;
      return kind == BlockKind::kReduce || kind == BlockKind::kUpdate;
    });
    std::set<std::string> taken;
    for (BlockId id : blocks) NameBlock(program_.blocks[id], taken);
    NameRest(root, taken);
  }

  void NameBlock(const Block& block, std::set<std::string>& taken) {
    for (size_t i = 0; i < block.iters.size(); ++i) {
      std::vector<Affine::Term> pieces;
      for (const Affine::Term& term : block.bindings[i].terms) {
        if (names_[term.digit].empty()) pieces.push_back(term);
      }
      if (pieces.empty()) continue;
      std::stable_sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
        return std::abs(a.coefficient) > std::abs(b.coefficient);
      });
      std::string base = block.iters[i].name;
      if (!taken.insert(base).second) {
        base = block.name + "_" + base;
        taken.insert(base);
      }
      for (size_t k = 0; k < pieces.size(); ++k) {
        mentioned_[pieces[k].digit] = true;
        names_[pieces[k].digit] = pieces.size() == 1 ? base : fmt::format("{}{}", base, k);
      }
    }
  }

  /// Digits that no block uses (of extent 1, or in loops that only repeat).
  void NameRest(NodeRef node, std::set<std::string>& taken) {
    if (!node.is_loop()) return;
    for (DigitId digit : program_.loops[node.id].digits) {
      if (!names_[digit].empty()) continue;
      std::string name = "u";
      for (int k = 2; !taken.insert(name).second; ++k) name = fmt::format("u_{}", k);
      names_[digit] = std::move(name);
    }
    for (NodeRef child : program_.BodyOf(node)) NameRest(child, taken);
  }

  const Program& program_;
  std::vector<std::string> names_;
  std::vector<bool> mentioned_;  ///< by a binding
};

// --- Programs ----------------------------------------------------------------------------------

class ProgramPrinter {
 public:
  explicit ProgramPrinter(const Program& program) : program_(program), names_(program) {}

  std::string Print() {
    text_ = "program " + PrintSignature(program_.name, program_.buffers) + "\n";
    for (const Buffer& buffer : program_.buffers) {
      if (buffer.role != BufferRole::kIntermediate || !IsUsed(buffer)) continue;
      text_ += fmt::format("  {} {}: {}{}\n", NameOf(buffer.scope), buffer.name,
                           PrintShape(buffer, program_.buffers), PrintLayout(buffer));
    }
    for (NodeRef root : program_.roots) PrintNode(root, 0);
    return std::move(text_);
  }

 private:
  bool IsUsed(const Buffer& buffer) const {
    return program_.WriterOf(static_cast<BufferId>(&buffer - program_.buffers.data())) >= 0;
  }

  /// A loop of one iteration that no index mentions, as splitting by a factor of 1 leaves behind.
  bool SaysNothing(const Loop& loop) const {
    return loop.kind == LoopKind::kSerial && loop.unroll_max_step == 0 &&
           std::all_of(loop.digits.begin(), loop.digits.end(), [&](DigitId digit) {
             return program_.digit_extents[digit] == 1 && !names_.IsMentioned(digit);
           });
  }

  void Line(int depth, std::string_view line) {
    text_.append(2 * static_cast<size_t>(depth), ' ').append(line).append("\n");
  }

  void PrintNode(NodeRef node, int depth) {
    if (node.is_block()) return PrintBlock(program_.blocks[node.id], depth);
    const Loop& loop = program_.loops[node.id];
    if (SaysNothing(loop)) {
      for (NodeRef child : loop.body) PrintNode(child, depth);
      return;
    }
    std::string line = fmt::format("for {} in 0..{}:", names_.Of(loop), program_.ExtentOf(node.id));
    if (loop.kind != LoopKind::kSerial) line = fmt::format("{} {}", NameOf(loop.kind), line);
    if (loop.unroll_max_step > 0) line += fmt::format("  # unroll up to {}", loop.unroll_max_step);
    if (loop.threads > 0) line += fmt::format("  # by {} threads", loop.threads);
    Line(depth, line);
    for (NodeRef child : loop.body) PrintNode(child, depth + 1);
  }

  void PrintBlock(const Block& block, int depth) {
    std::string bound;
    for (size_t i = 0; i < block.iters.size(); ++i) {
      const std::string value = names_.Print(block.bindings[i]);
      if (value == block.iters[i].name) continue;
      bound += fmt::format("{}{} = {}", bound.empty() ? "with " : ", ", block.iters[i].name, value);
    }
    if (!bound.empty()) Line(depth, bound + ":");
    std::string statement = PrintStatement(block, program_.buffers);
    if (block.guarded) statement += "  # where the iterators are within their extents";
    for (const auto& [key, value] : block.annotations) {
      statement += fmt::format("  @{}={}", key, value);
    }
    Line(depth + !bound.empty(), statement);
  }

  const Program& program_;
  DigitNames names_;
  std::string text_;
};

}  // namespace

std::string Print(const Workload& workload) {
  std::string text = "workload " + PrintSignature(workload.name, workload.buffers) + "\n";
  for (const Stage& stage : workload.stages) {
    const Buffer& output = workload.buffers[stage.output];
    text += "  " + PrintEquation(stage, workload.buffers);
    if (output.role == BufferRole::kIntermediate)
      text += "  # " + PrintShape(output, workload.buffers);
    text += "\n";
  }
  return text;
}

std::string Print(const Program& program) { return ProgramPrinter(program).Print(); }

std::vector<std::string> LoopNames(const Program& program) {
  const DigitNames digits(program);
  std::vector<std::string> names;
  for (const Loop& loop : program.loops) names.push_back(digits.Of(loop));
  return names;
}

}  // namespace bayloom::tensor
