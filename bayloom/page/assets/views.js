// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The sections of the page.

const KINDS = {tune: 'tuning', dataset: 'measurement of a pool', search: 'search', map: 'mapping'};

/** "6.26 ms", or the value in the objective's unit. */
function bestText(run) {
  if (hasTasks(run)) return formatSeconds(run.latency);
  return run.best ? formatRunValue(run, run.best.value) : '\u2013';
}

/** All runs; a click shows one. The layers of a network are there while it, or one of them, is shown. */
function overview(database, chosen, choose) {
  const shown = database.runs.get(chosen), network = shown && (shown.of || shown.id);
  const runs = [...database.runs.values()].filter(r => !r.of || r.of === network);
  const rows = table([
    {name: 'run', number: true, cell: r => String(r.id)},
    {name: 'name', class: 'name', cell: r => (r.of ? '\u2514 ' : '') + r.name},
    {name: 'kind', cell: r => KINDS[r.kind] || r.kind},
    {name: 'by', cell: r => [r.by, r.scheduler].filter(Boolean).join(', ')},
    {name: 'best', number: true, cell: bestText},
    {name: 'gain', number: true, cell: r => { const gain = gainOf(database, r); return gain ? `${formatRatio(gain.ratio)} over ${gain.of}` : '\u2013'; }},
    {name: 'trials', number: true, cell: r => formatCount(r.trials)},
    {name: 'without a value', number: true, cell: r => formatCount(failedTrials(r))},
    {name: 'time', number: true, cell: r => formatSeconds(r.seconds)},
    {name: 'begun', cell: r => formatTime(r.started)},
    {name: 'state', cell: r => r.finished ? 'finished' : 'not finished'},
  ], runs, {choose: r => choose(r.id), isChosen: r => r.id === chosen});
  const pools = [...database.pools.values()];
  return el('section', {'aria-label': 'Runs'}, el('h3', null, 'Runs'),
    runs.length ? rows : el('p', null, 'This database has no run yet.'),
    pools.length ? [el('h3', null, 'Programs that may be measured'), table([
      {name: 'group', class: 'name', cell: p => p.group || '(without a group)'}, {name: 'tasks', number: true, cell: p => formatCount(p.tasks)},
      {name: 'programs', number: true, cell: p => formatCount(p.programs)}], pools)] : null);
}

function tile(number, name) {
  return el('div', {class: 'tile'}, el('div', {class: 'number'}, number), el('div', {class: 'name'}, name));
}

/** What a run came to, in a few numbers. */
class Summary {
  constructor(database, run) { this.database = database; this.id = run.id; this.node = el('div'); this.update(); }
  update() {
    const run = this.database.runs.get(this.id), target = this.database.targets.get(run.target), gain = gainOf(this.database, run);
    const facts = [`run ${run.id}`, KINDS[run.kind], [run.by, run.scheduler].filter(Boolean).join(', '), `seed ${run.seed}`, `begun ${formatTime(run.started)}`,
      run.finished ? 'finished' : 'not finished',
      target ? `${target.cpu}, ${target.threads} thread${target.threads === 1 ? '' : 's'}, vectors of ${target.vector_bytes} bytes` : null].filter(Boolean);
    const tiles = run.parts ? [tile(run.parts.split(' ')[0], run.parts.split(' ').slice(1).join(' '))]
      : [tile(bestText(run), hasTasks(run) ? `latency, sum over all tasks${run.estimated_tasks ? `, ${run.estimated_tasks} by estimate` : ''}` : `best ${run.objective || 'value'} (${run.goal})`)];
    if (gain) tiles.push(tile(formatRatio(gain.ratio), `over ${gain.of} (${hasTasks(run) ? formatSeconds(gain.reference) : formatRunValue(run, gain.reference)})${gain.interval ? `; ${gain.interval}` : ''}`));
    if (run.gain && isNumber(run.gain.roofline)) tiles.push(tile(formatPercent(run.gain.roofline, 0), 'of the roofline'));
    tiles.push(tile(formatCount(run.trials), `trials in ${formatSeconds(run.seconds)}`));
    const failed = failedTrials(run);
    tiles.push(tile(formatCount(failed), failed ? Object.entries(run.failures).map(([v, n]) => `${formatCount(n)} ${v}`).join(', ') : 'trials without a value'));
    if (run.best) tiles.push(tile(formatCount(run.best.trial), `best trial, after ${formatSeconds(run.best.elapsed)}`));
    fill(this.node, el('h2', null, run.name), el('p', {class: 'muted'}, facts.join(' \u00b7 ')), el('div', {class: 'tiles'}, tiles));
  }
}

