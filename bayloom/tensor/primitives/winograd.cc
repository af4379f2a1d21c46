// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/convolution.h"
#include "bayloom/tensor/primitives/placement.h"
#include "bayloom/tensor/primitives/tree.h"
#include "bayloom/tensor/winograd_matrices.h"

namespace bayloom::tensor {
namespace {

constexpr int64_t kTaps = 3;
constexpr std::array<int64_t, 3> kTiles = {2, 4, 6};

/// factor * x, added up. Empty terms give an undefined expression.
class LinearSum {
 public:
  void Add(double factor, const Expr& x) {
    if (factor == 0) return;
    const double size = std::abs(factor);
    Expr term = size == 1 ? x : FloatLiteral(size) * x;
    if (!sum_.defined()) {
      sum_ = factor < 0 ? -std::move(term) : std::move(term);
    } else {
      sum_ = factor < 0 ? sum_ - std::move(term) : sum_ + std::move(term);
    }
  }
  const Expr& sum() const { return sum_; }

 private:
  Expr sum_;
};

/// A row of the input's matrix times the elements, as even part plus or minus odd part: rows of
/// points that differ in sign share both.
Expr InputRow(const std::vector<double>& row, const std::vector<Expr>& elements) {
  LinearSum even, odd;
  double sign = 0;
  for (size_t k = 0; k < row.size(); ++k) {
    if (k % 2 == 1 && sign == 0 && row[k] != 0) sign = row[k] < 0 ? -1 : 1;
    if (k % 2 == 0) {
      even.Add(row[k], elements[k]);
    } else {
      odd.Add(sign * row[k], elements[k]);
    }
  }
  if (!odd.sum().defined()) return even.sum();
  if (!even.sum().defined()) return sign < 0 ? -odd.sum() : odd.sum();
  return sign < 0 ? even.sum() - odd.sum() : even.sum() + odd.sum();
}

/// A row of the output's matrix times the elements: columns of points that differ in sign are added
/// or subtracted first, which rows share.
Expr OutputRow(const std::vector<double>& row, const std::vector<Expr>& elements) {
  LinearSum sum;
  sum.Add(row[0], elements[0]);
  for (size_t j = 1; j + 1 < row.size(); j += 2) {
    const bool same = row[j] == row[j + 1];
    sum.Add(row[j], same ? elements[j] + elements[j + 1] : elements[j] - elements[j + 1]);
  }
  sum.Add(row.back(), elements.back());
  return sum.sum();
}

/// values[i] where i is the iterator: decided when code is made, if its loop is unrolled.
Expr Choose(const Expr& iter, const std::vector<Expr>& values) {
  Expr chosen = values.back();
  for (size_t i = values.size() - 1; i-- > 0;) {
    chosen = Select(iter < Expr(static_cast<int64_t>(i) + 1), values[i], std::move(chosen));
  }
  return chosen;
}

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Replaces a convolution by the stages of Winograd's algorithm.
class WinogradBuilder {
 public:
  WinogradBuilder(Program& program, const Convolution& convolution, int64_t tile,
                  const WinogradMatrices& matrices)
      : program_(program),
        conv_(convolution),
        matrices_(matrices),
        name_(program.blocks[convolution.block].name),
        tile_(tile),
        size_(tile + kTaps - 1),
        rows_(DivideUp(convolution.rows, tile)),
        columns_(DivideUp(convolution.columns, tile)) {}

  std::vector<BlockId> Build() {
    const NodeRef top = ChildTowards(program_, NodeRef::Root(), NodeRef::Block(conv_.block));
    index_ = IndexInParent(program_, top);
    Detach(program_, NodeRef::Block(conv_.block));
    program_.blocks[conv_.block].alive = false;
    // Tiles at the end of an open axis reach beyond it.
    const bool whole = rows_ * tile_ == conv_.rows && columns_ * tile_ == conv_.columns &&
                       !conv_.row_bound.is_open() && !conv_.column_bound.is_open();
    const BufferId result = program_.blocks[conv_.block].output;
    const BufferId image = whole ? conv_.image : Extend();
    const BufferId rows = TransformRows(image);
    const BufferId tiles = TransformColumns(rows);
    TransformWeights();
    const BufferId products = Multiply(tiles);
    const BufferId sums = CombineRows(products);
    const BufferId outputs =
        whole ? result
              : NewBuffer("outputs", {conv_.batch, rows_ * tile_, columns_ * tile_, conv_.outputs});
    CombineColumns(sums, outputs);
    if (!whole) Crop(outputs, result);
    return std::move(blocks_);
  }

