# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Graphs of torch as ONNX models."""

import contextlib
import copy
import functools
import io
import logging
import math
import re
import warnings
from typing import Any, Callable, Dict, Optional, Sequence, Union

import onnx_ir
import torch
import torch.nn.functional as F
from torch.onnx._internal.exporter._registration import ONNXRegistry

from .torch_graph import LeftToTorch, first_line

# Their reports are for who writes exporters, and go to standard error.
_LOGGERS = ("torch.onnx", "torch.export", "onnxscript", "onnx_ir")
_OPERATOR_SET = 22  # the first one with convolutions of bfloat16


def export(module: torch.nn.Module, inputs: Sequence[torch.Tensor],
           shapes: Sequence[Sequence[Union[int, str]]], path: str) -> Dict[Optional[str], str]:
    """Writes an ONNX model of a module that takes any number of inputs. `shapes` are theirs, with
    names for open dimensions. The result says of nodes, by their names, which operator of torch they
    were. Raises LeftToTorch with the operator that ONNX does not have."""
    is_open = torch.export.Dim.DYNAMIC
    dynamic = tuple({d: is_open for d, size in enumerate(shape) if isinstance(size, str)}
                    for shape in shapes)
    try:
        # Apart from the capture of the graph that this may be part of: what holds of sizes here is
        # no condition there.
        with _silence(), _one_registry(), torch.no_grad(), torch._guards.tracing(None):
            program = torch.onnx.export(module.eval(), tuple(inputs), dynamo=True, verbose=False,
                                        opset_version=_OPERATOR_SET,
                                        dynamic_shapes=(dynamic,) if any(dynamic) else None)
            for value, shape in zip(program.model.graph.inputs, shapes):
                value.shape = onnx_ir.Shape(shape)
            program.save(path, external_data=True)
    except Exception as error:  # the exporter has no types of its own for all that fails in it
        raise _left(error) from error
    return {node.name: _operator(node) for node in program.model.graph.all_nodes()}


def _operator(node: onnx_ir.Node) -> str:
    written = node.metadata_props.get("pkg.torch.onnx.fx_node", "")
    target = re.search(r"call_function\[target=torch\.ops\.([^\]]+)\]", written)
    return target[1] if target else ""


def _left(error: BaseException) -> LeftToTorch:
    while error.__cause__ is not None:
        error = error.__cause__
    operator = re.search(r"No ONNX function found for <OpOverload\(op='(\w+\.\w+)', "
                         r"overload='(\w+)'\)", str(error))
    if operator:
        return LeftToTorch("ONNX has no operator for it", f"{operator[1]}.{operator[2]}")
    return LeftToTorch(re.sub(r"\x1b\[[0-9;]*m", "", first_line(error)))


def has_translation(target: Any) -> bool:
    """Whether the exporter may know an operator of torch, or how to divide it into others."""
    return (not isinstance(target, torch._ops.OpOverload)
            or _registry(opset_version=_OPERATOR_SET).is_registered(target)
            or target in torch._decomp.decomposition_table or target._can_decompose())


# What torch translates to ONNX, by operator. Reading it takes a third of the time of an export or more.
_registry = functools.cache(ONNXRegistry.from_torchlib)


@contextlib.contextmanager
def _one_registry():
    """The exporter, which reads its registry for each model, reads it once."""
    read = ONNXRegistry.from_torchlib
    ONNXRegistry.from_torchlib = staticmethod(_registry)
    try:
        yield
    finally:
        ONNXRegistry.from_torchlib = read


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


def exportable(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The graph with functions that ONNX does not have as others that compute the same: layers of a
    transformer, which torch.nn has for inference, as the operators that such a layer is made of; norms
    of halves by parameters of float32, which torch.autocast leads to, as norms of float32."""
    if not any(node.target in _REPLACEMENTS for node in graph.graph.nodes
               if node.op == "call_function"):
        return graph
    nodes = copy.deepcopy(graph.graph)
    for node in nodes.nodes:
        if node.op == "call_function":
            node.target = _REPLACEMENTS.get(node.target, node.target)
    return torch.fx.GraphModule(graph, nodes)


def _norm(function: Callable) -> Callable:
    """A norm whose input and parameters are all of float32 where they were of several types."""
    def norm(x, *args, **kwargs):
        if all(given.dtype == x.dtype for given in (*args, *kwargs.values())
               if isinstance(given, torch.Tensor)):
            return function(x, *args, **kwargs)
        return function(x.float(), *map(_float, args),
                        **{name: _float(given) for name, given in kwargs.items()}).to(x.dtype)
    return norm


def _batch_norm(x, mean, variance, weight=None, bias=None, training=False, momentum=0.1,
                eps=1e-5) -> torch.Tensor:
    """As above; at inference of bfloat16, too, which the exporter would divide into two types."""
    rest = (training, momentum, eps)
    if x.dtype == torch.bfloat16 and not training:
        return F.batch_norm(*map(_float, (x, mean, variance, weight, bias)), *rest).to(x.dtype)
    return _norm(F.batch_norm)(x, mean, variance, weight, bias, *rest)


def _float(given: Any) -> Any:
    return given.float() if isinstance(given, torch.Tensor) else given


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


_REPLACEMENTS = {torch._transformer_encoder_layer_fwd: _encoder_layer,
                 torch._native_multi_head_attention: _attention,
                 F.batch_norm: _batch_norm,
                 **{f: _norm(f) for f in (F.group_norm, F.instance_norm, F.layer_norm, F.rms_norm)}}
