// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/interpreter.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <stdexcept>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/flat_expr.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::tensor {
namespace {

/// A buffer's elements while the program runs, row-major, with a mark on each that is written.
struct Memory {
  std::vector<ScalarValue> values;
  std::vector<uint32_t> marks;
  uint32_t written = 1;  ///< the mark; raising it forgets all elements
};

/// A block made ready to be run many times.
struct FlatBlock {
  FlatBlock(const Block& block, const std::vector<Buffer>& buffers)
      : source(&block),
        dtype(buffers[block.output].dtype),
        output(buffers[block.output], block.output_index, static_cast<int>(block.iters.size())) {
    if (block.kind != BlockKind::kInit && block.kind != BlockKind::kCall) {
      value.emplace(block.value, buffers, static_cast<int>(block.iters.size()));
    }
    if (block.reduction != Reduction::kNone) {
      neutral = ScalarOf(NeutralElement(block.reduction, dtype));
    }
  }

  const Block* source;
  DType dtype;
  LinearIndex output;
  std::optional<FlatExpr> value;
  ScalarValue neutral = {.i = 0};
};

class ProgramInterpreter {
 public:
  ProgramInterpreter(const Program& program, bool strict)
      : program_(program),
        strict_(strict),
        memory_(program.buffers.size()),
        allocated_in_(program.loops.size()),
        digits_(program.digit_extents.size()) {
    size_t max_iters = 0;
    flat_blocks_.resize(program.blocks.size());
    for (size_t i = 0; i < program.blocks.size(); ++i) {
      const Block& block = program.blocks[i];
      if (!block.alive) continue;
      flat_blocks_[i].emplace(block, program.buffers);
      max_iters = std::max(max_iters, block.iters.size());
    }
    iters_.resize(max_iters);
    for (size_t b = 0; strict && b < program.buffers.size(); ++b) {
      if (program.buffers[b].role != BufferRole::kIntermediate) continue;
      const NodeRef scope = AllocationScope(program, static_cast<BufferId>(b));
      if (scope.is_loop()) allocated_in_[scope.id].push_back(static_cast<BufferId>(b));
    }
  }

  void Run(std::vector<HostTensor>& arguments) {
    const std::vector<BufferId> parameters = program_.Parameters();
    if (arguments.size() != parameters.size()) {
      throw std::invalid_argument("the program takes another number of arguments");
    }
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      const auto count = static_cast<size_t>(program_.buffers[b].ElementCount());
      memory_[b] = {std::vector<ScalarValue>(count), std::vector<uint32_t>(count)};
    }
    for (size_t p = 0; p < parameters.size(); ++p) ReadArgument(parameters[p], arguments[p]);
    RunBody(program_.roots);
    for (size_t p = 0; p < parameters.size(); ++p) WriteOutput(parameters[p], arguments[p]);
  }

 private:
  void ReadArgument(BufferId id, const HostTensor& argument) {
    const Buffer& buffer = program_.buffers[id];
    if (argument.dtype != buffer.dtype || argument.shape != buffer.CallerShape()) {
      throw std::invalid_argument("the argument for " + buffer.name + " has another type or shape");
    }
    if (buffer.role == BufferRole::kOutput) return;
    Memory& memory = memory_[id];
    const int size = ByteSize(buffer.dtype);
    std::vector<std::byte> transformed;
    if (buffer.transform) transformed = buffer.transform->Apply(buffer.dtype, argument.data.data());
    const std::byte* data = buffer.transform ? transformed.data() : argument.data.data();
    for (size_t i = 0; i < memory.values.size(); ++i) {
      memory.values[i] = LoadScalar(buffer.dtype, data + i * size);
    }
    memory.marks.assign(memory.values.size(), memory.written);
  }

  void WriteOutput(BufferId id, HostTensor& argument) const {
    const Buffer& buffer = program_.buffers[id];
    if (buffer.role != BufferRole::kOutput) return;
    const Memory& memory = memory_[id];
    const int size = ByteSize(buffer.dtype);
    for (size_t i = 0; i < memory.values.size(); ++i) {
      if (memory.marks[i] != memory.written && !buffer.bounds.empty()) continue;
      if (memory.marks[i] != memory.written) ThrowNeverWritten(id, static_cast<int64_t>(i));
      StoreScalar(buffer.dtype, argument.data.data() + i * size, memory.values[i]);
    }
  }

  ScalarValue Read(BufferId id, int64_t place) const {
    const Memory& memory = memory_[id];
    if (memory.marks[place] == memory.written) return memory.values[place];
    if (program_.SizeCount() == 0) ThrowNeverWritten(id, place);
    return PoisonOf(program_.buffers[id].dtype);
  }

  /// What lies beyond a bound: a value that nothing which is needed may depend on.
  static ScalarValue PoisonOf(DType dtype) {
    if (IsFloat(dtype)) return {.f = std::numeric_limits<double>::quiet_NaN()};
    return {.i = WrapTo(dtype, 0x5555555555555555)};
  }

