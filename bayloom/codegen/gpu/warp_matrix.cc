// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/kernel_emitter.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {
namespace {

// A thread's number in its warp, of 5 bits, names a row of a matrix of 8 and one of up to 4
// matrices.
constexpr int kRowBits = 3, kMatrixLineBytes = 16;
constexpr int kMatrixBit = 3, kLaterMatrixBit = 4;
// Where threads load elements themselves, its lower bits name one of 4 columns, the others one of 8
// rows.
constexpr int kElementBits = 2;

}  // namespace

void KernelEmitter::EmitWarpProduct(const plan::WarpProduct& product) {
  const std::vector<llvm::Value*> rows = LoadRows(product), columns = LoadColumns(product);
  const tensor::Block& block = program_.blocks[product.block];
  const plan::PlacedAccess& store = plan_.accesses.at(product.block).store;
  std::vector<IndexValue> places;
  std::vector<llvm::Value*> sums;
  loops_.Repeat(product.row_part, target::MmaInstruction::kRowParts, [&] {
    loops_.Repeat(product.column_part, target::MmaInstruction::kColumnParts, [&] {
      places.push_back(digits_.Evaluate(store.affine));
      sums.push_back(OldValue(state_, block, store));
    });
  });
  sums = machine_.Multiply(builder_, *product.instruction, rows, columns, sums);
  for (size_t i = 0; i < sums.size(); ++i) {
    memory_.Store(block.output, places[i], state_.chunk, sums[i]);
  }
}

/// Matrices of 8 rows: the first and the other rows, then the same for the other half of the depth.
std::vector<llvm::Value*> KernelEmitter::LoadRows(const plan::WarpProduct& product) {
  if (product.rows.form == plan::WarpFactor::Form::kElements) return LoadRowElements(product);
  const Digits before = digits_;
  const int64_t line = LineElements(product.rows);
  digits_[product.row_part] = Lane(kMatrixBit, 1);
  if (product.rows.form == plan::WarpFactor::Form::kTransposed) {
    llvm::Value* row = Lane(0, kRowBits).base;
    llvm::Value* half = Lane(kLaterMatrixBit, 1).base;
    if (row_and_half_ == nullptr) {
      row_and_half_ = addresses_.AtEntry([&] {
        return builder_.CreateAdd(
            row, builder_.CreateMul(half, builder_.getInt64(static_cast<uint64_t>(line))));
      });
      addresses_.DefineAtEntry(row_and_half_);
    }
    digits_[product.lane_row] = DigitValue::Constant(0);
    digits_[product.depth] = DigitValue::Running(row_and_half_, product.instruction->depth);
  } else {
    digits_[product.lane_row] = Lane(0, kRowBits);
    digits_[product.depth] = Lane(kLaterMatrixBit, 1, line);
  }
  const std::vector<llvm::Value*>& loaded = LoadFactor(product.rows, 4);
  digits_ = before;
  return loaded;
}

/// A digit that names the columns' matrix, emitted for each of an even number of values: two of
/// them can be loaded at a time. -1 where there is none.
tensor::DigitId KernelEmitter::PairOfColumns(const plan::WarpProduct& product) const {
  for (const tensor::Affine::Term& term : product.columns.index.terms) {
    const DigitValue& value = digits_[term.digit];
    const bool is_own = term.digit == product.depth || term.digit == product.lane_column ||
                        term.digit == product.column_part;
    const bool is_constant = value.bound && value.base == nullptr && value.lanes == nullptr;
    if (!is_own && is_constant && program_.digit_extents[term.digit] % 2 == 0 &&
        product.rows.index.CoefficientOf(term.digit) == 0) {
      return term.digit;
    }
  }
  return -1;
}

