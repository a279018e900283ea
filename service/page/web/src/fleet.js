import { h } from '../vendor/preact/preact.mjs';
import { count, name, ownerText } from './text.js';
import { codesOf, stateOf, states } from './state.js';
import { choice, field, notes, row, serviceLink, stateMark, table } from './parts.js';

// Rows are the most expensive part of the page, and a person reads fewer before a search.
const rowsAtOnce = 200;

const filters = ['text', 'state', 'problem', 'kind', 'class'];

// without is the value of a filter for Services that have none.
const without = '(none)';

// matches reports whether a Service passes all filters.
function matches(service, query) {
  const text = (query.get('text') ?? '').toLowerCase();
  const checks = [
    !text || (ownerText(service.owner) + ' ' + (service.addresses ?? []).join(' ') + ' ' + (service.message ?? '')).toLowerCase().includes(text),
    !query.get('state') || stateOf(service) === query.get('state'),
    !query.get('problem') || codesOf(service).includes(query.get('problem')),
    !query.get('kind') || (service.kind || without) === query.get('kind'),
    !query.get('class') || (service.class || without) === query.get('class'),
  ];
  return checks.every(Boolean);
}

// values lists the values of a property, sorted.
function values(services, of) {
  return [...new Set(services.flatMap(of))].sort().map((v) => [v, v]);
}

function line(service) {
  const codes = codesOf(service);
  return row(ownerText(service.owner), serviceLink(service.owner),
    [stateMark(service), codes.map((code) => h('code', { class: 'code', key: code }, code))],
    service.kind ? name(service.kind) : '',
    service.class ? name(service.class) : '',
    (service.addresses ?? []).map((a, i) => [i > 0 && ', ', name(a)]),
    h('span', { class: 'message' }, name(service.message)));
}

// fleetView lists all Services.
export function fleetView({ fleet, query, setQuery, shown, showMore }) {
  if (!fleet) return h('p', null, 'Reading the Services …');
  const set = (key) => (value) => {
    const next = new URLSearchParams(query);
    if (value) next.set(key, value); else next.delete(key);
    setQuery(next);
  };
  const found = fleet.services.filter((s) => matches(s, query));
  const limit = Math.max(shown, rowsAtOnce);
  const active = filters.some((f) => query.get(f));
  return [
    h('h1', null, 'Services'),
    fleet.controller?.absent && h('p', { class: 'banner bad', role: 'alert' }, name(fleet.controller.absent)),
    notes(fleet.notes),
    h('form', { class: 'filters', onSubmit: (e) => e.preventDefault() },
      field('Search', h('input', { type: 'search', value: query.get('text') ?? '', onInput: (e) => set('text')(e.target.value) })),
      choice('State', query.get('state') ?? '', Object.keys(states).map((k) => [k, states[k].word]), set('state')),
      choice('Problem', query.get('problem') ?? '', values(fleet.services, codesOf), set('problem')),
      choice('Kind', query.get('kind') ?? '', values(fleet.services, (s) => s.kind || without), set('kind')),
      choice('Class', query.get('class') ?? '', values(fleet.services, (s) => s.class || without), set('class')),
      active && h('button', { type: 'button', onClick: () => setQuery(new URLSearchParams()) }, 'Remove the filters')),
    h('p', { role: 'status', id: 'count' }, active ? found.length + ' of ' + count(fleet.total, 'Service') : count(fleet.total, 'Service'), fleet.services.length < fleet.total && ', reading the others …'),
    found.length > 0 && table('Services of type LoadBalancer', ['Service', 'State', 'Kind', 'Class', 'Address', 'Message'], found.slice(0, limit).map(line), { class: 'fleet' }),
    found.length > limit && h('p', null, h('button', { type: 'button', onClick: () => showMore(limit + rowsAtOnce) }, 'Show more: ' + (found.length - limit) + ' are left')),
  ];
}
