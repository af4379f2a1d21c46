// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// A chart on a canvas: points, lines, rules and marks over two axes. Each pixel is painted once, so
// that 100,000 points take milliseconds.

/** About `most` round values from low to high. */
function linearTicks(low, high, most) {
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(s => s * power).find(s => s >= rough * 0.999) || rough;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && ticks.length < 50; ++i) ticks.push(i * step || 0);  // no -0
  return ticks;
}

function logTicks(low, high, most) {
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks(low, high, most).filter(t => t > 0);
  const steps = decades > most ? [1] : decades > most / 2.5 ? [1, 3] : [1, 2, 5];
  const every = Math.max(1, Math.ceil(decades / most));
  const ticks = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); ++p) {
    if (((p % every) + every) % every !== 0) continue;
    for (const s of steps) {
      const tick = s * 10 ** p;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks.length >= 2 ? ticks : linearTicks(low, high, most).filter(t => t > 0);
}

class Axis {
  constructor(log) { this.log = log; this.low = Infinity; this.high = -Infinity; }
  include(value) {
    if (!Number.isFinite(value) || (this.log && value <= 0)) return;
    if (value < this.low) this.low = value;
    if (value > this.high) this.high = value;
  }
  finish(first, last, padding) {
    this.first = first;
    this.last = last;
    if (!(this.low <= this.high)) { this.low = this.log ? 0.1 : 0; this.high = 1; this.empty = true; }
    if (this.log) {
      const room = Math.max((this.high / this.low) ** padding, 1.02);
      this.low /= room; this.high *= room;
    } else {
      if (this.low > 0 && this.low < 0.4 * this.high) this.low = 0;
      const room = (this.high - this.low) * padding || Math.abs(this.high) * 0.05 || 0.5;
      if (this.low !== 0) this.low -= room;
      this.high += room;
    }
    this.a = this.log ? Math.log(this.low) : this.low;
    this.scale = (last - first) / ((this.log ? Math.log(this.high) : this.high) - this.a);
  }
  pixel(value) { return this.first + ((this.log ? Math.log(value) : value) - this.a) * this.scale; }
  value(pixel) {
    const at = (pixel - this.first) / this.scale + this.a;
    return this.log ? Math.exp(at) : at;
  }
  ticks(most) { return this.log ? logTicks(this.low, this.high, most) : linearTicks(this.low, this.high, most); }
}

/** Draws what is pending at most once a frame. */
class Canvas {
  constructor(height, label) {
    this.height = height;
    this.canvas = el('canvas', {role: 'img', 'aria-label': label, tabindex: '0'});
    this.tip = el('div', {class: 'tip', hidden: true});
    this.node = el('div', {class: 'plot'}, this.canvas, this.tip);
    this.canvas.style.height = height + 'px';
    this.pending = false;
    Canvas.all.add(this);
    new ResizeObserver(() => this.redraw()).observe(this.node);
  }
  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.paint(); });
  }
  /** Draws now: for printing, where no further frame comes. */
  paint() {
    this.width = this.node.clientWidth;
    if (this.width === 0) return;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.context = this.canvas.getContext('2d');
    this.context.scale(this.ratio, this.ratio);
    this.context.font = '12px system-ui, "DejaVu Sans", sans-serif';
    this.draw(this.context);
  }
  showTip(x, y, text) {
    this.tip.textContent = clean(text);
    this.tip.hidden = false;
    const left = x + 14 + this.tip.offsetWidth > this.width ? x - 14 - this.tip.offsetWidth : x + 14;
    this.tip.style.left = Math.max(0, left) + 'px';
    this.tip.style.top = Math.max(0, Math.min(y - 10, this.height - this.tip.offsetHeight)) + 'px';
  }
  hideTip() { this.tip.hidden = true; }
  say(text) { this.canvas.setAttribute('aria-label', clean(text)); }
}
Canvas.all = new Set();

const repaintAll = () => {
  for (const canvas of Canvas.all) {
    if (canvas.node.isConnected) canvas.paint(); else if (canvas.wasShown) Canvas.all.delete(canvas);
    canvas.wasShown = canvas.wasShown || canvas.node.isConnected;
  }
};
for (const query of ['(prefers-color-scheme: dark)', 'print']) {
  window.matchMedia(query).addEventListener('change', repaintAll);
}
window.addEventListener('beforeprint', repaintAll);

/**
 * data = {
 *   x: {label, log, format}, y: {label, log, format},
 *   points: [{x, y, color, size?, tip?: row => text}],   x and y are arrays, NaN: no point
 *   lines:  [{x, y, color, width?, steps?}],
 *   marks:  [{x, color, tip?}],                           ticks at the lower edge
 *   rules:  [{y, label}],                                 horizontal, dashed
 * }
 */
