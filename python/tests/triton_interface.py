# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What bayloom.triton uses of Triton, without a compiler and a device: a kernel is a function of
Python, and a device is a table of times. Tests install it as the module `triton`."""

import inspect
import sys
import types


class Config:
    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None):
        self.kwargs = kwargs
        self.num_warps, self.num_stages, self.num_ctas = num_warps, num_stages, num_ctas
        self.pre_hook = pre_hook

    def all_kwargs(self):
        return {**self.kwargs, "num_warps": self.num_warps, "num_ctas": self.num_ctas,
                "num_stages": self.num_stages}


class Kernel:
    """A `triton.jit` kernel: called with a grid and constants beside its arguments."""

    def __init__(self, function):
        self.fn = function
        self.arg_names = list(inspect.signature(function).parameters)

    def run(self, *args, grid=None, num_warps=4, num_stages=3, num_ctas=1, **kwargs):
        del grid, num_warps, num_stages, num_ctas
        return self.fn(*args, **kwargs)

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)


class Autotuner:
    """Triton's: times what `prune_configs` leaves, unless it is one alone."""

    def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, pre_hook=None,
                 post_hook=None, prune_configs_by=None, warmup=None, rep=None,
                 use_cuda_graph=False, do_bench=None):
        del warmup, rep, use_cuda_graph, restore_value, post_hook
        self.fn, self.arg_names, self.configs, self.keys = fn, arg_names, configs, key
        self.reset_to_zero = list(reset_to_zero or ())
        self.do_bench = do_bench
        self.early_config_prune = (prune_configs_by or {}).get("early_config_prune")
        self.base_fn = fn.fn
        self.cache = {}
        self.pre_hook = pre_hook or self._reset
        self.best_config = None

    def _reset(self, arguments, reset_only=False):
        del reset_only
        for name in self.reset_to_zero:
            arguments[name][:] = [0] * len(arguments[name])

    def prune_configs(self, kwargs):
        if self.early_config_prune:
            return self.early_config_prune(self.configs, self.nargs, **kwargs)
        return self.configs

    def _bench(self, *args, config, **meta):
        current = {**meta, **config.all_kwargs()}

        def call():
            self.pre_hook({**self.nargs, **current})
            self.fn.run(*args, **current)

        return self.do_bench(call, quantiles=(0.5, 0.2, 0.8))

    def run(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        key = tuple({**self.nargs, **kwargs}.get(name) for name in self.keys)
        if key not in self.cache:
            left = self.prune_configs(kwargs)
            assert len(left) == 1, "one is left, which is not timed again"
            self.cache[key] = left[0]
        self.best_config = self.cache[key]
        return self.fn.run(*args, **kwargs, **self.best_config.all_kwargs())

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None,
             pre_hook=None, post_hook=None, warmup=None, rep=None, use_cuda_graph=False,
             do_bench=None):
    del configs, key, prune_configs_by, reset_to_zero, restore_value, pre_hook, post_hook
    del warmup, rep, use_cuda_graph, do_bench


def install(monkeypatch):
    """As `import triton` finds it; the kernels' decorator is `triton.jit`."""
    module = types.ModuleType("triton")
    module.Config, module.autotune, module.jit = Config, autotune, Kernel
    driver = types.SimpleNamespace(active=types.SimpleNamespace(
        get_current_target=lambda: types.SimpleNamespace(backend="table", arch=1)))
    runtime = types.ModuleType("triton.runtime")
    runtime.driver = driver
    tuner = types.ModuleType("triton.runtime.autotuner")
    tuner.Autotuner = Autotuner
    module.runtime, runtime.autotuner = runtime, tuner
    for name, each in (("triton", module), ("triton.runtime", runtime),
                       ("triton.runtime.autotuner", tuner)):
        monkeypatch.setitem(sys.modules, name, each)
    monkeypatch.delitem(sys.modules, "bayloom.triton", raising=False)
    return module
