import { h } from '../vendor/preact/preact.mjs';
import { clean, name, ownerText } from './text.js';
import { stateOf, states } from './state.js';

// mark shows a state by sign, word and colour.
export function mark(level, sign, word) {
  return h('span', { class: 'mark ' + level }, h('span', { 'aria-hidden': 'true' }, sign + ' '), word);
}

// stateMark shows the state of a Service.
export function stateMark(service) {
  const state = states[stateOf(service)];
  return mark(state.level, state.sign, state.word);
}

// serviceAddress returns the address of a Service's view.
export function serviceAddress(owner) {
  return '#/services/' + encodeURIComponent(owner.namespace) + '/' + encodeURIComponent(owner.name);
}

// serviceLink leads to a Service that the user may list.
export function serviceLink(owner) {
  if (!owner.namespace) return name(ownerText(owner));
  return h('a', { href: serviceAddress(owner) }, name(ownerText(owner)));
}

// table shows rows below a caption. Wide tables scroll by themselves, so the keyboard reaches them.
export function table(caption, head, rows, props) {
  return h('div', { class: 'scroll', tabIndex: 0, role: 'group', 'aria-label': caption },
    h('table', props,
      h('caption', null, caption),
      h('thead', null, h('tr', null, head.map((text) => h('th', { scope: 'col', key: text }, text)))),
      h('tbody', null, rows)));
}

// row is one line of a table; its first cell is its heading.
export function row(key, first, ...cells) {
  return h('tr', { key }, h('th', { scope: 'row' }, first), cells.map((cell, i) => h('td', { key: i }, cell)));
}

// problemList shows problems with their codes.
export function problemList(problems) {
  if (!problems?.length) return null;
  return h('ul', { class: 'problems' }, problems.map((p, i) =>
    h('li', { key: i },
      mark(p.severity === 'error' ? 'bad' : 'warn', p.severity === 'error' ? '✖' : '▲', p.severity),
      p.code && h('code', { class: 'code' }, clean(p.code)),
      p.where && h('code', null, name(p.where)),
      ' ', name(p.text))));
}

// notes shows what the user should know of a whole answer.
export function notes(list) {
  if (!list?.length) return null;
  return h('details', { class: 'notes' }, h('summary', null, list.length === 1 ? '1 note' : list.length + ' notes'),
    h('ul', null, list.map((text, i) => h('li', { key: i }, name(text)))));
}

// field is one control of a form with its label.
export function field(label, control) {
  return h('label', { class: 'field' }, h('span', null, label), control);
}

// choice is a list of which one value is chosen; the first is "all".
export function choice(label, value, values, set) {
  return field(label, h('select', { value, onChange: (e) => set(e.target.value) },
    h('option', { value: '', selected: value === '' }, 'all'),
    values.map(([key, text]) => h('option', { value: key, key, selected: key === value }, clean(text)))));
}

// tokenForm asks for the token of a user.
export function tokenForm(enter) {
  return [h('h1', null, 'Token'), h('form', { class: 'filters', id: 'token', onSubmit: (e) => { e.preventDefault(); enter(e.target.elements.token.value); } },
    field('Token', h('input', { type: 'password', name: 'token', autocomplete: 'off', required: true })),
    h('button', { type: 'submit' }, 'Use this token'))];
}
