// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The charts of a run. Each is an object with a node and an update().

const LEVEL_COLORS = ['first', 'second', 'third', 'fourth'];

const formatTick = v => formatValue(Number(v.toPrecision(4)));

/** The best value so far, and every single trial. */
class ConvergenceChart {
  constructor(database, run) {
    this.database = database;
    this.id = run.id;
    this.task = null;
    this.over_time = false;
    this.log = null;  // as the values suggest
    this.plot = new Plot(360, 'Every trial and the best so far');
    this.legend = el('div', {class: 'legend'});
    this.controls = el('div', {class: 'controls'});
    this.reset = el('button', {type: 'button', disabled: true, onclick: () => this.plot.setZoom(null)}, 'Whole range');
    this.plot.onzoom = range => { this.reset.disabled = range === null; };
    this.caption = el('p', {class: 'caption'});
    this.node = el('section', {'aria-label': 'Convergence'}, el('h3', null, 'Convergence'), this.controls, this.plot.node, this.legend, this.caption);
    this.makeControls(run);
    this.update();
  }

  makeControls(run) {
    const trials = this.database.trialsOf(this.id);
    const choose = set => value => { set(value); this.plot.setZoom(null); this.update(); };
    this.shown_tasks = hasTasks(run) ? run.tasks.length : 0;
    const tasks = this.shown_tasks > 1
      ? choiceOf('Show', [['', 'all tasks together'], ...run.tasks.map(t => [t.task, `${t.task}: ${this.database.taskName(t.task)}`])],
        this.task === null ? '' : this.task, choose(v => { this.task = v === '' ? null : Number(v); }))
      : null;
    fill(this.controls, tasks,
      hasTimes(trials) ? choiceOf('over', [['trials', 'trials'], ['time', 'time']], this.over_time ? 'time' : 'trials', choose(v => { this.over_time = v === 'time'; })) : null,
      this.log_box = tick('logarithmic', false, on => { this.log = on; this.update(); }), this.reset);
  }

