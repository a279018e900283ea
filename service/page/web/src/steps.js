import { h } from '../vendor/preact/preact.mjs';
import { clean, count, name, ownerText, valueText } from './text.js';
import { mark, notes, problemList, row, serviceLink, table } from './parts.js';

const signs = { create: '+', update: '~', delete: '−', forget: '○' };

const impacts = {
  interrupts: ['bad', '✖', 'interrupts traffic'],
  brief: ['warn', '▲', 'may interrupt for seconds'],
};

const effects = { uninterrupted: 'uninterrupted', brief: 'interrupted for seconds', interrupted: 'interrupted' };

function change(c, i) {
  const parts = c.added || c.removed
    ? [c.added && 'added ' + valueText(c.added), c.removed && 'removed ' + valueText(c.removed)].filter(Boolean).join('; ')
    : valueText(c.from) + ' → ' + valueText(c.to);
  return row(i, name(c.field), name(parts), c.forcesReplacement ? 'forces a replacement' : '');
}

function step(s, held) {
  const level = impacts[s.impact];
  const fields = s.changes?.length
    ? table('Changes of ' + clean(s.id), ['Field', 'Change', 'Note'], s.changes.map(change))
    : s.action === 'create' && s.target.fields?.length
      ? table('Fields of ' + clean(s.id), ['Field', 'Value'], s.target.fields.map((f) => row(f.name, name(f.name), name(valueText(f.value)))))
      : null;
  const head = [
    h('span', { class: 'action', 'aria-hidden': 'true' }, signs[s.action] ?? ''), ' ', name(s.id), ' ',
    level && mark(...level), held && mark('wait', '‖', 'held: ' + clean(held.by)),
  ];
  const why = [s.why, held?.why].filter(Boolean).map((text, i) => h('p', { key: i }, name(text)));
  return h('li', { key: s.id, class: 'step' }, fields || why.length ? h('details', null, h('summary', null, head), why, fields) : head);
}

function portLine(p) {
  const text = [effects[p.effect], p.moves && 'clients must use another address', p.opens && 'opens for ' + p.opens.join(', '), p.closes && 'closes for ' + p.closes.join(', '), p.missing && 'not served for ' + p.missing.join(', ')].filter(Boolean).join('; ');
  return row(p.port + p.protocol + p.family, p.port + '/' + p.protocol, p.family, name(text), p.lost ? name(p.lost) : '', p.restored ? name(p.restored) : '');
}

// steps shows the plan of one Service.
export function steps(doc) {
  const empty = doc.steps.length + doc.held.length === 0;
  return [
    problemList(doc.problems),
    empty && h('p', null, doc.problems?.some((p) => p.severity === 'error') ? 'There is no plan.' : 'Nothing to do.'),
    doc.steps.length > 0 && h('ol', { class: 'steps' }, doc.steps.map((s) => step(s))),
    doc.held.length > 0 && h('ul', { class: 'steps' }, doc.held.map((held) => step(held.step, held))),
    doc.traffic?.length > 0 && table('Effect on clients of ' + clean(ownerText(doc.owner ?? {})), ['Port', 'Family', 'Effect', 'Lost at', 'Restored at'], doc.traffic.map(portLine)),
  ];
}

function summaryText(s) {
  const parts = ['create', 'update', 'replace', 'delete', 'forget', 'held'].filter((k) => s[k] > 0).map((k) => s[k] + ' ' + (k === 'held' ? 'held' : 'to ' + k));
  return parts.length ? parts.join(', ') : 'no changes';
}

function hasWork(doc) {
  return doc.steps.length + doc.held.length + (doc.problems?.length ?? 0) > 0;
}

// planBody is the part of the view that is exported.
export function planBody(document, all) {
  const plans = document.plans.filter((doc) => all || hasWork(doc));
  return [
    h('p', { role: 'status' }, count(document.plans.length, 'Service') + ', ' + document.plans.filter(hasWork).length + ' with steps or problems.'),
    plans.map((doc) => h('section', { key: ownerText(doc.owner ?? {}), class: 'plan' },
      h('h2', null, doc.owner ? serviceLink(doc.owner) : 'The cluster'),
      h('p', null, summaryText(doc.summary)), steps(doc))),
  ];
}

// planView shows the plan of all Services.
export function planView({ plan, fleet, query, setQuery, exportPlan }) {
  if (!plan) return [h('h1', null, 'Plan'), h('p', null, 'Reading the cloud and planning …')];
  const all = query.get('all') === '1';
  return [
    h('h1', null, 'Plan'),
    h('p', null, 'What the controller would do now. This page changes nothing.'),
    notes(fleet?.notes),
    h('p', { class: 'filters' },
      h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: all, onChange: (e) => setQuery(new URLSearchParams(e.target.checked ? 'all=1' : '')) }), ' Services without changes too'),
      h('button', { type: 'button', onClick: exportPlan }, 'Export as HTML')),
    h('div', { id: 'plan' }, planBody(plan, all)),
  ];
}
