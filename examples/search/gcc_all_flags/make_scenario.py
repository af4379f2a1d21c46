#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Writes a scenario of all optimization flags and --params that the installed gcc names.

    python3 examples/search/gcc_all_flags/make_scenario.py stencil.c > stencil.json
    bayloom search stencil.json --trials 300

The default configuration is -O3. A flag is on or off; a --param has the range that gcc gives it,
or, where it gives none, from an eighth to eight times its default. Params of one pass are active
only where the flag of that pass is on. Left out is what changes what a program means (see
MEANING), and what does not concern the speed of a program (see ELSEWHERE).
"""

import argparse
import json
import os
import re
import subprocess
import sys

# Changes the results of a correct program, its interface, or what it may be linked with.
MEANING = set("""
associative-math cx-limited-range cx-fortran-rules finite-math-only float-store fp-int-builtin-inexact
math-errno non-call-exceptions pack-struct reciprocal-math reg-struct-return rounding-math short-enums
short-wchar signaling-nans signed-zeros single-precision-constant trapping-math trapv
unconstrained-commons unsafe-math-optimizations wrapv wrapv-pointer finite-loops
allow-store-data-races harden-compares harden-conditional-branches keep-gc-roots-live strict-aliasing
""".split())

# Reports, debugging information, protection, profiles, and libraries.
ELSEWHERE = re.compile(r"""
opt-info|save-optimization-record|var-tracking|stack-protector|stack-clash|profile|vpt$|unwind-tables|
branch-probabilities$|debug|analyzer|asan|tsan|ggc-|lto-|hash-table|ssp-|use-canonical-types|cxx-|
lazy-modules|tm-max|uninit-|tracked-strlens|nondebug|parloops|openacc|ranger-|threader-|
delete-dead-exceptions|plt$|semantic-interposition|use-after-scope|verification|integer-share|
interference-size|stack-size|vartrack|codegen-errors|pagesize|diagnostic|parallelize|delay-slot
""", re.VERBOSE)

# The flag of the pass that a param belongs to, by how the param's name begins.
PASSES = {
    "gcse-": "gcse", "graphite-": "graphite_identity", "ipa-cp-": "ipa_cp", "ipa-sra-": "ipa_sra",
    "iv-": "ivopts", "loop-block-": "loop_nest_optimize", "loop-interchange-": "loop_interchange",
    "loop-versioning-": "version_loops_for_strides", "max-gcse-": "gcse",
    "max-unroll": "unroll_loops", "max-average-unrolled": "unroll_loops",
    "max-variable-expansions": "variable_expansion_in_unroller",
    "max-unswitch": "unswitch_loops", "max-crossjump": "crossjumping",
    "min-crossjump": "crossjumping", "max-peel-": "peel_loops", "max-slsr": "tree_slsr",
    "max-store": "store_merging", "store-merging-": "store_merging", "modref-": "ipa_modref",
    "partial-inlining-": "partial_inlining", "prefetch-": "prefetch_loop_arrays",
    "simultaneous-prefetches": "prefetch_loop_arrays", "min-insn-to-prefetch": "prefetch_loop_arrays",
    "sched-pressure-": "sched_pressure", "selsched-": "selective_scheduling2",
    "sms-": "modulo_sched", "max-modulo": "modulo_sched", "sra-": "tree_sra",
    "switch-conversion-": "tree_switch_conversion", "tracer-": "tracer",
    "unroll-jam-": "loop_unroll_and_jam", "vect-": "tree_loop_vectorize",
    "max-pipeline-region": "selective_scheduling2", "dse-": "tree_dse",
    "max-partial-antic": "tree_pre", "max-tail-merge": "tree_tail_merge",
    "max-rtl-if-conversion": "if_conversion",
}

# Flags that have a choice of values.
CHOICES = re.compile(r"-f([\w-]+)=\[([\w|-]+)\]")


def listed(what: str) -> list:
    text = subprocess.run(["gcc", "-O3", "-Q", f"--help={what}"], check=True, capture_output=True,
                          text=True, env={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin"})
    return [line.split() for line in text.stdout.splitlines() if line.startswith("  -")]


def flags() -> dict:
    """Parameters of flags: on or off, or one of some values."""
    parameters = {}
    for words in listed("optimizers"):
        option, state = words[0], words[1] if len(words) > 1 else ""
        choice = CHOICES.fullmatch(option)
        if choice and state in choice[2].split("|"):
            if choice[1] in ("fp-contract", "trivial-auto-var-init"):
                continue
            parameters[choice[1].replace("-", "_") + "_choice"] = {
                "type": "categorical", "default": f"-f{choice[1]}={state}",
                "values": [f"-f{choice[1]}={value}" for value in choice[2].split("|")]}
            continue
        name = option.removeprefix("-f")
        if state not in ("[enabled]", "[disabled]") and name != "prefetch-loop-arrays":
            continue
        if not option.startswith("-f") or name in MEANING or ELSEWHERE.search(name):
            continue
        on, off = f"-f{name}", f"-fno-{name}"
        parameters[name.replace("-", "_")] = {
            "type": "categorical", "values": [off, on],
            "default": on if state == "[enabled]" else off}
    return parameters


def params(flags_known: dict) -> dict:
    """Parameters of --params: whole numbers."""
    parameters = {}
    for words in listed("params"):
        if len(words) < 2 or not re.fullmatch(r"-?\d+", words[1]):
            continue
        name, _, bounds = words[0].removeprefix("--param=").partition("=")
        if ELSEWHERE.search(name):
            continue
        default = int(words[1])
        if bounds:
            low, high = (int(end) for end in bounds.strip("<>").split(","))
        else:
            low, high = default // 8, max(8 * default, 8)
        if default < 0 or not low <= default <= high:  # "as the target wants it"
            continue
        parameter = {"type": "integer", "range": [low, high], "default": default}
        if low > 0 and high >= 16 * low:
            parameter["scale"] = "log"
        flag = next((f for begin, f in PASSES.items() if name.startswith(begin)), None)
        if flag in flags_known:
            parameter["active_if"] = f"{flag} == '-f{flag.replace('_', '-')}'"
        parameters["p_" + name.replace("-", "_")] = parameter
    return parameters


def escaped(path: str) -> str:
    """As it stands for itself in a scenario's command."""
    return path.replace("{", "{{").replace("}", "}}")