  update() {
    const run = this.database.runs.get(this.id), trials = this.database.trialsOf(this.id);
    if (hasTasks(run) && run.tasks.length !== this.shown_tasks) this.makeControls(run);
    const only = hasTasks(run) && run.tasks.length === 1 ? run.tasks[0].task : this.task;
    const {y, best} = courseOf(this.database, run, only), n = trials.count;
    const is_time = hasTasks(run), format = is_time ? formatSeconds : run.unit === 'pJ cycles' ? formatEnergy : formatTick;
    const x = this.over_time ? trials.elapsed.data.subarray(0, n) : Float64Array.from({length: n}, (_, i) => i + 1);
    const exact = new Float64Array(y), rough = new Float64Array(n).fill(NaN), failed = [], failed_rows = [];
    let low = Infinity, high = 0, roughly = 0;
    for (let i = 0; i < n; ++i) {
      if (!trials.isOk(i) && (only === null || trials.task.data[i] === only)) { failed.push(x[i]); failed_rows.push(i); }
      if (!Number.isNaN(y[i])) { low = Math.min(low, y[i]); high = Math.max(high, y[i]); }
      if (trials.isRough(i) && !Number.isNaN(y[i])) { rough[i] = y[i]; exact[i] = NaN; ++roughly; }
    }
    const log = this.log === null ? low > 0 && (is_time || high > 8 * low) : this.log && low > 0;
    this.log_box.firstChild.checked = log;
    this.log_box.firstChild.disabled = !(low > 0);
    const describe = i => {
      const own = is_time ? formatSeconds(trials.value.data[i]) : formatRunValue(run, trials.value.data[i]);
      const parts = [`trial ${trials.ordinal.data[i]}, ${trials.isOk(i) ? own : trials.verdict.at(i)}${trials.isRough(i) ? ' (measured roughly)' : ''}`];
      if (trials.task.data[i] > 0) parts.push(this.database.taskName(trials.task.data[i]));
      if (only === null && is_time && trials.isOk(i)) parts.push(`the whole would take ${format(y[i])}`);
      if (trials.reason.at(i)) parts.push(trials.reason.at(i));
      const named = [...trials.parameters].slice(0, 12).map(([name, values]) => `${name} = ${formatCell(values[i])}`);
      return [...parts, ...named].join('\n');
    };
    const rules = [];
    if (only !== null) {
      const program = this.database.programOf(only, run.target);
      if (program && program.measured && isNumber(program.measured.default_seconds)) rules.push({y: program.measured.default_seconds, label: 'default program'});
      if (program && isNumber(program.roofline)) rules.push({y: program.roofline, label: 'roofline'});
    } else if (is_time) {
      const gain = gainOf(this.database, run);
      if (gain) rules.push({y: gain.reference, label: gain.of});
    } else {
      const gain = gainOf(this.database, run);
      if (gain) rules.push({y: gain.reference, label: gain.of});
    }
    const has_best = best.some(v => !Number.isNaN(v));
    this.plot.set({
      x: {label: this.over_time ? 'time of the run' : 'trials', log: false, format: this.over_time ? formatSeconds : v => formatCount(v)},
      y: {label: is_time ? (only === null ? 'latency' : 'time of the task') : (run.objective || 'value') + (run.unit ? `, ${run.unit.replace('pJ ', '')}` : ''), log, format},
      points: [{x, y: rough, color: 'faint', tip: describe}, {x, y: exact, color: 'dot', tip: describe}],
      lines: has_best ? [{x, y: best, color: 'first', steps: true}] : [],
      marks: failed.length ? [{x: failed, color: 'bad', tip: i => describe(failed_rows[i])}] : [],
      rules,
    });
    const key = (c, name) => el('span', null, el('span', {class: 'key ' + c}), name);
    fill(this.legend, key('', is_time && only === null ? 'with the best programs so far' : 'best so far'), key('dot', `trials (${formatCount(n)} in all)`),
      roughly ? key('faint', 'measured roughly: clearly slower than the best') : null,
      failed.length ? key('failed', `without a value (${formatCount(failed.length)})`) : null,
      rules.map(r => key('rule', `${r.label}: ${format(r.y)}`)));
    fill(this.caption, is_time && only === null
      ? 'A dot is the time of the whole network if its task ran with the program of that trial and all others with their best so far. Until a task has a program, it counts as its zero-trial program is estimated. What the whole takes inside of the network can differ: the line of the zero-trial programs was timed there. Drag to zoom; the arrow keys, + and - work as well.'
      : 'Drag to zoom; the arrow keys, + and - work as well.');
    const last = best[n - 1];
    this.plot.say(`${run.name}: ${n} trials; the best after the last is ${format(last)}`);
  }
}

/** How well the cost model predicted each batch before it learnt from it. */
class LearningChart {
  constructor(database, run) {
    this.database = database;
    this.id = run.id;
    this.plot = new Plot(220, 'Predictions of the cost model, batch by batch');
    this.legend = el('div', {class: 'legend'});
    this.node = el('div', null, el('h3', null, 'Cost model'), this.plot.node, this.legend,
      el('p', {class: 'caption'}, 'How well each batch of trials was predicted before it was learnt: means of each twentieth of the batches.'));
    this.update();
  }
  static has(database, run) {
    const learning = database.learning.get(run.id);
    return learning !== undefined && LearningChart.MEASURES.some(([name]) => (learning.metrics[name] || []).length > 1);
  }
  update() {
    const {metrics} = this.database.learning.get(this.id);
    const lines = [];
    const keys = [];
    for (const [name, label, c, place] of LearningChart.MEASURES) {
      const values = (metrics[name] || []).filter(([, value]) => isNumber(value));
      if (values.length < 2) continue;
      const size = Math.max(1, Math.ceil(values.length / 20)), x = [], y = [];
      for (let i = 0; i < values.length; i += size) {
        const part = values.slice(i, i + size);
        x.push(i + part.length);
        y.push(part.reduce((sum, [, value]) => sum + value, 0) / part.length);
      }
      lines.push({x, y, color: c});
      keys.push(el('span', null, el('span', {class: 'key ' + place}), label));
    }
    this.plot.set({x: {label: 'batches', log: false, format: formatTick}, y: {label: 'share', log: false, format: formatTick}, lines});
    fill(this.legend, keys);
  }
}
LearningChart.MEASURES = [
  ['spearman', 'rank correlation', 'first', 'c1'], ['pairwise_accuracy', 'pairs in order', 'second', 'c2'],
  ['top_recall', 'recall of the best quarter', 'third', 'c3'], ['rmse', 'root mean squared error', 'fourth', 'c4'],
];

