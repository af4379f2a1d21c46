// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

// Images that are read at positions known at run time only, which are rounded to places. Where they
// are the same for all channels, these are read and weighted together if they lie side by side.

/// The channels of such a node: an axis of its output; -1: it is none.
int SampledChannels(const Node& node);

/// The axis of a load that output axis `channels` alone runs along, where the load's place along
/// others is such a position and does not depend on it; -1: none.
int ChannelAxisOf(const tensor::Expr& load, int channels);

/// Whether a reader, which goes through the elements of the node in its own order, has the channels
/// last if the node has.
bool KeepsChannelsLast(const Node& node, const Node& reader);

}  // namespace bayloom::graph
