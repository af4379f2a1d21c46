// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

'use strict';

// Elements of the page. Text becomes text and nothing else: no function here parses HTML, for the
// names and reasons of a document are those of strangers.

/** Characters that change how those around them are shown, or that no one can see. */
const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

function clean(text) {
  return String(text).replace(UNSEEN, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** el('td', {class: 'number', onclick: f}, 'text', node, ...): null children are left out. */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) {
      node.addEventListener(name.slice(2), value);
    } else {
      node.setAttribute(name, value === true ? '' : clean(value));
    }
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : clean(child));
  }
  return node;
}

function fill(node, ...children) {
  node.textContent = '';
  return add(node, children);
}

/** A color of the style sheet, which follows the reader's choice of light or dark. */
function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

/**
 * A table. Columns: {name, number?, class?, cell: row => text or node}. `choose`, if given, is
 * called with the row that was clicked; `isChosen` tells the row to be marked.
 */
function table(columns, rows, {choose = null, isChosen = () => false, total = null} = {}) {
  const classOf = c => c.class || (c.number ? 'number' : null);
  const body = rows.map(row => el('tr', {
    class: choose ? 'choice' + (isChosen(row) ? ' chosen' : '') : null,
    'aria-current': choose && isChosen(row) ? 'true' : null,
    onclick: choose ? () => choose(row) : null,
  }, columns.map((c, i) => {
    const content = c.cell(row);
    const is_button = choose && i === 0;
    return el('td', {class: classOf(c)}, is_button ? el('button', {type: 'button'}, content) : content);
  })));
  return el('div', {class: 'wide'}, el('table', null,
    el('thead', null, el('tr', null, columns.map(c => el('th', {class: classOf(c), scope: 'col'}, c.name)))),
    el('tbody', null, body),
    total ? el('tfoot', null, el('tr', null, columns.map(c => el('td', {class: classOf(c)}, total[c.name] || '')))) : null));
}

/** A bar as long as a share of its cell, 0 to 1. */
function bar(share, className = 'bar') {
  const node = el('span', {class: className, role: 'presentation'});
  node.style.width = (100 * Math.max(0, Math.min(1, share || 0))).toFixed(1) + '%';
  return node;
}

function choiceOf(label, options, value, onChange) {
  const select = el('select', {onchange: () => onChange(select.value)},
    options.map(([key, name]) => el('option', {value: key}, name)));
  select.value = value;
  return el('label', null, label, select);
}

function tick(label, checked, onChange) {
  const box = el('input', {type: 'checkbox', onchange: () => onChange(box.checked)});
  box.checked = checked;
  return el('label', null, box, label);
}