/** What else the machine did while it measured. */
class LoadChart {
  constructor(database, run) {
    this.database = database;
    this.id = run.id;
    this.plot = new Plot(200, 'Load of the machine');
    this.node = el('div', null, el('h3', null, 'Load of the machine'), this.plot.node,
      el('p', {class: 'caption'}, 'How much slower the best program ran when it was timed again beside later trials than at first: 1 means that the machine was as before. Where nothing was recorded, it did not change.'));
    this.update();
  }
  static has(database, run) { return database.trialsOf(run.id).details.has('drift'); }
  update() {
    const trials = this.database.trialsOf(this.id), drift = trials.details.get('drift');
    const x = Float64Array.from({length: trials.count}, (_, i) => i + 1);
    const y = drift.data.subarray(0, trials.count);
    this.plot.set({
      x: {label: 'trials', log: false, format: v => formatCount(v)}, y: {label: 'slowdown', log: false, format: formatRatio},
      points: [{x, y, color: 'second', tip: i => `trial ${trials.ordinal.data[i]}: ${formatRatio(y[i])}`}], rules: [{y: 1, label: 'as before'}],
    });
  }
}

/** Named values that say how a trial was measured, not how good it is. */
const MEASUREMENT = new Set(['spread', 'cut_short', 'drift', 'build_seconds', 'measure_seconds', 'repeats']);

/** What is known of programs beside their times, and is less for better ones. */
const COSTS = ['code_bytes', 'workspace_bytes', 'growth_bytes'];