 private:
  BufferId NewBuffer(const std::string& what, std::vector<int64_t> shape) {
    Buffer buffer;
    buffer.name = FreshBufferName(program_, name_ + "." + what);
    buffer.shape = std::move(shape);
    buffer.role = BufferRole::kIntermediate;
    program_.buffers.push_back(std::move(buffer));
    return static_cast<BufferId>(program_.buffers.size()) - 1;
  }

  /// A block in a nest of its own, behind those before.
  void AddBlock(const std::string& what, std::vector<Iter> iters, BufferId output,
                std::vector<Expr> output_index, Expr value) {
    Block block;
    block.name = FreshBlockName(program_, what);
    const bool reduces = iters.back().kind == IterKind::kReduction;
    block.kind = reduces ? BlockKind::kReduce : BlockKind::kPlain;
    block.reduction = reduces ? Reduction::kSum : Reduction::kNone;
    block.iters = std::move(iters);
    block.output = output;
    block.output_index = std::move(output_index);
    block.value = std::move(value);
    Placement placement{{NodeRef::Root(), index_++}, {}};
    for (const Iter& iter : block.iters) {
      placement.iters.push_back(IterOver({{}, 0, iter.extent - 1}));
    }
    program_.blocks.push_back(std::move(block));
    blocks_.push_back(static_cast<BlockId>(program_.blocks.size()) - 1);
    PlaceBlock(program_, blocks_.back(), placement);
  }

  static Iter Over(const char* name, int64_t extent, Bound bound = {}) {
    return {name, extent, IterKind::kSpatial, bound};
  }
  Iter Batch() const { return Over("n", conv_.batch, conv_.batch_bound); }
  Iter TileRows() const { return Over("th", rows_, InTiles(conv_.row_bound)); }
  Iter TileColumns() const { return Over("tw", columns_, InTiles(conv_.column_bound)); }
  Bound InTiles(Bound bound) const { return {bound.size, bound.step * tile_, bound.beyond}; }
  /// Of inputs: the last tile may reach beyond the output's axis, and windows beyond that.
  Bound OfInputs(Bound bound) const {
    if (bound.is_open()) bound.beyond += tile_ - 1 + kTaps - 1;
    return bound;
  }
  static std::vector<Expr> Iters(int count) {
    std::vector<Expr> iters;
    for (int i = 0; i < count; ++i) iters.push_back(IterVar(i));
    return iters;
  }
  Expr Read(BufferId buffer, std::vector<Expr> index) const {
    return Load(buffer, DType::kFloat32, std::move(index));
  }
  Expr Scaled(int iter) const { return IterVar(iter) * Expr(tile_); }

  bool IsOpen(size_t dimension) const {
    return program_.buffers[conv_.image].BoundOf(dimension).is_open();
  }
  /// Of a dimension of the image, when the program runs.
  Expr LengthOf(size_t dimension) const {
    const Buffer& image = program_.buffers[conv_.image];
    return IsOpen(dimension) ? SizeOf(image.bounds[dimension].size) : Expr(image.shape[dimension]);
  }

  /// The image with zeros behind it, as many as whole tiles need.
  BufferId Extend() {
    const std::vector<int64_t> shape = program_.buffers[conv_.image].shape;
    const int64_t rows = rows_ * tile_ + kTaps - 1, columns = columns_ * tile_ + kTaps - 1;
    const BufferId extended = NewBuffer("image", {conv_.batch, rows, columns, conv_.channels});
    const std::vector<Expr> at = Iters(4);
    Expr inside = BoolLiteral(true);
    if (rows > shape[1] || IsOpen(1)) inside = std::move(inside) && at[1] < LengthOf(1);
    if (columns > shape[2] || IsOpen(2)) inside = std::move(inside) && at[2] < LengthOf(2);
    AddBlock(name_ + "_image",
             {Batch(), Over("h", rows, OfInputs(conv_.row_bound)),
              Over("w", columns, OfInputs(conv_.column_bound)), Over("c", conv_.channels)},
             extended, at, Select(inside, Read(conv_.image, at), FloatLiteral(0)));
    return extended;
  }