  [[noreturn]] void ThrowNeverWritten(BufferId id, int64_t place) const {
    throw std::logic_error(
        fmt::format("element {} of {} was never written", place, program_.buffers[id].name));
  }

  void RunBody(const std::vector<NodeRef>& body) {
    for (NodeRef node : body) {
      if (node.is_loop()) {
        RunLoop(node.id);
      } else {
        const FlatBlock& flat = *flat_blocks_[node.id];
        flat.source->kind == BlockKind::kCall ? RunCall(*flat.source) : RunBlock(flat);
      }
    }
  }

  void RunLoop(LoopId id) {
    const Loop& loop = program_.loops[id];
    const bool backwards = strict_ && !RunsInOrder(loop.kind);
    const int64_t count = program_.ExtentOf(id);
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = backwards ? count - 1 - i : i;
      for (size_t d = loop.digits.size(); d-- > 0;) {  // the last digit is the fastest
        const int64_t extent = program_.digit_extents[loop.digits[d]];
        digits_[loop.digits[d]] = rest % extent;
        rest /= extent;
      }
      for (BufferId buffer : allocated_in_[id]) ++memory_[buffer].written;
      RunBody(loop.body);
    }
  }

  void RunCall(const Block& block) {
    const LibraryCall call = *AsCall(block.value);
    std::vector<HostTensor> operands;
    for (BufferId id : call.operands) operands.push_back(TensorOf(id));
    std::vector<const HostTensor*> pointers;
    for (const HostTensor& operand : operands) pointers.push_back(&operand);
    const Buffer& output = program_.buffers[block.output];
    const HostTensor result = Evaluate(call, pointers, output.shape);
    Memory& memory = memory_[block.output];
    for (size_t i = 0; i < memory.values.size(); ++i) {
      memory.values[i] = LoadScalar(output.dtype, &result.data[i * ByteSize(output.dtype)]);
    }
    memory.marks.assign(memory.values.size(), memory.written);
  }

  /// All elements of a buffer, which have to be written.
  HostTensor TensorOf(BufferId id) const {
    const Buffer& buffer = program_.buffers[id];
    HostTensor tensor = HostTensor::Zeros(buffer.dtype, buffer.shape);
    const Memory& memory = memory_[id];
    for (size_t i = 0; i < memory.values.size(); ++i) {
      if (memory.marks[i] != memory.written) ThrowNeverWritten(id, static_cast<int64_t>(i));
      StoreScalar(buffer.dtype, &tensor.data[i * ByteSize(buffer.dtype)], memory.values[i]);
    }
    return tensor;
  }

  void RunBlock(const FlatBlock& flat) {
    const Block& block = *flat.source;
    bool first = true;  // of the reduction
    bool exists = true;
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      int64_t value = block.bindings[i].constant;
      for (const Affine::Term& term : block.bindings[i].terms) {
        value += digits_[term.digit] * term.coefficient;
      }
      iters_[i] = value;
      first &= block.iters[i].kind == IterKind::kSpatial || value == 0;
      exists &= !block.guarded || value < block.iters[i].extent;
      const Bound bound = block.iters[i].bound;
      exists &= !bound.is_open() || block.iters[i].kind == IterKind::kReduction ||
                value * bound.step < memory_[bound.size].values[0].i + bound.beyond;
    }
    if (!exists) return;
    const int64_t place = flat.output.Place(iters_.data());
    Memory& memory = memory_[block.output];
    ScalarValue& element = memory.values[place];
    if (block.kind == BlockKind::kInit || (block.kind == BlockKind::kReduce && first)) {
      element = flat.neutral;
      memory.marks[place] = memory.written;
    }
    if (block.kind == BlockKind::kInit) return;
    const ScalarValue value = flat.value->Evaluate(
        iters_.data(), [this](BufferId id, int64_t at) -> ScalarValue { return Read(id, at); });
    if (block.kind == BlockKind::kPlain) {
      element = value;
      memory.marks[place] = memory.written;
      return;
    }
    if (memory.marks[place] != memory.written) ThrowNeverWritten(block.output, place);
    element = CombineScalars(block.reduction, flat.dtype, element, value);
  }

  const Program& program_;
  const bool strict_;
  std::vector<Memory> memory_;
  std::vector<std::vector<BufferId>> allocated_in_;  ///< per loop; only when strict
  std::vector<int64_t> digits_;
  std::vector<int64_t> iters_;
  std::vector<std::optional<FlatBlock>> flat_blocks_;
};

}  // namespace

void Interpret(const Program& program, std::vector<HostTensor>& arguments) {
  ProgramInterpreter(program, /*strict=*/false).Run(arguments);
}

void InterpretStrictly(const Program& program, std::vector<HostTensor>& arguments) {
  ProgramInterpreter(program, /*strict=*/true).Run(arguments);
}

}  // namespace bayloom::tensor