/** The front of trials that no other beats in both values; of a tuning, of one task. */
class ParetoChart {
  constructor(database, run) {
    this.database = database;
    this.id = run.id;
    this.less = true;
    this.metric = ParetoChart.metrics(database, run)[0];
    this.task = hasTasks(run) ? run.tasks[0].task : null;
    this.plot = new Plot(320, 'Two values of each trial');
    this.count = el('span', {class: 'muted'});
    this.node = el('section', {'aria-label': 'Two values'}, el('h3', null, 'Two values of each trial'),
      el('div', {class: 'controls'},
        this.task === null ? null : choiceOf('Task', run.tasks.map(t => [String(t.task), `${t.task}: ${database.taskName(t.task)}`]), String(this.task), v => { this.task = Number(v); this.update(); }),
        choiceOf('Beside the objective', ParetoChart.metrics(database, run).map(m => [m, m]), this.metric, v => { this.metric = v; this.update(); }),
        this.less_box = tick('less of it is better', true, on => { this.less = on; this.update(); }), this.count),
      this.plot.node,
      el('p', {class: 'caption'}, 'The line joins the trials that no other beats in both values (Pareto front).',
        this.objectives().length > 2 ? ' Trials in the color of the best are on the Pareto front of all objectives.' : ''));
    this.update();
  }
  /** The objectives of a search for several first. */
  static metrics(database, run) {
    const search = database.searches.get(run.id), details = database.trialsOf(run.id).details;
    if (hasTasks(run)) return details.has('code_bytes') ? COSTS.filter(name => details.has(name)) : [];
    const further = ((search && search.objectives) || []).slice(1).map(o => o.name).filter(name => details.has(name));
    return [...further, ...[...details.keys()].filter(name => !MEASUREMENT.has(name) && !further.includes(name))];
  }
  objectives() {
    const search = this.database.searches.get(this.id);
    return (search && search.objectives) || [];
  }
  /** Rows that no other one is at least as good as in all objectives, and better in one. */
  wholeFront() {
    const trials = this.database.trialsOf(this.id), n = trials.count, objectives = this.objectives();
    const columns = objectives.map(({name, goal}, k) => {
      const numbers = k === 0 ? trials.value : trials.details.get(name);
      return numbers ? Float64Array.from(numbers.data.subarray(0, n), v => goal === 'maximize' ? -v : v) : new Float64Array(n).fill(NaN);
    });
    let front = [];
    for (let i = 0; i < n; ++i) {
      if (columns.some(c => Number.isNaN(c[i]))) continue;
      if (front.some(f => columns.every(c => c[f] <= c[i]))) continue;
      front = front.filter(f => !columns.every(c => c[i] <= c[f]));
      front.push(i);
    }
    return front;
  }
  static has(database, run) { return (run.kind === 'search' || (hasTasks(run) && run.tasks.length > 0)) && ParetoChart.metrics(database, run).length > 0; }
  /** Rows of the front in the order of x. */
  static front(x, y, x_less, y_less) {
    const rows = [...x.keys()].filter(i => !Number.isNaN(x[i]) && !Number.isNaN(y[i]));
    rows.sort((a, b) => (x_less ? x[a] - x[b] : x[b] - x[a]) || (y_less ? y[a] - y[b] : y[b] - y[a]));
    let best = NaN;
    return rows.filter(i => {
      if (!Number.isNaN(best) && !(y_less ? y[i] < best : y[i] > best)) return false;
      best = y[i];
      return true;
    });
  }
  update() {
    const run = this.database.runs.get(this.id), trials = this.database.trialsOf(this.id), n = trials.count;
    const x = trials.details.get(this.metric).data.slice(0, n), y = trials.value.data.slice(0, n);
    const known = this.objectives().slice(1).find(o => o.name === this.metric);
    const is_cost = this.task !== null;
    for (let i = 0; is_cost && i < n; ++i) {
      if (trials.task.data[i] !== this.task) x[i] = NaN;
      else if (Number.isNaN(x[i]) && !Number.isNaN(trials.details.get('code_bytes').data[i])) x[i] = 0;  // records leave it out
    }
    const format = is_cost ? formatSeconds : formatTick;
    const less = known ? known.goal === 'minimize' : is_cost || this.less;
    this.less_box.firstChild.disabled = known !== undefined || is_cost;
    this.less_box.firstChild.checked = less;
    const whole = this.objectives().length > 2 ? this.wholeFront() : [];
    const front = ParetoChart.front(x, y, less, run.goal !== 'maximize');
    const tip = i => `trial ${trials.ordinal.data[i]}\n${this.metric} = ${formatValue(x[i])}\n${run.objective} = ${formatValue(y[i])}`;
    fill(this.count, `${formatCount(front.length)} trials on the front`);
    this.plot.set({
      x: {label: this.metric, log: false, format: formatTick}, y: {label: run.objective, log: false, format},
      points: [{x, y, color: 'dot', size: 4, tip}, {x: front.map(i => x[i]), y: front.map(i => y[i]), color: 'second', size: 6, tip: k => tip(front[k])},
        {x: whole.map(i => x[i]), y: whole.map(i => y[i]), color: 'first', size: 5, tip: k => tip(whole[k])}],
      lines: front.length > 1 ? [{x: front.map(i => x[i]), y: front.map(i => y[i]), color: 'second', width: 1.5, steps: true}] : [],
    });
  }
}