/** Tasks of a tuning by their share of the latency. */
class TaskSection {
  constructor(database, run, choose) {
    this.database = database;
    this.id = run.id;
    this.choose = choose;
    this.chosen = null;
    this.node = el('section', {'aria-label': 'Tasks'});
    this.update();
  }
  update() {
    const run = this.database.runs.get(this.id);
    const rows = run.tasks.map(t => {
      const program = this.database.programOf(t.task, run.target), task = this.database.tasks.get(t.task);
      const measured = program && program.measured;
      const time = isNumber(t.best) ? t.best : t.estimate;
      return {...t, time, whole: t.weight * time, gain: measured && isNumber(measured.default_seconds) ? measured.default_seconds / measured.beside_default : null,
        rate: task && t.best ? task.flops / t.best : null, roofline: program && program.roofline && t.best ? Math.min(1, program.roofline / t.best) : null};
    }).sort((a, b) => (b.whole || 0) - (a.whole || 0));
    const sum = rows.reduce((s, r) => s + (r.whole || 0), 0), most = rows.reduce((m, r) => Math.max(m, r.whole || 0), 0);
    if (this.chosen === null && rows.length) this.chosen = rows[0].task;
    const body = table([
      {name: 'task', number: true, cell: r => String(r.task)},
      {name: 'name', class: 'name', cell: r => this.database.taskName(r.task)},
      {name: 'calls', number: true, cell: r => formatCount(r.weight)},
      {name: 'time', number: true, cell: r => (isNumber(r.best) ? '' : '~') + formatSeconds(r.time)},
      {name: 'share of the latency', number: true, cell: r => formatPercent(r.whole / sum)},
      {name: '', class: 'bar-cell', cell: r => bar(r.whole / most)},
      {name: 'gain', number: true, cell: r => formatRatio(r.gain)},
      {name: 'rate', number: true, cell: r => formatRate(r.rate)},
      {name: 'of roofline', number: true, cell: r => formatPercent(r.roofline, 0)},
      {name: 'trials', number: true, cell: r => formatCount(r.trials)},
    ], rows, {total: {name: 'all tasks', time: formatSeconds(sum), trials: formatCount(rows.reduce((s, r) => s + r.trials, 0))}, choose: r => { this.chosen = r.task; this.update(); this.choose(r.task); }, isChosen: r => r.task === this.chosen});
    fill(this.node, el('h3', null, 'Tasks'), body, el('p', {class: 'caption'},
      'Time: of the best program of this run; ~: nothing was tried, and the zero-trial program is estimated to take that. Gain: over the default program, where that was measured beside it. ',
      'Of roofline: the least time that arithmetic and memory of the machine allow to the algorithm of the best program, over the time. A click shows the programs of a task.'));
  }
}

const LOOP = /\b(parallel|vectorized|unrolled|tensorized|for|in|with|program|workload|const)\b|(@[\w.]+=\S+)|(-?\b\d+(?:\.\d+)?(?:e-?\d+)?\b)/g;

