// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// A dense row-major array of any DType, used where exactness matters more than speed. Elements
/// are read and written as double or, for integers beyond 2^53, as int64 (uint64 by its bits).
struct HostTensor {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;

  static HostTensor Zeros(DType dtype, std::vector<int64_t> shape);
  int64_t ElementCount() const;
  double Get(int64_t element) const;
  int64_t GetInt(int64_t element) const;
  /// Rounds to dtype (float16 and bfloat16 to nearest even; integers by truncation).
  void Set(int64_t element, double value);
  void SetInt(int64_t element, int64_t value);
};

/// Runs a program (scheduled or not) statement by statement, honouring buffer element types but
/// ignoring parallelism and layouts: the reference that compiled code is checked against. Index
/// errors and reads of never-written elements throw std::logic_error. Open axes end at their
/// bounds: beyond them outputs keep what they have, and what is read there is not a number.
/// `arguments`: one tensor per Program::Parameters() entry; outputs are written.
void Interpret(const Program& program, std::vector<HostTensor>& arguments);

/// As Interpret, and as hard on the program as compiling it may be: an intermediate buffer forgets
/// its elements at every iteration of the loop that it is allocated in (AllocationScope), and the
/// iterations of parallel, vectorized and bound loops run backwards.
void InterpretStrictly(const Program& program, std::vector<HostTensor>& arguments);

/// Computes chosen elements of a workload's output straight from its definition, on demand and
/// with memory: a few elements of a large convolution cost no more than those elements. Sums and
/// products over reduction axes are kept in double precision and rounded once.
///
/// `workload` and `arguments` (as for Interpret; outputs are not looked at and may be left out)
/// must outlive it.
class PointEvaluator {
 public:
  PointEvaluator(const Workload& workload, const std::vector<HostTensor>& arguments);
  ~PointEvaluator();
  double Evaluate(BufferId buffer, const std::vector<int64_t>& index);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Brings the caller's row-major array into the form in which a program reads it (constants, before
/// a program is run): transformed where the buffer says so, then in its layout.
std::vector<std::byte> PackLayout(const Buffer& buffer, const std::byte* row_major);
void PackLayout(const Buffer& buffer, const std::byte* row_major, std::byte* packed);
/// A row-major array from one in the buffer's layout.
std::vector<std::byte> UnpackLayout(const Buffer& buffer, const std::byte* packed);

/// Puts a row-major array where the elements of a slice lie (Buffer::slice_of), leaving what is
/// between them as it is.
void ScatterSlice(const Buffer& buffer, const std::byte* row_major, std::byte* memory);

}  // namespace bayloom::tensor
