// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module mapspace: tensor operations on accelerators: problem, architecture, mapping, reuse
/// analysis, energy and cycles; files of Timeloop and other mappers; several cores; encodings,
/// mappers, transfer from other mapspaces.
///
///     const AnalyticalModel model(ParseProblem("matmul:512,512,512"),
///     ShippedArchitecture("gemmini")); if (model.Fits(mapping)) Use(model.Evaluate(mapping));
///
/// Reading order: `problem.h`, `architecture.h`, `mapping.h`; `reuse.h` and `model.h` (counts,
/// energy, cycles); `mapspace.h` and `encoding.h`; `mapper.h` and one mapper,
/// `mapper_genetic.cc`; then `sparse/`, `fused/`, `cores/`, each of which builds on the model;
/// `formats/` reads other tools' files.

#include "bayloom/mapspace/adapt_mapping.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/constraints.h"
#include "bayloom/mapspace/cores/core_mapper.h"
#include "bayloom/mapspace/cores/core_split_json.h"
#include "bayloom/mapspace/cores/division_search.h"
#include "bayloom/mapspace/cores/pipeline.h"
#include "bayloom/mapspace/encoding.h"
#include "bayloom/mapspace/formats/layer_list.h"
#include "bayloom/mapspace/fused/group_search.h"
#include "bayloom/mapspace/fused/tile_mapper.h"
#include "bayloom/mapspace/mapper.h"
#include "bayloom/mapspace/mapping.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/misfit.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/order_encoding.h"
#include "bayloom/mapspace/problem.h"
#include "bayloom/mapspace/reuse.h"
#include "bayloom/mapspace/sensitivity.h"
#include "bayloom/mapspace/technology.h"
#include "bayloom/mapspace/tile_encoding.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/mapspace/transfer.h"
#include "bayloom/mapspace/uneven.h"

namespace bayloom {

using mapspace::AnalyticalModel;
using mapspace::Architecture;
using mapspace::Mapping;
using mapspace::Mapspace;
using mapspace::ParseProblem;
using mapspace::Problem;
using mapspace::ShippedArchitecture;

}  // namespace bayloom
