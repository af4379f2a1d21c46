// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The document of the page (page/page_reader.h), to which increments are added as they come.

/** Numbers that grow at their end; NaN stands for null. */
class Numbers {
  constructor() { this.data = new Float64Array(64); this.length = 0; }
  grow(length) {
    if (length <= this.data.length) return;
    const larger = new Float64Array(Math.max(length, 2 * this.data.length));
    larger.set(this.data.subarray(0, this.length));
    this.data = larger;
  }
  push(value) {
    this.grow(this.length + 1);
    this.data[this.length++] = value === null || value === undefined ? NaN : value;
  }
  /** Rows up to `length` that had no value. */
  pad(length) {
    this.grow(length);
    this.data.fill(NaN, this.length, length);
    this.length = length;
  }
}

/** Texts of which many rows have the same. */
class Texts {
  constructor() { this.names = []; this.places = new Map(); this.column = new Numbers(); }
  placeOf(name) {
    if (!this.places.has(name)) { this.places.set(name, this.names.length); this.names.push(name); }
    return this.places.get(name);
  }
  append(names, column, count) {
    const places = names.map(name => this.placeOf(name));
    for (let i = 0; i < count; ++i) this.column.push(places[column ? column[i] : 0]);
  }
  at(row) { return this.names[this.column.data[row]]; }
}

/** The trials of one run, as columns. */
class Trials {
  constructor() {
    this.count = 0;
    this.ordinal = new Numbers();
    this.value = new Numbers();
    this.elapsed = new Numbers();
    this.task = new Numbers();
    this.verdict = new Texts();
    this.reason = new Texts();
    this.proposer = new Texts();
    this.details = new Map();     // name -> Numbers
    this.parameters = new Map();  // name -> array
  }
  append(chunk) {
    const count = chunk.count, end = this.count + count;
    for (let i = 0; i < count; ++i) {
      this.ordinal.push(chunk.ordinal ? chunk.ordinal[i] : chunk.first + i);
      this.value.push(chunk.value[i]);
      this.elapsed.push(chunk.elapsed[i]);
      this.task.push(chunk.task ? chunk.task[i] : 0);
    }
    this.verdict.append(chunk.verdicts, chunk.verdict, count);
    this.reason.append(chunk.reasons, chunk.reason, count);
    this.proposer.append(chunk.proposers, chunk.proposer, count);
    for (const [name, column] of Object.entries(chunk.details || {})) {
      if (!this.details.has(name)) this.details.set(name, new Numbers());
      const numbers = this.details.get(name);
      numbers.pad(this.count);
      for (const value of column) numbers.push(value);
    }
    for (const [name, column] of Object.entries(chunk.parameters || {})) {
      if (!this.parameters.has(name)) this.parameters.set(name, []);
      const values = this.parameters.get(name);
      while (values.length < this.count) values.push(null);
      for (const value of column) values.push(value);
    }
    for (const numbers of this.details.values()) numbers.pad(end);
    for (const values of this.parameters.values()) while (values.length < end) values.push(null);
    this.count = end;
  }
  isOk(row) { return this.verdict.at(row) === 'ok'; }
  isRough(row) {
    const cut = this.details.get('cut_short');
    return cut !== undefined && cut.data[row] > 0;
  }
}

const LISTS = ['targets', 'tasks', 'runs', 'learning', 'programs', 'searches', 'mappings', 'pools'];

class Database {
  constructor() {
    for (const list of LISTS) this[list] = new Map();
    this.trials = new Map();
    this.name = '';
    this.written = 0;
    this.version = '';
  }
  merge(document) {
    this.name = document.database;
    this.written = document.written;
    this.version = document.bayloom;
    for (const list of LISTS) for (const item of document[list]) this[list].set(item.id, item);
    for (const chunk of document.trials) this.trialsOf(chunk.run).append(chunk);
  }
  trialsOf(run) {
    if (!this.trials.has(run)) this.trials.set(run, new Trials());
    return this.trials.get(run);
  }
  taskName(id) {
    const task = this.tasks.get(id);
    return task ? task.name : `task ${id}`;
  }
  programOf(task, target) { return this.programs.get(`${task}@${target}`); }
}

