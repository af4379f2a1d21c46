// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "bayloom/cost/selection/selection.h"

/// The selections with which Bi et al. 2023 compare biased diversity.

namespace bayloom::experimental {

/// "gsx": greedy sampling, farthest first in feature space, beginning at the program nearest to
/// the centroid (Yu and Kim 2010).
std::unique_ptr<cost::SelectionMethod> MakeGsxSelection();
/// "gsy": farthest first between the scores of open programs and the labels of measured ones (Wu
/// et al. 2019); what is chosen meanwhile has only a score.
std::unique_ptr<cost::SelectionMethod> MakeGsySelection();
/// "igs": farthest first by the product of the distances of gsx and gsy (Wu et al. 2019).
std::unique_ptr<cost::SelectionMethod> MakeIgsSelection();
/// "uncertainty": the programs that models trained on resampled data disagree on most (what ALT
/// selects by, Zeng et al. 2020).
std::unique_ptr<cost::SelectionMethod> MakeUncertaintySelection();
/// "core-set": farthest first among the model's representations, the greedy solution of the
/// k-center problem (Sener and Savarese 2018).
std::unique_ptr<cost::SelectionMethod> MakeCoreSetSelection();
/// "output-diversity": farthest first among the scores (Bi et al. 2023, algorithm 1 with d_out).
std::unique_ptr<cost::SelectionMethod> MakeOutputDiversitySelection();

}  // namespace bayloom::experimental