/** A program with its loops made visible. */
function loopNest(text) {
  const pre = el('pre', {tabindex: '0'});
  let at = 0;
  for (const match of text.matchAll(LOOP)) {
    if (match.index > at) pre.append(clean(text.slice(at, match.index)));
    const word = match[0];
    const is_kind = word === 'parallel' || word === 'vectorized' || word === 'unrolled' || word === 'tensorized';
    pre.append(el('span', {class: is_kind ? 'v' : match[1] ? 'k' : match[2] ? 'a' : 'n'}, word));
    at = match.index + word.length;
  }
  pre.append(clean(text.slice(at)));
  return pre;
}

const FEATURES = [
  ['parallel', 'iterations of parallel loops', formatCount], ['vectorized', 'iterations of vectorized loops', formatCount],
  ['unrolled', 'iterations of unrolled loops', formatCount], ['unroll_limit', 'limit of automatic unrolling', formatCount],
  ['cache_lines', 'cache lines touched, counting repetitions', formatCount], ['distinct_cache_lines', 'cache lines touched, each once', formatCount],
  ['flops_per_byte', 'arithmetic intensity, FLOP a byte', formatValue],
];

/** The best program of a task beside the default one, and why it is fast. */
class ProgramSection {
  constructor(database, run, task) {
    this.database = database;
    this.id = run.id;
    this.task = task;
    this.shown = null;
    this.node = el('section', {'aria-label': 'Programs'});
    this.update();
  }
  show(task) { this.task = task; this.update(); }
  update() {
    const run = this.database.runs.get(this.id), program = this.database.programOf(this.task, run.target);
    if (program === this.shown) return;
    this.shown = program;
    if (!program) { fill(this.node); return; }
    const task = this.database.tasks.get(this.task), m = program.measured || {}, best = program.best, by_default = program.by_default;
    const fact = (name, value) => [el('dt', null, name), el('dd', null, value)];
    const side = (title, p, facts) => el('div', null, el('h4', null, title), el('dl', null, facts), loopNest(p.text));
    fill(this.node, el('h3', null, `Programs of task ${this.task}: ${this.database.taskName(this.task)}`),
      program.note ? el('p', {class: 'muted'}, program.note) : null,
      el('div', {class: 'columns'},
        best ? side('Best', best, [
          fact('measured', `${formatSeconds(best.seconds)}${m.repeats ? `, median of ${m.repeats} repeats` : ''}, spread ${formatPercent(m.spread)}`),
          fact('rate', `${formatRate(m.rate)}${isNumber(program.roofline) ? `, ${formatPercent(Math.min(1, program.roofline / best.seconds), 0)} of the roofline (${formatSeconds(program.roofline)})` : ''}`),
        ]) : null,
        side('Default program', by_default, [
          fact('measured', isNumber(m.default_seconds) ? `${formatSeconds(m.default_seconds)} (${formatRatio(m.default_seconds / m.beside_default)} as long)` : 'not measured'),
          fact('rate', isNumber(m.default_seconds) && task ? formatRate(task.flops / m.default_seconds) : '\u2013'),
        ])),
      best ? this.why(program) : null,
      task ? el('details', null, el('summary', null, 'What is computed, and the schedule step by step'), el('div', {class: 'columns'}, loopNest(task.workload), best ? loopNest(best.trace) : null)) : null);
  }
  why({best, by_default, why, measured}) {
    const rows = FEATURES.map(([key, name, format]) => ({name, format, best: best.features[key], by_default: by_default.features[key]}));
    rows.push({name: 'time that the estimate expects', format: formatSeconds, best: best.code_estimate, by_default: by_default.code_estimate});
    rows.push({name: 'time measured', format: formatSeconds, best: best.seconds, by_default: measured ? measured.default_seconds : null});
    const compared = table([
      {name: 'feature', cell: r => r.name}, {name: 'best', number: true, cell: r => r.format(r.best)},
      {name: 'default program', number: true, cell: r => r.format(r.by_default)}, {name: 'ratio', number: true, cell: r => r.by_default && r.best ? formatRatio(r.best / r.by_default) : '\u2013'}], rows);
    const decisions = (why && why.decisions) || [], is_learnt = decisions.some(d => isNumber(d.share_with_interactions));
    const known = decisions.filter(d => is_learnt ? isNumber(d.share_with_interactions) : d.estimated.draws);
    const weight = d => is_learnt ? Math.max(0, d.share_with_interactions) : Math.log2(Math.max(1, d.estimated.median));
    const most = known.reduce((m, d) => Math.max(m, weight(d)), 0);
    const redrawn = key => d => d[key] && d[key].draws ? formatRatio(d[key].median) : '\u2013';
    const sensitivity = known.length ? table([
      {name: 'decision of the schedule', class: 'name', cell: d => d.decision},
      ...(is_learnt ? [{name: 'alone', number: true, cell: d => formatPercent(Math.max(0, d.share), 0)},
        {name: 'with interactions', number: true, cell: d => formatPercent(Math.max(0, d.share_with_interactions), 0)}] : []),
      {name: '', class: 'bar-cell', cell: d => bar(most ? weight(d) / most : 0, 'bar second')},
      ...(is_learnt ? [{name: 'drawn again, learnt', number: true, cell: redrawn('learnt')}] : []),
      {name: 'drawn again, estimated', number: true, cell: redrawn('estimated')}], known) : null;
    const learnt = is_learnt ? `Part of the variation of time over the design space (Sobol indices by a model of ${formatCount(why.trials)} trials, which orders those that it has not seen with a rank correlation of ${formatValue(why.rank_correlation)}). ` : '';
    return el('div', {class: 'columns'},
      el('div', null, el('h3', null, 'Why it is fast'),
        why ? el('ul', null, why.sentences.map(sentence => el('li', null, sentence))) : null, compared,
        el('p', {class: 'caption'}, 'Features of the store that does most of the work, as the cost model sees them. The estimate judges loops alone; its ratios mean more than its times.')),
      sensitivity ? el('div', null, el('h3', null, 'Sensitivity of its decisions'), sensitivity,
        el('p', {class: 'caption'}, `${learnt}Drawn again: the time when one decision is drawn again and the others stay, over the time of the best program, in the median.`)) : null);
  }
}

