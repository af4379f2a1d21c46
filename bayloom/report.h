// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module report: digests of runs, fed trial by trial; tables, units, summaries.

#include "bayloom/report/bottleneck_table.h"
#include "bayloom/report/context_condition.h"
#include "bayloom/report/context_report.h"
#include "bayloom/report/cores_table.h"
#include "bayloom/report/design_table.h"
#include "bayloom/report/division_table.h"
#include "bayloom/report/format.h"
#include "bayloom/report/fused_table.h"
#include "bayloom/report/gain_text.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/map_table.h"
#include "bayloom/report/mapping_table.h"
#include "bayloom/report/mapping_units.h"
#include "bayloom/report/pareto_table.h"
#include "bayloom/report/pool_table.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/report/repeat_table.h"
#include "bayloom/report/run_digest.h"
#include "bayloom/report/run_progress.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/search_export.h"
#include "bayloom/report/search_report.h"
#include "bayloom/report/sensitivity_table.h"
#include "bayloom/report/session_report.h"
#include "bayloom/report/status_line.h"
#include "bayloom/report/table.h"