def main() -> None:
    parser = argparse.ArgumentParser(description="A scenario of all flags of the installed gcc.")
    parser.add_argument("program", help="a C program: a path, or a name in this example's folder: stencil.c, "
                        "sort.c, toolbox.c")
    parser.add_argument("--instructions", action="store_true",
                        help="count instructions (by valgrind), which has no noise, not time")
    parser.add_argument("--flat", action="store_true", help="without conditions")
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--timeout", type=int, default=60, metavar="SECONDS",
                        help="of a trial (default: 60); more on a busy machine")
    arguments = parser.parse_args()
    of_flags = flags()
    of_params = params(of_flags)
    if arguments.flat:
        for parameter in of_params.values():
            parameter.pop("active_if", None)
    here = os.path.dirname(os.path.abspath(__file__))
    program = next((path for path in (os.path.abspath(arguments.program),
                                      os.path.join(here, arguments.program))
                    if os.path.isfile(path)), None)
    if program is None:
        parser.error(f"there is no program '{arguments.program}', neither as a path nor in {here}")
    command = ["python3", escaped(os.path.join(here, "measure.py")), "--work", "{work}"]
    command += ["--instructions"] if arguments.instructions else []
    command += [escaped(program), "--", "-O3"]
    command += [f"{{{name}}}" for name in of_flags]
    command += [f"--param={name.removeprefix('p_').replace('_', '-')}={{{name}}}"
                for name in of_params]
    objective = "instructions" if arguments.instructions else "ratio"
    json.dump({"name": "gcc-" + os.path.basename(program).removesuffix(".c"),
               "parameters": {**of_flags, **of_params}, "minimize": objective,
               "evaluator": {"command": command, "timeout": f"{arguments.timeout}s"},
               "budget": {"trials": arguments.trials}, "seed": 1}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