  /// rows[i, n, th, w, c] = sum over k: B^T[i, k] * image[n, m th + k, w, c]
  BufferId TransformRows(BufferId image) {
    const int64_t width = columns_ * tile_ + kTaps - 1;
    const BufferId rows = NewBuffer("rows", {size_, conv_.batch, rows_, width, conv_.channels});
    std::vector<Expr> elements, values;
    for (int64_t k = 0; k < size_; ++k) {
      elements.push_back(Read(image, {IterVar(1), Scaled(2) + Expr(k), IterVar(3), IterVar(4)}));
    }
    for (const std::vector<double>& row : matrices_.input)
      values.push_back(InputRow(row, elements));
    AddBlock(name_ + "_rows",
             {Over("i", size_), Batch(), TileRows(), Over("w", width, OfInputs(conv_.column_bound)),
              Over("c", conv_.channels)},
             rows, Iters(5), Choose(IterVar(0), values));
    return rows;
  }

  /// tiles[i, j, n, th, tw, c] = sum over l: B^T[j, l] * rows[i, n, th, m tw + l, c]
  BufferId TransformColumns(BufferId rows) {
    const BufferId tiles =
        NewBuffer("tiles", {size_, size_, conv_.batch, rows_, columns_, conv_.channels});
    std::vector<Expr> elements, values;
    for (int64_t l = 0; l < size_; ++l) {
      elements.push_back(
          Read(rows, {IterVar(0), IterVar(2), IterVar(3), Scaled(4) + Expr(l), IterVar(5)}));
    }
    for (const std::vector<double>& row : matrices_.input)
      values.push_back(InputRow(row, elements));
    AddBlock(name_ + "_tiles", TileIters(size_, "c", conv_.channels), tiles, Iters(6),
             Choose(IterVar(1), values));
    return tiles;
  }

  std::vector<Iter> TileIters(int64_t first, const char* channel, int64_t channels) const {
    return {Over("i", first), Over("j", size_), Batch(),
            TileRows(),       TileColumns(),    Over(channel, channels)};
  }

  /// The weights become weights[i, j, c, k] = sum over r, s: G[i, r] * G[j, s] * weights[r, s, c,
  /// k].
  void TransformWeights() {
    Buffer& weights = program_.buffers[conv_.weights];
    ConstantTransform transform;
    transform.source_shape = weights.shape;
    transform.matrices.resize(weights.shape.size());
    for (const std::vector<double>& row : matrices_.filter) {
      for (size_t d : {0, 1}) {
        std::vector<double>& matrix = transform.matrices[d];
        matrix.insert(matrix.end(), row.begin(), row.end());
      }
    }
    weights.shape = transform.Shape();
    weights.transform = std::make_shared<const ConstantTransform>(std::move(transform));
  }

  /// products[i, j, n, th, tw, k] = sum over c: tiles[i, j, n, th, tw, c] * weights[i, j, c, k]
  BufferId Multiply(BufferId tiles) {
    const BufferId products =
        NewBuffer("products", {size_, size_, conv_.batch, rows_, columns_, conv_.outputs});
    std::vector<Iter> iters = TileIters(size_, "k", conv_.outputs);
    iters.push_back({"c", conv_.channels, IterKind::kReduction});
    const Expr tile =
        Read(tiles, {IterVar(0), IterVar(1), IterVar(2), IterVar(3), IterVar(4), IterVar(6)});
    const Expr weight = Read(conv_.weights, {IterVar(0), IterVar(1), IterVar(6), IterVar(5)});
    AddBlock(name_ + "_products", std::move(iters), products, Iters(6), tile * weight);
    return products;
  }

  /// sums[p, j, n, th, tw, k] = sum over i: A^T[p, i] * products[i, j, n, th, tw, k]
  BufferId CombineRows(BufferId products) {
    const BufferId sums =
        NewBuffer("sums", {tile_, size_, conv_.batch, rows_, columns_, conv_.outputs});
    std::vector<Expr> elements, values;
    for (int64_t i = 0; i < size_; ++i) {
      elements.push_back(
          Read(products, {Expr(i), IterVar(1), IterVar(2), IterVar(3), IterVar(4), IterVar(5)}));
    }
    for (const std::vector<double>& row : matrices_.output)
      values.push_back(OutputRow(row, elements));
    AddBlock(name_ + "_sums", TileIters(tile_, "k", conv_.outputs), sums, Iters(6),
             Choose(IterVar(0), values));
    return sums;
  }