/** Where the time of a tuning went. */
class PhaseSection {
  constructor(database, run) { this.database = database; this.id = run.id; this.node = el('div'); this.update(); }
  update() {
    const run = this.database.runs.get(this.id);
    const rows = Object.entries(run.phases || {}).map(([name, seconds]) => ({name, seconds})).filter(r => r.seconds > 0).sort((a, b) => b.seconds - a.seconds);
    const sum = rows.reduce((s, r) => s + r.seconds, 0);
    fill(this.node, el('h3', null, 'Where the time went'), table([
      {name: 'phase', cell: r => r.name}, {name: 'time', number: true, cell: r => formatSeconds(r.seconds)},
      {name: 'share', number: true, cell: r => formatPercent(r.seconds / sum)}, {name: '', class: 'bar-cell', cell: r => bar(r.seconds / rows[0].seconds)}], rows));
  }
}

/** The best configuration of a search beside the first, and which parameters matter. */
class SearchSection {
  constructor(database, run) { this.database = database; this.id = run.id; this.node = el('section', {'aria-label': 'Best configuration'}); this.update(); }
  update() {
    const run = this.database.runs.get(this.id), search = this.database.searches.get(this.id) || {};
    const gain = gainOf(this.database, run), reference = gain && gain.of === 'default' ? 'default' : 'first';
    const best = run.best && run.best.candidate && typeof run.best.candidate === 'object' ? run.best.candidate : {};
    const first = run.first && run.first.candidate && typeof run.first.candidate === 'object' ? run.first.candidate : {};
    const domains = new Map((search.parameters || []).map(p => [p.name, p.active_if ? `${p.domain}, if ${p.active_if}` : p.domain]));
    const names = search.parameters ? search.parameters.map(p => p.name).filter(name => name in best) : Object.keys(best);
    const differs = name => formatCell(best[name]) !== formatCell(first[name]);
    const whole = text => el('span', {class: text.length <= 24 ? 'whole' : null}, text);
    const configuration = table([
      {name: 'parameter', class: 'name', cell: name => name},
      {name: 'best', cell: name => differs(name) ? el('strong', null, whole(formatCell(best[name]))) : whole(formatCell(best[name]))},
      {name: reference, cell: name => whole(formatCell(first[name]))},
      {name: 'domain', class: 'name', cell: name => domains.get(name) || ''}], names);
    const importance = search.importance || [];
    const most = importance.reduce((m, k) => Math.max(m, k.total.value), 0);
    const plusMinus = e => `${e.value.toFixed(3)} \u00b1 ${e.half_width.toFixed(3)}`;
    fill(this.node,
      search.note ? el('p', {class: 'muted'}, `The scenario cannot be read by this version: ${search.note}`) : null,
      el('div', {class: 'columns'},
        names.length ? el('div', null, el('h3', null, 'Best configuration'), configuration,
          isNumber(search.log10_feasible) ? el('p', {class: 'caption'}, `${isNumber(search.feasible) ? formatCount(search.feasible) : `1e+${Math.floor(search.log10_feasible)}`} configurations satisfy the constraints.`) : null) : null,
        importance.length ? el('div', null, el('h3', null, 'Importance of parameters'), table([
          {name: 'parameter', class: 'name', cell: k => k.parameter}, {name: 'total', number: true, cell: k => plusMinus(k.total)},
          {name: '', class: 'bar-cell', cell: k => [bar(k.total.value / most), bar(k.first.value / most, 'bar second')]},
          {name: 'alone', number: true, cell: k => plusMinus(k.first)}], importance),
        el('p', {class: 'caption'}, `Sobol indices through a Gaussian process that learnt ${formatCount(search.ranked_trials)} trials: the share of the variance that a parameter explains with its interactions (upper bar) and alone (lower bar), with 95 % intervals of the estimate from the process.`)) : null));
  }
}

