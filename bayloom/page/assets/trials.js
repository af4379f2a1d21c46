// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The table of all trials of a run: filtered, sorted, page by page.

const ROWS_OF_A_PAGE = 50;

class TrialTable {
  constructor(database, run) {
    this.database = database;
    this.id = run.id;
    this.trials = database.trialsOf(run.id);
    this.sort = {name: 'trial', ascending: true};
    this.filter = '';
    this.verdict = 'all';
    this.page = 0;
    this.count = el('span', {class: 'muted', role: 'status'});
    this.search = el('input', {
      type: 'search', placeholder: 'text in any column', 'aria-label': 'Filter trials by text',
      oninput: () => { this.filter = this.search.value.toLowerCase(); this.page = 0; this.update(); },
    });
    this.verdicts = el('span');
    this.body = el('div');
    this.before = el('button', {type: 'button', onclick: () => { --this.page; this.update(); }}, 'Previous');
    this.after = el('button', {type: 'button', onclick: () => { ++this.page; this.update(); }}, 'Next');
    this.node = el('section', {'aria-label': 'Trials'}, el('h3', null, 'Trials'),
      el('div', {class: 'controls'}, el('label', null, 'Filter', this.search), this.verdicts, this.before, this.after, this.count),
      this.body);
    this.update();
  }

  columns() {
    const t = this.trials, run = this.database.runs.get(this.id);
    const asTime = hasTasks(run) ? formatSeconds : value => formatRunValue(run, value);
    const columns = [
      {name: 'trial', number: true, key: i => t.ordinal.data[i], show: i => formatCount(t.ordinal.data[i])},
    ];
    if (hasTasks(run)) columns.push({name: 'task', class: 'name', key: i => this.database.taskName(t.task.data[i]), show: i => this.database.taskName(t.task.data[i])});
    columns.push(
      {name: run.objective || 'value', number: true, key: i => t.value.data[i], show: i => asTime(t.value.data[i]) + (t.isRough(i) ? ' (rough)' : '')},
      {name: 'verdict', key: i => t.verdict.at(i), show: i => t.verdict.at(i)},
      {name: 'time', number: true, key: i => t.elapsed.data[i], show: i => formatSeconds(t.elapsed.data[i])},
      {name: 'by', key: i => t.proposer.at(i), show: i => t.proposer.at(i)});
    for (const [name, values] of t.parameters) columns.push({name, number: values.some(v => typeof v === 'number'), key: i => values[i], show: i => formatCell(values[i])});
    for (const [name, numbers] of t.details) {
      if (name === 'cut_short') continue;
      const format = name.endsWith('_seconds') ? formatSeconds : name === 'spread' ? formatPercent : formatValue;
      columns.push({name: name.replaceAll('_', ' '), number: true, key: i => numbers.data[i], show: i => format(numbers.data[i])});
    }
    if (t.reason.names.some(name => name !== '')) columns.push({name: 'reason', class: 'name', key: i => t.reason.at(i), show: i => t.reason.at(i)});
    return columns;
  }

  rows(columns) {
    const t = this.trials, rows = [];
    for (let i = 0; i < t.count; ++i) {
      if (this.verdict !== 'all' && t.verdict.at(i) !== this.verdict) continue;
      if (this.filter && !columns.some(c => String(c.show(i)).toLowerCase().includes(this.filter))) continue;
      rows.push(i);
    }
    const column = columns.find(c => c.name === this.sort.name) || columns[0];
    const sign = this.sort.ascending ? 1 : -1;
    const missing = v => v === null || v === undefined || v === '' || Number.isNaN(v);
    if (column !== columns[0] || !this.sort.ascending) {
      const keys = new Map(rows.map(i => [i, column.key(i)]));
      rows.sort((a, b) => {
        const x = keys.get(a), y = keys.get(b);
        if (missing(x) || missing(y)) return missing(x) - missing(y) || a - b;
        if (typeof x === 'number' && typeof y === 'number') return sign * (x - y) || a - b;
        return sign * String(x).localeCompare(String(y)) || a - b;
      });
    }
    return rows;
  }

  update() {
    const columns = this.columns(), rows = this.rows(columns);
    const pages = Math.max(1, Math.ceil(rows.length / ROWS_OF_A_PAGE));
    this.page = Math.max(0, Math.min(this.page, pages - 1));
    const first = this.page * ROWS_OF_A_PAGE, shown = rows.slice(first, first + ROWS_OF_A_PAGE);
    this.before.disabled = this.page === 0;
    this.after.disabled = this.page + 1 >= pages;
    const all = rows.length === this.trials.count ? '' : ` (${formatCount(this.trials.count)} in all)`;
    fill(this.count, rows.length === 0 ? 'no such trials' : `${formatCount(first + 1)} to ${formatCount(first + shown.length)} of ${formatCount(rows.length)} trials${all}`);
    if (this.trials.verdict.names.length > 1 && this.verdicts.childElementCount === 0) {
      fill(this.verdicts, choiceOf('Verdict', ['all', ...this.trials.verdict.names].map(v => [v, v]), this.verdict,
        v => { this.verdict = v; this.page = 0; this.update(); }));
    }
    const header = (c, place) => {
      const is_sorted = this.sort.name === c.name;
      return el('th', {class: c.class || (c.number ? 'number' : null), scope: 'col', 'aria-sort': is_sorted ? (this.sort.ascending ? 'ascending' : 'descending') : 'none'},
        el('button', {type: 'button', onclick: () => {
          this.sort = {name: c.name, ascending: is_sorted ? !this.sort.ascending : true};
          this.page = 0;
          this.update();
          this.body.querySelectorAll('th button')[place].focus();
        }}, c.name, is_sorted ? (this.sort.ascending ? ' \u25b4' : ' \u25be') : ''));
    };
    fill(this.body, el('div', {class: 'wide'}, el('table', {class: columns.length < 8 ? 'few' : null},
      el('thead', null, el('tr', null, columns.map(header))),
      el('tbody', null, shown.map(i => el('tr', null, columns.map(c => el('td', {
        class: (c.class || (c.number ? 'number' : '')) + (c.name === 'verdict' && !this.trials.isOk(i) ? ' bad' : '') || null,
      }, c.show(i)))))))));
  }
}
