// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/encoding.h"

namespace bayloom::space {

Encoding::Encoding(std::shared_ptr<const Space> space) : space_(std::move(space)) {
  for (int i = 0; i < space_->size(); ++i) {
    groups_.insert(groups_.end(), space_->parameter(i).EmbeddingSize(), i);
  }
}

void Encoding::Encode(const Configuration& configuration, std::span<double> row) const {
  for (int i = 0; i < space_->size(); ++i) {
    const Parameter& parameter = space_->parameter(i);
    parameter.Embed(configuration.coordinates[i], row.first(parameter.EmbeddingSize()));
    row = row.subspan(parameter.EmbeddingSize());
  }
}

}  // namespace bayloom::space