class Plot extends Canvas {
  constructor(height, label) {
    super(height, label);
    this.data = null;
    this.zoom = null;
    this.onzoom = () => {};
    this.canvas.addEventListener('pointermove', e => this.moved(e));
    this.canvas.addEventListener('pointerleave', () => { this.hideTip(); });
    this.canvas.addEventListener('pointerdown', e => this.pressed(e));
    this.canvas.addEventListener('pointerup', e => this.released(e));
    this.canvas.addEventListener('dblclick', () => this.setZoom(null));
    this.canvas.addEventListener('keydown', e => this.key(e));
  }
  set(data) { this.data = data; this.redraw(); }
  setZoom(range) { this.zoom = range; this.onzoom(range); this.redraw(); }

  scale() {
    const {x, y, points = [], lines = [], marks = [], rules = []} = this.data;
    this.x = new Axis(x.log);
    this.y = new Axis(y.log);
    const series = [...points, ...lines];
    const inView = v => !this.zoom || (v >= this.zoom[0] && v <= this.zoom[1]);
    for (const s of series) {
      for (let i = 0; i < s.x.length; ++i) {
        if (!inView(s.x[i]) || Number.isNaN(s.y[i])) continue;
        this.x.include(s.x[i]);
        this.y.include(s.y[i]);
      }
    }
    for (const m of marks) for (const v of m.x) if (inView(v)) this.x.include(v);
    if (!this.zoom) for (const r of rules) if (r.y < this.y.high * 3 && r.y > this.y.low / 3) this.y.include(r.y);
    if (this.zoom) { this.x.low = this.zoom[0]; this.x.high = this.zoom[1]; }
    this.y.finish(this.height - 40, 12, 0.05);
    const labels = this.y.ticks(7).map(y.format);
    const widest = Math.max(20, ...labels.map(l => this.context.measureText(l).width));
    this.left = Math.ceil(widest) + 30;
    this.x.finish(this.left, this.width - 14, this.zoom ? 0 : 0.01);
    if (this.zoom) { this.x.low = this.zoom[0]; this.x.high = this.zoom[1]; }
  }

  draw(c) {
    if (!this.data) return;
    this.scale();
    this.drawAxes(c);
    c.save();
    c.beginPath();
    c.rect(this.left, 4, this.width - this.left - 6, this.height - 40);
    c.clip();
    for (const s of this.data.points || []) this.drawPoints(c, s);
    for (const m of this.data.marks || []) this.drawMarks(c, m);
    for (const r of this.data.rules || []) this.drawRule(c, r);
    for (const s of this.data.lines || []) this.drawLine(c, s);
    c.restore();
    if (this.drag && Math.abs(this.drag[1] - this.drag[0]) > 3) {
      c.globalAlpha = 0.15;
      c.fillStyle = color('first');
      c.fillRect(this.drag[0], 8, this.drag[1] - this.drag[0], this.height - 48);
      c.globalAlpha = 1;
    }
  }

  drawAxes(c) {
    const {x, y} = this.data, bottom = this.height - 40;
    c.strokeStyle = color('grid');
    c.fillStyle = color('muted');
    c.lineWidth = 1;
    c.textBaseline = 'middle';
    c.textAlign = 'right';
    for (const tick of this.y.ticks(7)) {
      const at = Math.round(this.y.pixel(tick)) + 0.5;
      if (at < 8 || at > bottom + 1) continue;
      c.beginPath(); c.moveTo(this.left, at); c.lineTo(this.width - 8, at); c.stroke();
      c.fillText(y.format(tick), this.left - 6, at);
    }
    c.textBaseline = 'top';
    c.textAlign = 'center';
    for (const tick of this.x.ticks(Math.max(2, Math.floor(this.width / 110)))) {
      const at = this.x.pixel(tick);
      if (at < this.left - 1 || at > this.width - 8) continue;
      c.fillText(x.format(tick), Math.min(at, this.width - 24), bottom + 6);
    }
    c.strokeStyle = color('line');
    c.beginPath(); c.moveTo(this.left, bottom + 0.5); c.lineTo(this.width - 8, bottom + 0.5); c.stroke();
    c.fillText(x.label, (this.left + this.width) / 2, this.height - 16);
    c.save();
    c.translate(11, bottom / 2);
    c.rotate(-Math.PI / 2);
    c.textBaseline = 'middle';
    c.fillText(y.label, 0, 0);
    c.restore();
  }

  /** Of the points that fall on one place, one is painted. */
  drawPoints(c, series) {
    const size = series.size || (series.x.length < 300 ? 5 : series.x.length < 3000 ? 3.5 : 2.5), grid = Math.max(1, size / 2);
    const columns = Math.ceil(this.width / grid);
    const taken = new Uint8Array(columns * Math.ceil(this.height / grid + 1));
    c.fillStyle = color(series.color);
    let painted = 0;
    for (let i = 0; i < series.x.length; ++i) {
      const value = series.y[i];
      if (Number.isNaN(value) || (this.y.log && value <= 0)) continue;
      const x = this.x.pixel(series.x[i]), y = this.y.pixel(value);
      if (x < this.left - 2 || x > this.width || y < 0 || y > this.height) continue;
      const place = Math.floor(y / grid) * columns + Math.floor(x / grid);
      if (taken[place]) continue;
      taken[place] = 1;
      ++painted;
      if (size < 3) {
        c.fillRect(x - size / 2, y - size / 2, size, size);
      } else {
        c.beginPath();
        c.arc(x, y, size / 2, 0, 2 * Math.PI);
        c.fill();
      }
    }
    return painted;
  }

