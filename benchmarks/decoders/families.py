# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of known families of language models."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Family:
    """What a model's configuration says: sizes, and what its layers do otherwise than Llama's."""

    layers: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head_size: int
    words: int
    theta: float = 10000.0
    normalizes_heads: bool = False
    experts: int = 0
    experts_used: int = 2


FAMILIES = {
    "tiny": Family(2, 64, 128, 4, 2, 16, 256),
    "tiny-qwen": Family(2, 64, 128, 4, 2, 32, 256, normalizes_heads=True),
    "smollm2-360m": Family(32, 960, 2560, 15, 5, 64, 49152),
    "llama-3.2-1b": Family(16, 2048, 8192, 32, 8, 64, 128256, 500000.0),
    "qwen3-0.6b": Family(28, 1024, 3072, 16, 8, 128, 151936, 1e6, True),
    "moe-8": Family(16, 1024, 1536, 16, 8, 64, 32000, experts=8),
    "tiny-moe": Family(2, 64, 96, 4, 2, 16, 256, experts=4),
    "mamba-130m": Family(24, 768, 0, 12, 12, 64, 50280),
    "lfm2-350m": Family(16, 1024, 4608, 16, 8, 64, 65536, 1e6, True),
    "whisper-base": Family(6, 512, 2048, 8, 8, 64, 51865),
    "qwen3-1.7b": Family(28, 2048, 6144, 16, 8, 128, 151936, 1e6, True),
}