/** The best mapping as nested loops, with its energy level by level. */
class MappingSection {
  constructor(database, run) { this.database = database; this.id = run.id; this.shown = null; this.roofline = new RooflineChart(); this.node = el('section', {'aria-label': 'Mapping'}); this.update(); }
  update() {
    const mapping = this.database.mappings.get(this.id);
    if (mapping === this.shown || !mapping) return;
    this.shown = mapping;
    if (!mapping.nest) { fill(this.node, mapping.note ? el('p', {class: 'muted'}, mapping.note) : null); return; }
    const names = [...new Set(mapping.levels.flatMap(l => l.tensors.map(t => t.name)))];
    const colorOf = name => LEVEL_COLORS[names.indexOf(name) % LEVEL_COLORS.length];
    const total = l => l.tensors.reduce((sum, t) => sum + (t.energy_pj || 0), 0);
    const most = mapping.levels.reduce((m, l) => Math.max(m, total(l)), 0);
    const stack = level => {
      const node = el('div', {class: 'stack', role: 'presentation'});
      for (const t of level.tensors) {
        const part = el('span', {title: `${t.name}: ${formatEnergy(t.energy_pj)}`});
        part.style.width = (100 * (t.energy_pj || 0) / most).toFixed(2) + '%';
        part.style.background = `var(--${colorOf(t.name)})`;
        node.append(part);
      }
      return node;
    };
    const legend = el('div', {class: 'legend'}, names.map(name => el('span', null, el('span', {class: 'key c' + (names.indexOf(name) % 4 + 1)}), name)));
    fill(this.node,
      el('div', {class: 'tiles'}, tile(formatEnergy(mapping.energy_pj), 'energy'), tile(isNumber(mapping.pj_per_mac) ? mapping.pj_per_mac.toFixed(3) + ' pJ' : '\u2013', 'a multiply-accumulate'),
        tile(formatCount(mapping.cycles), 'cycles'), tile(formatPercent(mapping.utilization), 'of the multipliers used')),
      el('div', {class: 'columns'},
        el('div', null, el('h3', null, 'Best mapping'), loopNest(mapping.nest), el('p', {class: 'caption'}, mapping.compact)),
        el('div', null, el('h3', null, 'Energy and occupancy by level'), table([
          {name: 'level', class: 'name', cell: l => l.name}, {name: 'energy', number: true, cell: l => formatEnergy(total(l))},
          {name: 'share', number: true, cell: l => formatPercent(total(l) / mapping.energy_pj)}, {name: '', class: 'bar-cell', cell: stack},
          {name: 'occupied', number: true, cell: l => isNumber(l.occupancy) ? formatPercent(l.occupancy, 0) : '\u2013'}, {name: '', class: 'bar-cell', cell: l => isNumber(l.occupancy) ? bar(l.occupancy) : ''}], mapping.levels), legend,
        this.roofline.node,
        el('h3', null, 'Words moved'), table([
          {name: 'level', class: 'name', cell: r => r.level}, {name: 'tensor', class: 'name', cell: r => r.name}, {name: 'tile', number: true, cell: r => formatCount(r.tile_words)},
          {name: 'reads', number: true, cell: r => formatCount(r.reads)}, {name: 'fills', number: true, cell: r => formatCount(r.fills)}, {name: 'updates', number: true, cell: r => formatCount(r.updates)}],
        mapping.levels.flatMap(l => l.tensors.filter(t => 'reads' in t).map(t => ({level: l.name, ...t})))),
        el('p', {class: 'caption'}, 'By the analytical model, of one instance of each level; energies of all instances together.'),
        el('details', null, el('summary', null, 'Architecture'), el('pre', {tabindex: '0'}, mapping.architecture)))));
    this.roofline.update(mapping);
  }
}