/// Both halves of the depth, for 8 columns.
std::vector<llvm::Value*> KernelEmitter::LoadColumns(const plan::WarpProduct& product) {
  if (product.columns.form == plan::WarpFactor::Form::kElements) return LoadColumnElements(product);
  const Digits before = digits_;
  const tensor::DigitId pair = PairOfColumns(product);
  size_t second = 0;
  if (pair >= 0) {
    const int64_t matrix = digits_[pair].offset;
    second = static_cast<size_t>(matrix % 2);
    digits_[pair] = Lane(kLaterMatrixBit, 1);
    digits_[pair].offset = matrix - matrix % 2;
  }
  if (product.columns.form == plan::WarpFactor::Form::kTransposed) {
    digits_[product.lane_column] = digits_[product.column_part] = DigitValue::Constant(0);
    digits_[product.depth] = Lane(0, kRowBits + 1);
  } else {
    digits_[product.column_part] = Lane(0, 1);
    digits_[product.lane_column] = Lane(1, kRowBits - 1);
    digits_[product.depth] = Lane(kMatrixBit, 1, LineElements(product.columns));
  }
  const std::vector<llvm::Value*>& loaded = LoadFactor(product.columns, pair >= 0 ? 4 : 2);
  digits_ = before;
  return {loaded[2 * second], loaded[2 * second + 1]};
}

/// In the order of LoadRows: rows of the thread's own number, and those 8 further.
std::vector<llvm::Value*> KernelEmitter::LoadRowElements(const plan::WarpProduct& product) {
  const Digits before = digits_;
  std::vector<llvm::Value*> loaded;
  digits_[product.lane_row] = Lane(kElementBits, kRowBits);
  for (int half = 0; half < 2; ++half) {
    for (int part = 0; part < target::MmaInstruction::kRowParts; ++part) {
      digits_[product.row_part] = DigitValue::Constant(part);
      loaded.push_back(LoadElement(product.rows, product.depth, half));
    }
  }
  digits_ = before;
  return loaded;
}

std::vector<llvm::Value*> KernelEmitter::LoadColumnElements(const plan::WarpProduct& product) {
  const Digits before = digits_;
  digits_[product.column_part] = Lane(kElementBits, 1);
  digits_[product.lane_column] = Lane(kElementBits + 1, kRowBits - 1);
  std::vector<llvm::Value*> loaded;
  for (int half = 0; half < 2; ++half) {
    loaded.push_back(LoadElement(product.columns, product.depth, half));
  }
  digits_ = before;
  return loaded;
}

/// The bits of this thread's element of a half of the depth.
llvm::Value* KernelEmitter::LoadElement(const plan::WarpFactor& factor, tensor::DigitId depth,
                                        int half) {
  digits_[depth] = Lane(0, kElementBits);
  digits_[depth].offset = half * LineElements(factor);
  llvm::Value* element =
      memory_.Load(factor.buffer, digits_.Evaluate(factor.index), nullptr, state_.chunk, nullptr);
  return builder_.CreateBitCast(element, builder_.getInt32Ty());
}

int64_t KernelEmitter::LineElements(const plan::WarpFactor& factor) const {
  return kMatrixLineBytes / tensor::ByteSize(program_.buffers[factor.buffer].dtype);
}

const std::vector<llvm::Value*>& KernelEmitter::LoadFactor(const plan::WarpFactor& factor,
                                                           int matrices) {
  IndexValue index = digits_.Evaluate(factor.index);
  const int64_t distance = std::exchange(index.constant, 0);
  llvm::Value* part = memory_.AddressOf(factor.buffer, index);
  std::vector<llvm::Value*>& loaded = matrices_[{builder_.GetInsertBlock(), part, distance}];
  if (!loaded.empty()) return loaded;
  const int64_t bytes = distance * tensor::ByteSize(program_.buffers[factor.buffer].dtype);
  loaded = machine_.LoadMatrices(builder_, {factor.buffer, addresses_.OffsetPointer(part, bytes)},
                                 matrices, factor.form == plan::WarpFactor::Form::kTransposed);
  return loaded;
}

DigitValue KernelEmitter::Lane(int first, int count, int64_t scale) {
  llvm::Value*& lane = lanes_[{first, count}];
  const uint32_t values = uint32_t{1} << count;
  if (lane == nullptr) {
    lane = addresses_.AtEntry([&] {
      llvm::Value* bits =
          builder_.CreateAnd(builder_.CreateLShr(thread_, static_cast<uint64_t>(first)),
                             builder_.getInt32(values - 1));
      llvm::Value* wide = builder_.CreateZExt(bits, builder_.getInt64Ty());
      addresses_.DefineAtEntry(wide);
      return wide;
    });
  }
  return DigitValue::Running(lane, values, scale);
}

}  // namespace bayloom::codegen