const hasTasks = run => run.kind === 'tune' || run.kind === 'dataset';

/** How much better the best is than what the run started from: {ratio, reference, of} or null. */
function gainOf(database, run) {
  if (hasTasks(run)) {
    const turns = run.over_zero_trial;
    if (turns) {
      return {ratio: turns.ratio, reference: turns.zero_trial, of: 'the zero-trial programs',
        interval: turns.rounds > 0 ? `${formatRatio(turns.low)} to ${formatRatio(turns.high)} in turns` : 'these are kept'};
    }
    const gain = run.gain;
    if (!gain || !isNumber(gain.by_default) || !(gain.tuned > 0)) return null;
    return {ratio: gain.by_default / gain.tuned, reference: gain.by_default, of: 'the default programs'};
  }
  if (!run.best || !run.first || run.kind === 'map') return null;
  const search = database.searches.get(run.id);
  const of = search && search.has_default && run.first.trial === 0 ? 'default' : 'first';
  const ratio = run.goal === 'maximize' ? run.best.value / run.first.value : run.first.value / run.best.value;
  return ratio > 0 && isNumber(ratio) ? {ratio, reference: run.first.value, of} : null;
}

const failedTrials = run => Object.values(run.failures).reduce((sum, n) => sum + n, 0);

/** Whether times of day or of the run tell when each trial ended. */
function hasTimes(trials) {
  for (let i = 0; i < trials.count; ++i) if (trials.elapsed.data[i] > 0) return true;
  return false;
}

/**
 * The course of a run: for each trial with a value its y, NaN for the others, and the best so far
 * after each. Of a network: the time of the whole if the trial's program ran in its task and the
 * best so far in all others; a task without a program yet counts as its zero-trial one is estimated,
 * else as its first program.
 */
function courseOf(database, run, task) {
  const trials = database.trialsOf(run.id), n = trials.count;
  const y = new Float64Array(n).fill(NaN), best = new Float64Array(n).fill(NaN);
  if (!hasTasks(run) || task !== null) {
    let least = NaN;
    const better = run.goal === 'maximize' ? (a, b) => a > b : (a, b) => a < b;
    for (let i = 0; i < n; ++i) {
      if (task === null || trials.task.data[i] === task) {
        y[i] = trials.value.data[i];
        if (!Number.isNaN(y[i]) && !trials.isRough(i) && (Number.isNaN(least) || better(y[i], least))) least = y[i];
      }
      best[i] = least;
    }
    return {y, best};
  }
  const weights = new Map(run.tasks.map(t => [t.task, t.weight || 0]));
  const now = new Map(), measured = new Set();
  for (const t of run.tasks) if (isNumber(t.estimate)) now.set(t.task, t.estimate);
  for (let i = 0; i < n; ++i) {
    const id = trials.task.data[i], value = trials.value.data[i];
    if (!now.has(id) && value > 0) now.set(id, value);
  }
  let whole = 0;
  for (const t of run.tasks) if (weights.get(t.task) > 0) whole += weights.get(t.task) * (now.has(t.task) ? now.get(t.task) : NaN);
  for (let i = 0; i < n; ++i) {
    const id = trials.task.data[i], value = trials.value.data[i], weight = weights.get(id) || 0;
    if (!Number.isNaN(value) && value > 0) {
      const other = whole + weight * (value - now.get(id));
      y[i] = other;
      // The first measured program takes the place of the estimate even if it is slower.
      if (!trials.isRough(i) && (value < now.get(id) || !measured.has(id))) {
        measured.add(id);
        now.set(id, value);
        whole = other;
      }
    }
    best[i] = whole;
  }
  return {y, best};
}
