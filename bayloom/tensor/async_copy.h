// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::tensor {

/// Annotation of a block that copies into shared memory, in a kCooperative loop directly inside of
/// a serial one: a GPU may fetch up to this many iterations' copies at a time, asynchronously, each
/// into memory of its own. The program's meaning is the same; code generation decides whether the
/// block is a copy that the GPU can make so (codegen/internal/gpu/plan.h). 1: one after the other.
inline constexpr char kAsyncStages[] = "async_stages";

}  // namespace bayloom::tensor