/** What a mapping of a network came to: its layers, groups or cores, and totals. */
class ResultSection {
  constructor(database, run) { this.database = database; this.id = run.id; this.node = el('section', {'aria-label': 'Result'}); this.update(); }
  update() {
    const result = this.database.runs.get(this.id).result;
    const text = cell => Array.isArray(cell) ? cell[1] : cell;
    const part = p => [el('h3', null, p.title || 'Layers and totals'),
      table(p.table.columns.map((name, i) => ({name: name.trim(), class: i === 0 ? 'name' : null, number: p.table.rows.some(r => Array.isArray(r[i])), cell: r => text(r[i])})), p.table.rows),
      p.totals.split('\n').map(line => el('p', null, line))];
    fill(this.node, el('p', {class: 'muted'}, result.summary), result.parts.map(part));
  }
}

/** Candidates that were evaluated again at the end, in turns. */
class RepeatSection {
  constructor(database, run) { this.database = database; this.id = run.id; this.node = el('section', {'aria-label': 'Repeats'}); this.update(); }
  update() {
    const learning = this.database.learning.get(this.id), rows = learning ? learning.repeats : [];
    if (!rows.length) { fill(this.node); return; }
    const run = this.database.runs.get(this.id), format = hasTasks(run) ? formatSeconds : value => formatRunValue(run, value);
    fill(this.node, el('details', {open: rows.length <= 12}, el('summary', null, `Evaluated again at the end, in turns: ${rows.length} candidates`), table([
      ...(hasTasks(run) ? [{name: 'task', class: 'name', cell: r => `${r.task}: ${this.database.taskName(r.task)}`}] : []),
      {name: 'trial', number: true, cell: r => String(r.trial)}, {name: 'rounds', number: true, cell: r => formatCount(r.rounds)},
      {name: 'once', number: true, cell: r => format(r.once)}, {name: 'repeated', number: true, cell: r => format(r.repeated)}, {name: 'ratio', number: true, cell: r => formatRatio(r.ratio)}], rows)));
  }
}

