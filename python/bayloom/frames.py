# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Lists of dicts as frames of pandas, which is imported only when it is used."""


def frame(rows: list):
    """Raises ImportError with advice where pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise ImportError("a frame needs pandas: pip install pandas") from None
    return pandas.DataFrame(rows)


def frame_if_possible(rows: list):
    """The rows themselves where pandas is not installed."""
    try:
        return frame(rows)
    except ImportError:
        return rows
