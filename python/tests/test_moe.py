# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tables for fused mixtures of experts."""

import json

import pytest

import bayloom

CONFIGURATION = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1,
                 "num_warps": 4, "num_stages": 3}


def table(**changes):
    return {"contexts": ["M"], "table": [{"context": {"M": size}, "value": 1.0,
                                          "configuration": {**CONFIGURATION, **changes}}
                                         for size in (1, 16, 4096)]}


def test_is_the_file_that_vllm_reads():
    with open("found.json", "w", encoding="utf-8") as file:
        json.dump(table(BLOCK_SIZE_M=32), file)
    path = bayloom.moe_table("found.json", experts=8, width=7168, device="NVIDIA H100 80GB HBM3",
                             dtype="fp8_w8a8", block_shape=[128, 128])
    assert path == ("./E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8,"
                    "block_shape=[128,128].json")
    with open(path, encoding="utf-8") as file:
        written = json.load(file)
    assert list(written) == ["1", "16", "4096"]
    assert written["16"] == {**CONFIGURATION, "BLOCK_SIZE_M": 32}


def test_is_the_file_that_sglang_reads(tmp_path):
    path = bayloom.moe_table(table(), tmp_path, experts=256, width=256, device="NVIDIA H20",
                             block_shape=[128, 128], per_channel_quant=True, engine="sglang")
    assert path == str(tmp_path / ("E=256,N=256,device_name=NVIDIA_H20,block_shape=[128, 128],"
                                   "per_channel_quant=True.json"))


def test_refuses_what_they_could_not_use():
    def refusal(found, **options):
        with pytest.raises(bayloom.InputError) as error:
            bayloom.moe_table(found, experts=8, width=7168, device="x", **options)
        return str(error.value)

    assert "no parameter 'num_stages'" in refusal(
        {"contexts": ["M"], "table": [{"context": {"M": 1}, "configuration":
         {name: value for name, value in CONFIGURATION.items() if name != "num_stages"}}]})
    assert "nothing worked for M=1" in refusal(
        {"contexts": ["M"], "table": [{"context": {"M": 1}, "configuration": None}]})
    assert "context 'M' alone" in refusal({**table(), "contexts": ["M", "N"]})
    assert "'vllm' or 'sglang'" in refusal(table(), engine="other")
    assert "SGLang's" in refusal(table(), per_channel_quant=True)