  /// outputs[n, m th + p, m tw + q, k] = sum over j: A^T[q, j] * sums[p, j, n, th, tw, k]
  void CombineColumns(BufferId sums, BufferId outputs) {
    std::vector<Expr> elements, values;
    for (int64_t j = 0; j < size_; ++j) {
      elements.push_back(
          Read(sums, {IterVar(2), Expr(j), IterVar(0), IterVar(1), IterVar(3), IterVar(5)}));
    }
    for (const std::vector<double>& row : matrices_.output)
      values.push_back(OutputRow(row, elements));
    AddBlock(name_ + "_outputs",
             {Batch(), TileRows(), Over("p", tile_), TileColumns(), Over("q", tile_),
              Over("k", conv_.outputs)},
             outputs, {IterVar(0), Scaled(1) + IterVar(2), Scaled(3) + IterVar(4), IterVar(5)},
             Choose(IterVar(4), values));
  }

  void Crop(BufferId outputs, BufferId result) {
    const std::vector<Expr> at = Iters(4);
    AddBlock(name_ + "_crop",
             {Batch(), Over("h", conv_.rows, conv_.row_bound),
              Over("w", conv_.columns, conv_.column_bound), Over("k", conv_.outputs)},
             result, at, Read(outputs, at));
  }

  Program& program_;
  const Convolution& conv_;
  const WinogradMatrices& matrices_;
  const std::string name_;
  const int64_t tile_;     ///< outputs of a tile in a row: m
  const int64_t size_;     ///< inputs of a tile in a row: m + 2
  const int64_t rows_;     ///< of tiles
  const int64_t columns_;  ///< of tiles
  int index_ = 0;          ///< among the roots, of the next block's nest
  std::vector<BlockId> blocks_;
};

Status CheckSuits(const Program& program, const Convolution& conv, int64_t tile) {
  const std::string& name = program.blocks[conv.block].name;
  if (conv.kernel_rows != kTaps || conv.kernel_columns != kTaps) {
    return Error{fmt::format("{} has a kernel of {}x{}: Winograd's algorithm is here for 3x3", name,
                             conv.kernel_rows, conv.kernel_columns)};
  }
  const Buffer& weights = program.buffers[conv.weights];
  if (program.buffers[conv.image].dtype != DType::kFloat32 || weights.dtype != DType::kFloat32 ||
      program.buffers[program.blocks[conv.block].output].dtype != DType::kFloat32) {
    return Error{fmt::format("{} is not in float32 throughout", name)};
  }
  if (weights.role != BufferRole::kConstant || !weights.slice_of.empty() || weights.transform) {
    return Error{fmt::format("the weights of {} are no constant as it came", name)};
  }
  if (program.ReadersOf(conv.weights).size() != 1) {
    return Error{fmt::format("others than {} read its weights", name)};
  }
  if (!std::ranges::count(kTiles, tile)) {
    return Error{fmt::format("there are tiles of 2, 4 and 6 outputs, not of {}", tile)};
  }
  return Ok();
}

}  // namespace

Result<std::vector<BlockId>> Winograd(Program& program, BlockId block, int64_t tile) {
  const Result<Convolution> conv = AsConvolution(program, block);
  if (!conv) return conv.error();
  if (Status s = CheckSuits(program, *conv, tile); !s) return s.error();
  const WinogradMatrices matrices = MakeWinogradMatrices(tile, kTaps);
  const double error = ExpectedWinogradError(matrices, conv->channels);
  if (error > kMaxDerivationError) {
    return Error{fmt::format(
        "{} over {} channels in tiles of {}: errors of {:.1e} of the largest output are to be "
        "expected, {:.0e} are allowed",
        program.blocks[block].name, conv->channels, tile, error, kMaxDerivationError)};
  }
  return WinogradBuilder(program, *conv, tile, matrices).Build();
}

double DerivationError(const Workload& workload) {
  const Program program = Lower(workload);
  double largest = 0;
  for (BlockId block : program.BlocksInOrder()) {
    const Result<Convolution> conv = AsConvolution(program, block);
    if (!conv) continue;
    for (int64_t tile : kTiles) {
      if (!CheckSuits(program, *conv, tile)) continue;
      const double error = ExpectedWinogradError(MakeWinogradMatrices(tile, kTaps), conv->channels);
      if (error <= kMaxDerivationError) largest = std::max(largest, error);
    }
  }
  return largest;
}

double DerivationError(const Program& program) {
  double largest = 0;
  for (const Buffer& buffer : program.buffers) {
    if (!buffer.transform) continue;
    const int64_t tile = buffer.shape[0] - kTaps + 1, channels = buffer.shape[2];
    largest = std::max(largest, ExpectedWinogradError(MakeWinogradMatrices(tile, kTaps), channels));
  }
  return largest;
}

}  // namespace bayloom::tensor
