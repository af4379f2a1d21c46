# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tables of fused mixtures of experts for vLLM and SGLang."""

import json
import os
from collections.abc import Mapping
from typing import Optional, Sequence, Union

from ._core import InputError

# What their kernels are launched with; without one of these a table is of no use.
_REQUIRED = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "num_warps",
             "num_stages")


def moe_table(table: Union[str, os.PathLike, Mapping], folder: Union[str, os.PathLike] = ".", *,
              experts: int, width: int, device: str, dtype: Optional[str] = None,
              block_shape: Optional[Sequence[int]] = None, per_channel_quant: bool = False,
              engine: str = "vllm", batch: str = "M") -> str:
    """Writes a table of contexts as the file that vLLM or SGLang looks for; returns its path.

    `table` is what `bayloom search --emit FILE.json` wrote (docs/kernels.md#contexts): its path or
    what it holds. Its context `batch` is the number of tokens; both choose the nearest one that the
    file has. `experts` and `width` are E and N of the file's name: experts on one device and the
    size of the intermediate layer there. `device` is what `torch.cuda.get_device_name()` says,
    `dtype` such as "fp8_w8a8", `block_shape` [n, k] of weights that are quantized in blocks;
    `per_channel_quant` is SGLang's.

    The form is described in vllm/model_executor/layers/fused_moe/configs/README of vLLM and in
    python/sglang/srt/layers/moe/fused_moe_triton/configs/README.md of SGLang. vLLM takes the file
    from there or from the folder VLLM_TUNED_CONFIG_FOLDER, SGLang from SGLANG_MOE_CONFIG_DIR.

    Raises InputError where a parameter of theirs is missing, and for a batch without a
    configuration.

        >>> found = {"contexts": ["M"], "table": [{"context": {"M": 16}, "configuration":
        ...     {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1,
        ...      "num_warps": 4, "num_stages": 3}}]}
        >>> moe_table(found, experts=8, width=7168, device="NVIDIA H200", block_shape=[128, 128])
        './E=8,N=7168,device_name=NVIDIA_H200,block_shape=[128,128].json'
    """
    if not isinstance(table, Mapping):
        with open(table, encoding="utf-8") as file:
            table = json.load(file)
    if list(table.get("contexts", [])) != [batch]:
        raise InputError(f"expected a table of the context '{batch}' alone, found "
                         f"{list(table.get('contexts', []))}")
    if engine not in ("vllm", "sglang"):
        raise InputError(f"engine: expected 'vllm' or 'sglang', found '{engine}'")
    if per_channel_quant and engine != "sglang":
        raise InputError("per_channel_quant is SGLang's")
    rows = {}
    for row in table["table"]:
        size, configuration = row["context"][batch], row["configuration"]
        if configuration is None:
            raise InputError(f"nothing worked for {batch}={size}")
        missing = [name for name in _REQUIRED if name not in configuration]
        if missing:
            raise InputError(f"the table has no parameter '{missing[0]}'")
        rows[str(size)] = configuration
    name = f"E={experts},N={width},device_name={device.replace(' ', '_')}"
    if dtype:
        name += f",dtype={dtype}"
    if block_shape:
        separator = "," if engine == "vllm" else ", "
        name += f",block_shape=[{separator.join(str(size) for size in block_shape)}]"
    if per_channel_quant:
        name += ",per_channel_quant=True"
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=4)
        file.write("\n")
    return path
