import { h } from '../vendor/preact/preact.mjs';
import { clean, count, keyText, name } from './text.js';
import { row, serviceLink, table } from './parts.js';

// sharedView shows which Service uses which part of each shared resource.
export function sharedView({ shared }) {
  const title = h('h1', null, 'Shared resources');
  if (!shared) return [title, h('p', null, 'Reading the cloud …')];
  const byUse = [...shared.resources].sort((a, b) => b.users.length - a.users.length);
  return [
    title,
    h('p', { role: 'status' }, count(byUse.length, 'resource') + ' that several Services use or may use.'),
    byUse.map((res, i) => h('section', { key: i, class: 'plan' },
      h('h2', null, name(keyText(res.key)), ' ', res.id && h('code', null, name(res.id))),
      table('Services that use ' + clean(keyText(res.key) + ' ' + (res.id ?? '')), ['Service', 'Parts'], res.users.map((u, n) =>
        row(n, serviceLink(u.owner), (u.parts ?? []).map((p, j) => [j > 0 && ', ', name(p)])))))),
  ];
}
