import { h } from '../vendor/preact/preact.mjs';
import { count, ownerText } from './text.js';
import { heapOf, heaps } from './state.js';
import { mark, notes, serviceLink } from './parts.js';

// heapsView sorts all Services by what the plan does to them.
export function heapsView({ planned }) {
  const title = h('h1', null, 'Take-over');
  if (!planned) return [title, h('p', null, 'Reading the cloud and planning …')];
  const groups = heaps.map((heap) => [heap, planned.services.filter((s) => heapOf(s) === heap)]);
  return [
    title,
    h('p', null, 'What happens to each Service when the controller takes it over. ', count(planned.total, 'Service'), '.'),
    notes(planned.notes),
    groups.map(([heap, services]) => h('section', { key: heap.name, class: 'heap', id: 'heap-' + heap.name },
      h('h2', null, mark(heap.level, heap.sign, heap.title), ' ', h('span', { class: 'number' }, services.length)),
      services.length > 0 && h('ul', { class: 'compact' }, services.map((s) => h('li', { key: ownerText(s.owner) }, serviceLink(s.owner)))))),
  ];
}