/** Multiply-accumulates a cycle against those a word moved, for each memory of a mapping (Williams 2009). */
class RooflineChart {
  constructor() {
    this.plot = new Plot(260, 'Roofline of the mapping');
    this.legend = el('div', {class: 'legend'});
    this.node = el('div', null, el('h3', null, 'Roofline'), this.plot.node, this.legend,
      el('p', {class: 'caption'}, 'A dot for each memory: multiply-accumulates of the mapping for each word that the memory moves. Lines: what its bandwidth allows. Where dots lie on the dashed line, all multipliers are busy.'));
  }
  update(mapping) {
    const rate = mapping.macs / mapping.cycles, peak = mapping.multipliers;
    const levels = mapping.levels.filter(l => l.words_moved > 0), at = l => mapping.macs / l.words_moved;
    const bounded = levels.filter(l => isNumber(l.words_per_cycle));
    const place = l => bounded.indexOf(l) % LEVEL_COLORS.length, colorOf = l => bounded.includes(l) ? LEVEL_COLORS[place(l)] : 'dot';
    const ridges = bounded.map(l => peak / l.words_per_cycle);
    const low = Math.min(...levels.map(at), ...ridges) / 2, high = 2 * Math.max(...levels.map(at), ...ridges);
    this.plot.set({
      x: {label: 'multiply-accumulates a word', log: true, format: formatTick}, y: {label: 'multiply-accumulates a cycle', log: true, format: formatTick},
      lines: bounded.map((l, i) => ({x: [low, ridges[i], high], y: [low * l.words_per_cycle, peak, peak], color: colorOf(l), width: 1.5})),
      points: levels.map(l => ({x: [at(l)], y: [rate], color: colorOf(l), size: 7,
        tip: () => `${l.name}: ${formatValue(at(l))} multiply-accumulates a word, ${formatPercent(l.cycles / mapping.cycles, 0)} of the cycles needed\n${isNumber(l.words_per_cycle) ? `at most ${formatValue(l.words_per_cycle)} words a cycle` : 'no bound on its bandwidth'}`})),
      rules: [{y: peak, label: 'all multipliers'}],
    });
    fill(this.legend, bounded.map(l => el('span', null, el('span', {class: 'key c' + (place(l) + 1)}), l.name)),
      bounded.length < levels.length ? el('span', null, el('span', {class: 'key dot'}), 'memories without a bound on their bandwidth') : null);
    this.plot.say(`Roofline: ${formatValue(rate)} of ${formatValue(peak)} multiply-accumulates a cycle`);
  }
}

/** All parameters and the objective of each trial with a value. */
class ParallelChart {
  constructor(database, run) {
    this.database = database;
    this.id = run.id;
    this.plot = new ParallelPlot(380, 'Parameters of each trial and its value');
    this.caption = el('p', {class: 'caption'});
    this.node = el('section', {'aria-label': 'Parallel coordinates'}, el('h3', null, 'Parameters of every trial'), this.plot.node, this.caption);
    this.update();
  }
  update() {
    const run = this.database.runs.get(this.id), trials = this.database.trialsOf(this.id);
    const search = this.database.searches.get(this.id);
    const rows = [];
    for (let i = 0; i < trials.count; ++i) if (!Number.isNaN(trials.value.data[i])) rows.push(i);
    const listed = new Map(((search && search.parameters) || []).map(p => [p.name, p.values]));
    const names = search && search.importance ? search.importance.map(k => k.parameter) : [];
    for (const name of trials.parameters.keys()) if (!names.includes(name)) names.push(name);
    const used = names.filter(name => trials.parameters.has(name)).slice(0, 14);
    const columns = used.map(name => ({name, listed: listed.get(name), values: rows.map(i => trials.parameters.get(name)[i])}));
    const values = rows.map(i => trials.value.data[i]);
    columns.push({name: run.objective || 'value', values});
    const order = [...values.keys()].sort((a, b) => run.goal === 'maximize' ? values[b] - values[a] : values[a] - values[b]);
    const quality = new Float64Array(values.length);
    order.forEach((row, place) => { quality[row] = place / Math.max(1, values.length - 1); });
    this.plot.set(columns, quality);
    const left_out = names.length - used.length;
    fill(this.caption, 'The best tenth of the trials is drawn in the warm color, the next third in the cool one. ',
      'Drag along an axis to select what is drawn; a click on it or a double click takes that back.',
      rows.length > MAX_LINES ? ` Of ${formatCount(rows.length)} trials, the best ${MAX_LINES / 2} and an even choice of as many others are drawn.` : '',
      left_out > 0 ? ` The ${left_out} parameters that matter least are left out.` : '');
  }
}
