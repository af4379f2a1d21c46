// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::optimizer {

/// What surrogates see of a configuration beside the parameters' own coordinates (see Features).
struct FeatureOptions {
  /// Numbers on a logarithmic scale by their logarithms (Hellsten et al. 2023, sec. 4.1), or else
  /// by their values.
  bool logarithms = true;
  /// How often whole numbers can be halved.
  bool halvings = true;
  /// What known constraints compare: threads, where block_x * block_y <= 1024. Not by default, for
  /// it has not been shown to help (docs/studies/2026-11-recorded-spaces.md).
  bool quantities = false;
};

}  // namespace bayloom::optimizer