/** Why trials have no value. */
class FailureSection {
  constructor(database, run) { this.database = database; this.id = run.id; this.node = el('section', {'aria-label': 'Failures'}); this.update(); }
  update() {
    const trials = this.database.trialsOf(this.id), counts = new Map();
    for (let i = 0; i < trials.count; ++i) {
      if (trials.isOk(i)) continue;
      const key = `${trials.verdict.at(i)}\u0000${trials.reason.at(i)}`;
      counts.set(key, (counts.get(key) || 0) + 1);
    }
    if (counts.size === 0) { fill(this.node); return; }
    const rows = [...counts].map(([key, count]) => ({verdict: key.split('\u0000')[0], reason: key.split('\u0000')[1], count})).sort((a, b) => b.count - a.count);
    const shown = rows.slice(0, 20);
    fill(this.node, el('h3', null, 'Trials without a value'), table([
      {name: 'verdict', cell: r => r.verdict}, {name: 'reason', class: 'name', cell: r => r.reason}, {name: 'trials', number: true, cell: r => formatCount(r.count)},
      {name: '', class: 'bar-cell', cell: r => bar(r.count / rows[0].count, 'bar second')}], shown),
    rows.length > shown.length ? el('p', {class: 'caption'}, `${formatCount(rows.length - shown.length)} further reasons are in the table of trials.`) : null);
  }
}

/** All of one run. */
class RunView {
  constructor(database, run) {
    this.id = run.id;
    this.database = database;
    this.parts = new Map();
    this.node = el('article', {'aria-label': `Run ${run.id}`});
    this.update();
  }
  /** Parts come when there is something to show; then they are updated. */
  update() {
    const database = this.database, run = database.runs.get(this.id);
    const is_tuning = hasTasks(run), has_trials = database.trialsOf(this.id).count > 0;
    const programs = this.parts.get('programs');
    const wanted = [
      ['summary', true, () => new Summary(database, run)],
      ['result', run.result, () => new ResultSection(database, run)],
      ['convergence', has_trials && !run.parts, () => new ConvergenceChart(database, run)],
      ['mapping', database.mappings.has(this.id), () => new MappingSection(database, run)],
      ['search', run.kind === 'search' && run.best, () => new SearchSection(database, run)],
      ['parallel', run.kind === 'search' && database.trialsOf(this.id).parameters.size > 0, () => new ParallelChart(database, run)],
      ['pareto', ParetoChart.has(database, run), () => new ParetoChart(database, run)],
      ['tasks', is_tuning && run.tasks.length > 0, () => new TaskSection(database, run, task => this.parts.get('programs').show(task))],
      ['programs', is_tuning && run.tasks.length > 0, () => new ProgramSection(database, run, this.parts.get('tasks').chosen)],
      ['phases', is_tuning && run.phases, () => new PhaseSection(database, run)],
      ['learning', is_tuning && LearningChart.has(database, run), () => new LearningChart(database, run)],
      ['load', is_tuning && LoadChart.has(database, run), () => new LoadChart(database, run)],
      ['repeats', true, () => new RepeatSection(database, run)],
      ['failures', true, () => new FailureSection(database, run)],
      ['trials', has_trials, () => new TrialTable(database, run)],
    ];
    let is_new = false;
    for (const [name, is_wanted, make] of wanted) {
      if (this.parts.has(name)) {
        this.parts.get(name).update();
      } else if (is_wanted) {
        this.parts.set(name, make());
        is_new = true;
      }
    }
    if (programs === undefined || is_new) this.arrange(wanted.map(([name]) => name));
  }
  arrange(order) {
    const side_by_side = new Set(['phases', 'learning', 'load']);
    const columns = el('div', {class: 'columns halves'});
    const nodes = [];
    for (const name of order) {
      const part = this.parts.get(name);
      if (!part) continue;
      if (!side_by_side.has(name)) { nodes.push(part.node); continue; }
      if (columns.childElementCount === 0) nodes.push(columns);
      columns.append(part.node);
    }
    fill(this.node, nodes);
  }
}
