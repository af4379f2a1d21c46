// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Quantities as people read them: three significant digits and the fitting unit, as on the command
// line (report/format.h).

const isNumber = v => typeof v === 'number' && Number.isFinite(v);

function threeDigits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function formatSeconds(seconds) {
  if (!isNumber(seconds)) return '\u2013';
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  if (size < 0.9995e-6) return threeDigits(seconds * 1e9) + ' ns';
  if (size < 0.9995e-3) return threeDigits(seconds * 1e6) + ' \u00b5s';
  if (size < 0.9995) return threeDigits(seconds * 1e3) + ' ms';
  if (size < 59.95) return threeDigits(seconds) + ' s';
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole % 3600 / 60)} min`;
}

function withPrefix(value, unit) {
  if (!isNumber(value)) return '\u2013';
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let i = 0;
  while (Math.abs(value) >= 999.5 && i + 1 < prefixes.length) { value /= 1000; ++i; }
  return `${threeDigits(value)} ${prefixes[i]}${unit}`;
}

const formatRate = v => withPrefix(v, 'FLOP/s');
const formatCount = n => isNumber(n) ? Math.round(n).toLocaleString('en-US') : '\u2013';
const formatRatio = r => isNumber(r) ? threeDigits(r) + '\u00d7' : '\u2013';
const formatPercent = (p, digits = 1) => isNumber(p) ? (100 * p).toFixed(digits) + ' %' : '\u2013';
/** Picojoules with three significant digits. */
function formatEnergy(pj) {
  if (!isNumber(pj)) return '\u2013';
  const units = ['pJ', 'nJ', '\u00b5J', 'mJ', 'J'];
  let i = 0;
  while (Math.abs(pj) >= 999.5 && i + 1 < units.length) { pj /= 1000; ++i; }
  return `${threeDigits(pj)} ${units[i]}`;
}

/** What a run found, in its unit: "pJ/MAC", "cycles", "pJ cycles", or as a plain number. */
function formatRunValue(run, value) {
  if (!run.unit || !isNumber(value)) return formatValue(value);
  if (run.unit === 'pJ cycles') return formatEnergy(value) + ' cycles';
  return `${run.unit === 'cycles' ? formatCount(value) : formatValue(value)} ${run.unit}`;
}

/** What a search found, in any unit: six significant digits. */
function formatValue(value) {
  if (!isNumber(value)) return '\u2013';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(4).replace('e+', 'e');
  return String(Number(value.toPrecision(6)));
}

/** Microseconds since 1970 as local time. */
function formatTime(microseconds) {
  const date = new Date(microseconds / 1000);
  if (Number.isNaN(date.getTime())) return '\u2013';
  const two = n => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** A cell of a configuration: a value, a text or a list. */
function formatCell(value) {
  if (value === null || value === undefined) return '\u2013';
  if (typeof value === 'number') return formatValue(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
