#!/bin/sh
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Synthesizes, places and routes the design, and prints lanes times megahertz.
#
#   flow.sh WORK_FOLDER LANES STAGES ABC RETIME PLACER ROUTER TIMING
set -eu
here=$(dirname "$0")
work=$1 lanes=$2 stages=$3 abc=$4 retime=$5 placer=$6 router=$7 timing=$8

yosys -q -p "read_verilog $here/macs.v; chparam -set LANES $lanes -set STAGES $stages macs;
  synth_ice40 -top macs $abc $retime -json $work/macs.json" >"$work/yosys.log" 2>&1 || {
  tail -n 1 "$work/yosys.log" >&2
  exit 1
}
nextpnr-ice40 --hx1k --package tq144 --json "$work/macs.json" --freq 100 --seed 1 \
  --placer "$placer" --router "$router" $timing \
  --pcf-allow-unconstrained --timing-allow-fail >"$work/nextpnr.log" 2>&1 || {
  grep ERROR "$work/nextpnr.log" | head -n 1 >&2
  exit 1
}
sed -n "s/.*Max frequency for clock.*: \([0-9.]*\) MHz.*/\1/p" "$work/nextpnr.log" | tail -n 1 |
  awk -v lanes="$lanes" '{ print lanes * $1 }'
