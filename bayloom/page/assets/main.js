// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Puts the page together, shows the run that the address names, and, where a server sends them, adds
// trials as they come in.

const database = new Database();
let view = null;

const runOfAddress = () => {
  const match = /^#run-(\d+)$/.exec(location.hash);
  return match && database.runs.has(Number(match[1])) ? Number(match[1]) : null;
};

/** The run with most trials of the last kind: what was most likely asked for. */
const firstRun = () => {
  const runs = [...database.runs.values()];
  const with_trials = runs.filter(run => run.trials > 0);
  const last = (with_trials.length ? with_trials : runs).at(-1);
  return last ? last.of || last.id : null;
};

function showRun(id) {
  if (location.hash !== `#run-${id}`) history.replaceState(null, '', `#run-${id}`);
  view = new RunView(database, database.runs.get(id));
  render();
}

function render() {
  const page = document.getElementById('page');
  const top = overview(database, view ? view.id : null, showRun);
  if (page.firstElementChild && page.dataset.ready) page.firstElementChild.replaceWith(top); else { fill(page, top); page.dataset.ready = 'yes'; }
  if (view && page.lastElementChild !== view.node) {
    while (page.childElementCount > 1) page.lastElementChild.remove();
    page.append(view.node);
  }
}

function renderFrame(state, text) {
  document.title = `${database.name} \u2013 Bayloom`;
  const trials = [...database.runs.values()].reduce((sum, run) => sum + run.trials, 0);
  fill(document.getElementById('top'), el('h1', null, database.name),
    el('span', {class: 'muted'}, `${formatCount(database.runs.size)} run${database.runs.size === 1 ? '' : 's'}, ${formatCount(trials)} trials`),
    el('span', {class: 'state ' + state, role: 'status'}, text));
  fill(document.getElementById('bottom'), `Bayloom ${database.version}, data of ${formatTime(database.written)}. The data of this page is JSON in its source, in the element "document".`);
}

/** Takes what the server sends; the browser connects again by itself, and names what it has. */
function listen(cursor) {
  const events = new EventSource('/events?cursor=' + encodeURIComponent(cursor));
  let pending = false;
  events.onmessage = event => {
    database.merge(JSON.parse(event.data));
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      if (view) view.update(); else if (firstRun() !== null) { showRun(firstRun()); }
      render();
      renderFrame('live', `live, ${new Date().toLocaleTimeString()}`);
    });
  };
  events.onopen = () => renderFrame('live', 'live');
  events.onerror = () => renderFrame('lost', 'the server does not answer; this is what it sent last');
  events.addEventListener('reload', () => location.reload());
}

{
  const source = document.getElementById('document');
  const content = JSON.parse(source.textContent);
  database.merge(content);
  const id = runOfAddress() ?? firstRun();
  if (id !== null) showRun(id); else render();
  renderFrame('', `written ${formatTime(database.written)}`);
  window.addEventListener('hashchange', () => { const run = runOfAddress(); if (run !== null && run !== view?.id) showRun(run); });
  if (source.dataset.kind === 'live') {
    source.textContent = '';  // it is in `database` now
    listen(content.cursor);
  }
}
