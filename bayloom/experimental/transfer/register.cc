// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <utility>

#include "bayloom/experimental/transfer/stacking.h"
#include "bayloom/experimental/variants.h"
#include "bayloom/model/weighted_sum.h"
#include "bayloom/optimizer/transfer.h"
#include "bayloom/optimizer/transfer_data.h"

namespace bayloom::experimental {

void RegisterTransferMethods() {
  using optimizer::TransferData;
  optimizer::TransferMethods().RegisterExperimental(
      {"stacking", "each task models the residuals of those before it", {[](TransferData&& data) {
         return std::make_unique<StackedSurrogate>(data.group_of_column, data.Thinned());
       }}});
  optimizer::TransferMethods().RegisterExperimental(
      {"sum", "a sum over the tasks with equal weights", {[](TransferData&& data) {
         return std::make_unique<model::WeightedSurrogate>(
             data.group_of_column, data.Thinned(), std::numeric_limits<Eigen::Index>::max());
       }}});
}

}  // namespace bayloom::experimental
