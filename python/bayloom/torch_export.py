# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Graphs of torch as ONNX models."""

import contextlib
import copy
import io
import logging
import math
import re
import warnings
from typing import Any, Optional, Sequence, Union

import onnx_ir
import torch
import torch.nn.functional as F

from .torch_graph import LeftToTorch, first_line

# Their reports are for who writes exporters, and go to standard error.
_LOGGERS = ("torch.onnx", "torch.export", "onnxscript", "onnx_ir")


def export(module: torch.nn.Module, inputs: Sequence[torch.Tensor],
           shapes: Sequence[Sequence[Union[int, str]]], path: str) -> None:
    """Writes an ONNX model of a module that takes any number of inputs. `shapes` are theirs, with
    names for open dimensions. Raises LeftToTorch with the operator that ONNX does not have."""
    is_open = torch.export.Dim.DYNAMIC
    dynamic = tuple({d: is_open for d, size in enumerate(shape) if isinstance(size, str)}
                    for shape in shapes)
    try:
        # Apart from the capture of the graph that this may be part of: what holds of sizes here is
        # no condition there.
        with _silence(), torch.no_grad(), torch._guards.tracing(None):
            program = torch.onnx.export(module.eval(), tuple(inputs), dynamo=True, verbose=False,
                                        dynamic_shapes=(dynamic,) if any(dynamic) else None)
            for value, shape in zip(program.model.graph.inputs, shapes):
                value.shape = onnx_ir.Shape(shape)
            program.save(path, external_data=True)
    except Exception as error:  # the exporter has no types of its own for all that fails in it
        raise LeftToTorch(_reason(error)) from error


def _reason(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    operator = re.search(r"No ONNX function found for <OpOverload\(op='(\S+)',", str(error))
    if operator:
        return f"ONNX has no operator for {operator[1]}"
    return re.sub(r"\x1b\[[0-9;]*m", "", first_line(error))


@contextlib.contextmanager
def _silence():
    """Nothing is printed, warned of or logged within."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)


def without_fast_paths(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The graph with the operators that torch.nn uses for inference, each of them a layer of a
    transformer, as the operators that such a layer is made of."""
    if not any(node.target in _FAST_PATHS for node in graph.graph.nodes
               if node.op == "call_function"):
        return graph
    nodes = copy.deepcopy(graph.graph)
    for node in nodes.nodes:
        if node.op == "call_function":
            node.target = _FAST_PATHS.get(node.target, node.target)
    return torch.fx.GraphModule(graph, nodes)


def _attention(query, key, value, embed_dim: int, num_head: int, qkv_weight, qkv_bias, proj_weight,
               proj_bias, mask=None, need_weights: bool = True, average_attn_weights: bool = True,
               mask_type: Optional[int] = None) -> Any:
    """torch._native_multi_head_attention: all of batch x length x embed_dim."""
    if query is key and key is value:
        projected = F.linear(query, qkv_weight, qkv_bias).chunk(3, dim=-1)
    else:
        projected = [F.linear(x, weight, bias) for x, weight, bias in zip(
            (query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3))]
    q, k, v = (x.unflatten(-1, (num_head, -1)).transpose(1, 2) for x in projected)
    scores = q @ k.transpose(2, 3) / math.sqrt(embed_dim // num_head)
    if mask is not None:
        hidden = mask.to(torch.bool)  # also of masks of numbers: what is not 0 is hidden
        if mask_type == 1:  # of keys, batch x length
            hidden = hidden[:, None, None, :]
        scores = scores.masked_fill(hidden, -math.inf)
    weights = scores.softmax(dim=-1)
    result = F.linear((weights @ v).transpose(1, 2).flatten(2), proj_weight, proj_bias)
    if not need_weights:
        return result, None
    return result, weights.mean(dim=1) if average_attn_weights else weights


def _encoder_layer(src, embed_dim: int, num_heads: int, qkv_weight, qkv_bias, proj_weight, proj_bias,
                   use_gelu: bool, norm_first: bool, eps: float, norm_weight_1, norm_bias_1,
                   norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2,
                   mask=None, mask_type: Optional[int] = None) -> Any:
    """torch._transformer_encoder_layer_fwd."""
    def norm(x, weight, bias):
        return F.layer_norm(x, (embed_dim,), weight, bias, eps)

    def attention(x):
        return _attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight,
                          proj_bias, mask, False, True, mask_type)[0]

    def feed_forward(x):
        activation = F.gelu if use_gelu else F.relu
        return F.linear(activation(F.linear(x, ffn_weight_1, ffn_bias_1)), ffn_weight_2, ffn_bias_2)

    if norm_first:
        src = src + attention(norm(src, norm_weight_1, norm_bias_1))
        return src + feed_forward(norm(src, norm_weight_2, norm_bias_2))
    src = norm(src + attention(src), norm_weight_1, norm_bias_1)
    return norm(src + feed_forward(src), norm_weight_2, norm_bias_2)


_FAST_PATHS = {torch._transformer_encoder_layer_fwd: _encoder_layer,
               torch._native_multi_head_attention: _attention}