  drawMarks(c, marks) {
    const taken = new Uint8Array(Math.ceil(this.width) + 1);
    c.fillStyle = color(marks.color);
    for (let i = 0; i < marks.x.length; ++i) {
      const x = Math.round(this.x.pixel(marks.x[i]));
      if (x < this.left || x > this.width || taken[x]) continue;
      taken[x] = 1;
      c.fillRect(x, this.height - 48, 1, 8);
    }
  }

  drawRule(c, rule) {
    const at = Math.round(this.y.pixel(rule.y)) + 0.5;
    if (!Number.isFinite(at) || at < 4 || at > this.height - 40) return;
    c.strokeStyle = c.fillStyle = color('muted');
    c.setLineDash([5, 4]);
    c.beginPath(); c.moveTo(this.left, at); c.lineTo(this.width - 8, at); c.stroke();
    c.setLineDash([]);
    c.textAlign = 'right';
    c.textBaseline = at < 24 ? 'top' : 'bottom';
    c.fillText(rule.label, this.width - 14, at + (at < 24 ? 3 : -3));
  }

  /** Of points in one column of pixels the first, the extremes and the last are joined. */
  drawLine(c, line) {
    c.strokeStyle = color(line.color);
    c.lineWidth = line.width || 2;
    c.lineJoin = 'round';
    c.beginPath();
    let column = null, last = null, low = 0, high = 0, begun = false;
    const flush = () => {
      if (column === null) return;
      c.lineTo(column, low);
      c.lineTo(column, high);
      c.lineTo(column, last);
    };
    for (let i = 0; i < line.x.length; ++i) {
      const value = line.y[i];
      if (Number.isNaN(value) || (this.y.log && value <= 0)) continue;
      const x = Math.round(this.x.pixel(line.x[i]) * 2) / 2, y = this.y.pixel(value);
      if (x !== column) {
        flush();
        if (!begun) c.moveTo(x, y); else { if (line.steps) c.lineTo(x, last); c.lineTo(x, y); }
        begun = true;
        column = x;
        low = high = y;
      }
      low = Math.min(low, y);
      high = Math.max(high, y);
      last = y;
    }
    flush();
    c.stroke();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  moved(event) {
    if (!this.data || !this.x) return;
    const [x, y] = this.place(event);
    if (this.drag) { this.drag[1] = x; this.redraw(); return; }
    let nearest = null, least = 14 * 14;
    const look = (series, is_mark) => {
      if (!series.tip) return;
      for (let i = 0; i < series.x.length; ++i) {
        if (!is_mark && Number.isNaN(series.y[i])) continue;
        const dx = this.x.pixel(series.x[i]) - x;
        if (dx > 14 || dx < -14) continue;
        const dy = (is_mark ? this.height - 44 : this.y.pixel(series.y[i])) - y;
        const distance = dx * dx + dy * dy;
        if (distance < least) { least = distance; nearest = [series, i]; }
      }
    };
    for (const series of this.data.points || []) look(series, false);
    for (const marks of this.data.marks || []) look(marks, true);
    if (nearest) this.showTip(x, y, nearest[0].tip(nearest[1])); else this.hideTip();
  }

  pressed(event) {
    if (!this.data || event.button !== 0 || event.pointerType === 'touch') return;
    const [x] = this.place(event);
    this.drag = [x, x];
    this.canvas.setPointerCapture(event.pointerId);
    this.hideTip();
  }

  released() {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    if (Math.abs(drag[1] - drag[0]) > 8) {
      const range = drag.map(p => this.x.value(Math.max(p, this.left))).sort((a, b) => a - b);
      this.setZoom(range);
    } else {
      this.redraw();
    }
  }

  /** The arrow keys move, + and - zoom. */
  key(event) {
    if (!this.x || this.x.empty) return;
    const [low, high] = this.zoom || [this.x.low, this.x.high];
    const width = high - low, middle = (low + high) / 2;
    const ranges = {
      ArrowLeft: [low - width / 5, high - width / 5], ArrowRight: [low + width / 5, high + width / 5],
      '+': [middle - width / 4, middle + width / 4], '-': [middle - width, middle + width],
      '0': null, Escape: null,
    };
    if (!(event.key in ranges)) return;
    event.preventDefault();
    this.setZoom(ranges[event.key]);
  }
}
