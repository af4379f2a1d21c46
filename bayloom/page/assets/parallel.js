// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Parallel coordinates: an axis for each parameter and for the objective, a line for each trial.

/** Lines that can be told apart; of more trials, the best and an even choice of the others. */
const MAX_LINES = 2000;

class Coordinate {
  constructor(name, values, listed) {
    this.name = name;
    this.values = values;
    this.range = null;  // what is selected, as pixels
    const numbers = values.filter(v => v !== null);
    this.is_numeric = numbers.length > 0 && numbers.every(v => typeof v === 'number') && !(listed && listed.length <= 12);
    if (this.is_numeric) {
      const low = numbers.reduce((a, b) => Math.min(a, b)), high = numbers.reduce((a, b) => Math.max(a, b));
      this.axis = new Axis(low > 0 && high > 20 * low);
      this.axis.include(low);
      this.axis.include(high);
    } else {
      const known = listed ? listed.map(String) : [];
      const extra = [...new Set(numbers.map(formatCell))].filter(v => !known.includes(v));
      this.categories = listed ? [...listed.map(formatCell), ...extra.filter(v => !listed.map(formatCell).includes(v))] : extra.sort();
      this.places = new Map(this.categories.map((c, i) => [c, i]));
    }
  }
  setHeight(top, bottom) {
    this.top = top;
    this.bottom = bottom;
    if (this.is_numeric) {
      // Its extremes are the ends of the axis.
      const {low, high, log} = this.axis;
      this.a = log ? Math.log(low) : low;
      this.b = log ? Math.log(high) : high;
    }
  }
  pixel(row) {
    const value = this.values[row];
    if (value === null || value === undefined) return NaN;
    const height = this.bottom - this.top;
    if (this.is_numeric) {
      const at = this.axis.log ? Math.log(value) : value;
      return this.b === this.a ? this.top + height / 2 : this.bottom - (at - this.a) / (this.b - this.a) * height;
    }
    const n = this.categories.length;
    return this.bottom - (n === 1 ? 0.5 : this.places.get(formatCell(value)) / (n - 1)) * height;
  }
  labels() {
    const height = this.bottom - this.top;
    if (this.is_numeric) {
      if (this.b === this.a) return [[formatValue(this.axis.low), this.top + height / 2]];
      return [0, 0.25, 0.5, 0.75, 1].map(p => {
        const at = this.a + p * (this.b - this.a);
        const value = p === 0 ? this.axis.low : p === 1 ? this.axis.high : this.axis.log ? Math.exp(at) : at;
        return [formatValue(Number(value.toPrecision(3))), this.bottom - p * height];
      });
    }
    const n = this.categories.length, every = Math.ceil(n / 16);
    return this.categories.map((c, i) => [c, this.bottom - (n === 1 ? 0.5 : i / (n - 1)) * height]).filter((_, i) => i % every === 0);
  }
  contains(row) {
    if (!this.range) return true;
    const at = this.pixel(row);
    return at >= this.range[0] && at <= this.range[1];
  }
}

