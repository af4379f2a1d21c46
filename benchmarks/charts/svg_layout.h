// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>

namespace bayloom::charts {

/// Okabe and Ito's colours, which colour-blind readers tell apart, too.
inline constexpr std::array<const char*, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                        "#e69f00", "#56b4e9", "#000000"};

/// Margins of the plotted area, and the height of a legend's line, in pixels.
inline constexpr int kLeftMargin = 72, kTopMargin = 40, kBottomMargin = 52, kRightMargin = 16;
inline constexpr int kLegendLine = 18;

}  // namespace bayloom::charts
