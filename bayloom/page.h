// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module page: the report page as a document, as a file and served.

#include "bayloom/page/board.h"
#include "bayloom/page/cursor.h"
#include "bayloom/page/page_html.h"
#include "bayloom/page/page_reader.h"