class ParallelPlot extends Canvas {
  constructor(height, label) {
    super(height, label);
    this.coordinates = [];
    this.canvas.addEventListener('pointerdown', e => this.pressed(e));
    this.canvas.addEventListener('pointermove', e => this.moved(e));
    this.canvas.addEventListener('pointerup', () => this.released());
    this.canvas.addEventListener('dblclick', () => { for (const c of this.coordinates) c.range = null; this.redraw(); });
  }
  /** columns: [{name, values, listed}], the objective last; quality: 0 for the best, 1 for the worst. */
  set(columns, quality) {
    const ranges = new Map(this.coordinates.map(c => [c.name, c.range]));
    this.coordinates = columns.map(c => new Coordinate(c.name, c.values, c.listed));
    for (const c of this.coordinates) c.range = ranges.get(c.name) || null;
    this.quality = quality;
    const order = [...quality.keys()].sort((a, b) => quality[b] - quality[a]);  // the best on top
    if (order.length > MAX_LINES) {
      const best = order.slice(-MAX_LINES / 2), rest = order.slice(0, -MAX_LINES / 2);
      const step = rest.length / (MAX_LINES / 2);
      this.rows = [...Array.from({length: MAX_LINES / 2}, (_, i) => rest[Math.floor(i * step)]), ...best];
    } else {
      this.rows = order;
    }
    this.redraw();
  }
  static shade(quality) {
    // From the first color through grey to the second: also apart for readers who see no red or green.
    return quality < 0.1 ? 'second' : quality < 0.4 ? 'first' : 'faint';
  }
  draw(c) {
    const n = this.coordinates.length;
    if (n === 0) return;
    const left = 60, right = this.width - 90;
    this.coordinates.forEach((k, i) => {
      k.x = n === 1 ? left : left + i * (right - left) / (n - 1);
      k.setHeight(44, this.height - 14);
    });
    const chosen = this.rows.filter(row => this.coordinates.every(k => k.contains(row)));
    const is_brushed = chosen.length < this.rows.length;
    if (is_brushed) for (const row of this.rows) this.drawTrial(c, row, 'faint', 0.12);
    for (const row of chosen) this.drawTrial(c, row, ParallelPlot.shade(this.quality[row]), chosen.length > 500 ? 0.35 : 0.6);
    this.drawAxes(c);
  }
  drawTrial(c, row, name, alpha) {
    c.globalAlpha = alpha;
    c.strokeStyle = color(name);
    c.lineWidth = name === 'second' ? 1.4 : 1;
    c.beginPath();
    for (const k of this.coordinates) {
      const y = k.pixel(row);
      if (!Number.isNaN(y)) c.lineTo(k.x, y);
    }
    c.stroke();
    c.globalAlpha = 1;
  }
  drawAxes(c) {
    const room = this.coordinates.length > 1 ? this.coordinates[1].x - this.coordinates[0].x : 200;
    for (const [i, k] of this.coordinates.entries()) {
      c.strokeStyle = color('fg');
      c.lineWidth = 1;
      c.beginPath(); c.moveTo(k.x, k.top); c.lineTo(k.x, k.bottom); c.stroke();
      if (k.range) {
        c.globalAlpha = 0.3;
        c.fillStyle = color('first');
        c.fillRect(k.x - 6, k.range[0], 12, k.range[1] - k.range[0]);
        c.globalAlpha = 1;
      }
      c.fillStyle = color('fg');
      c.textAlign = 'center';
      c.textBaseline = 'bottom';
      c.fillText(cut(c, clean(k.name), room - 8), k.x, i % 2 && room < 90 ? 20 : 36);
      c.textAlign = 'left';
      c.textBaseline = 'middle';
      for (const [text, y] of k.labels()) {
        const shown = cut(c, clean(text), Math.max(24, Math.min(room, 88) - 12));
        c.fillStyle = color('bg');
        c.globalAlpha = 0.75;
        c.fillRect(k.x + 4, y - 7, c.measureText(shown).width + 4, 14);
        c.globalAlpha = 1;
        c.fillStyle = color('muted');
        c.fillText(shown, k.x + 6, y);
      }
    }
  }
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    return [this.coordinates.find(k => Math.abs(k.x - x) < 14), y];
  }
  pressed(event) {
    const [coordinate, y] = this.at(event);
    if (!coordinate) return;
    this.brush = {coordinate, from: y};
    coordinate.range = null;
    this.canvas.setPointerCapture(event.pointerId);
    this.redraw();
  }
  moved(event) {
    if (!this.brush) { this.canvas.style.cursor = this.at(event)[0] ? 'ns-resize' : 'default'; return; }
    const [, y] = this.at(event);
    this.brush.coordinate.range = Math.abs(y - this.brush.from) < 4 ? null : [Math.min(y, this.brush.from), Math.max(y, this.brush.from)];
    this.redraw();
  }
  released() { this.brush = null; }
}

/** A text that fits so many pixels. */
function cut(context, text, pixels) {
  if (context.measureText(text).width <= pixels) return text;
  while (text.length > 1 && context.measureText(text + '\u2026').width > pixels) text = text.slice(0, -1);
  return text + '\u2026';
}
