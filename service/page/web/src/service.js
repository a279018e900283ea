import { h } from '../vendor/preact/preact.mjs';
import { clean, count, keyText, name, originText, ownerText, valueText } from './text.js';
import { codesOf } from './state.js';
import { mark, notes, problemList, row, stateMark, table } from './parts.js';
import { drawing, listing, withHealth } from './graph.js';
import { steps } from './steps.js';

function cause(c, i) {
  return h('li', { key: i },
    name(originText(c)), c.at && [' at ', h('code', null, name(c.at))],
    c.absent ? '. Without it the resource is not desired.' : c.compared ? ['. Without it: ', name(valueText(c.without)), '.'] : '.',
    c.legal && [' Legal: ', name(c.legal), '.'],
    c.change && [' A change: ', name(c.change), '.']);
}

function origins(causes) {
  if (!causes?.length) return h('span', null, 'default, or read from the cloud');
  const text = originText(causes[0]) + (causes.length > 1 ? ' and ' + (causes.length - 1) + ' more' : '');
  return h('details', { class: 'explain' }, h('summary', null, name(text)), h('ul', null, causes.map(cause)));
}

function fieldRows(want, have) {
  const existing = new Map((have?.fields ?? []).map((f) => [f.name, f.value]));
  const names = [...new Set([...(want?.fields ?? []), ...(have?.fields ?? [])].map((f) => f.name))];
  const desired = new Map((want?.fields ?? []).map((f) => [f.name, f]));
  return names.map((n) => {
    const field = desired.get(n);
    const [wanted, found] = [field ? valueText(field.value) : '', have ? valueText(existing.get(n)) : ''];
    const differs = field && have && wanted !== found && !wanted.includes('id of ');
    return row(n, name(n), name(wanted), differs ? [mark('warn', '≠', 'differs'), ' ', name(found)] : name(found), field ? origins(field.causes) : '');
  });
}

// resources pairs desired and existing resources by their key.
function resources(detail) {
  const out = new Map();
  for (const want of detail.want ?? []) out.set(keyText(want.key), { want });
  for (const have of detail.have ?? []) out.set(keyText(have.key), { ...out.get(keyText(have.key)), have });
  return [...out].sort(([a], [b]) => (a < b ? -1 : 1));
}

function resource(key, pair, detail, opened, toggle) {
  const state = !pair.have ? mark('bad', '✖', 'missing') : !pair.want && detail.want ? mark('warn', '▲', 'not desired') : mark('good', '✔', 'existing');
  return h('details', { key, id: 'resource-' + key, class: 'resource', tabIndex: -1, open: opened.has(key), onToggle: (e) => e.target === e.currentTarget && toggle(key, e.target.open) },
    h('summary', null, name(key), ' ', state, pair.have?.id && h('code', null, name(pair.have.id))),
    pair.want?.causes?.length > 0 && h('div', null, 'Desired because of:', h('ul', null, pair.want.causes.map(cause))),
    pair.want?.named?.length > 0 && h('div', null, 'Its name depends on:', h('ul', null, pair.want.named.map(cause))),
    table('Fields of ' + clean(key), ['Field', 'Desired', 'Existing', 'Origin'], fieldRows(pair.want, pair.have)));
}

function membersOf(branch) {
  return [...(branch.members ?? []), ...(branch.below ?? []).flatMap(membersOf)];
}

function branchRows(branch, path, seen) {
  const at = [...path, branch.name];
  const own = (branch.members ?? []).map((m) => row(at.join(' ') + m.member, name(m.member), name(at.join(' › ')),
    m.healthy ? mark('good', '✔', 'healthy') : mark('bad', '✖', 'not healthy'), name(m.state), name(m.why)));
  return [...own, ...(branch.below ?? []).flatMap((below) => branchRows(below, at, seen))];
}

function health(service) {
  const rows = (service.balancers ?? []).flatMap((b) => branchRows(b, []));
  const members = (service.balancers ?? []).flatMap(membersOf);
  if (!rows.length && !service.unseen) return null;
  return h('section', null, h('h2', null, 'Health'),
    service.unseen && h('p', null, 'Members are not shown: ', name(service.unseen)),
    rows.length > 0 && h('p', null, members.filter((m) => m.healthy).length + ' of ' + count(members.length, 'member') + ' healthy.'),
    rows.length > 0 && table('Members as the cloud reports them', ['Member', 'Behind', 'Health', 'State', 'Reason'], rows));
}

function conditions(service) {
  if (!service.conditions?.length) return null;
  return table('Conditions', ['Condition', 'Status', 'Reason', 'Since', 'Message'], service.conditions.map((c) =>
    row(c.type, name(c.type.replace(/^.*\//, '')), c.status, name(c.reason), c.lastTransitionTime, name(c.message))));
}

function head(service) {
  return [
    h('h1', null, name(ownerText(service.owner))),
    h('p', { class: 'lead' }, stateMark(service), codesOf(service).map((code) => h('code', { class: 'code', key: code }, code)), ' ', name(service.message)),
    h('dl', { class: 'facts' },
      h('dt', null, 'Address'), h('dd', null, service.addresses?.length ? service.addresses.map((a, i) => [i > 0 && ', ', name(a)]) : 'none'),
      h('dt', null, 'Ports'), h('dd', null, (service.ports ?? []).map((p, i) => [i > 0 && ', ', name(p)])),
      h('dt', null, 'Kind'), h('dd', null, service.kind ? name(service.kind) : 'not known'),
      h('dt', null, 'Class'), h('dd', null, service.class ? name(service.class) : 'none')),
  ];
}

function events(service) {
  if (service.untold) return h('section', null, h('h2', null, 'Events'), h('p', null, name(service.untold)));
  if (!service.events?.length) return null;
  return h('section', null, h('h2', null, 'Events'), h('ul', null, service.events.map((e, i) => h('li', { key: i }, name(e)))));
}

function details(service, detail, { selected, select, opened, toggle }) {
  const members = (service.balancers ?? []).flatMap(membersOf);
  const graph = detail.graph && withHealth(detail.graph, members);
  const pairs = resources(detail);
  return [
    detail.unplanned && h('p', { class: 'banner warn' }, name(detail.unplanned)),
    notes(detail.notes),
    graph?.nodes.length > 0 && h('section', null, h('h2', null, 'Load balancer'),
      h('p', { class: 'hint' }, 'A node opens its resource below.'),
      drawing(graph, selected, select), h('details', null, h('summary', null, 'The graph as a table'), listing(graph))),
    health(service),
    pairs.length > 0 && h('section', { id: 'resources' }, h('h2', null, 'Resources'),
      h('p', { class: 'hint' }, 'Desired and existing fields. The origin of a field opens its explanation.'),
      pairs.map(([key, pair]) => resource(key, pair, detail, opened, toggle))),
    detail.required?.length > 0 && h('section', null, h('h2', null, 'Required inputs'),
      h('ul', null, detail.required.map((r, i) => h('li', { key: i }, name(originText(r)), ': ', name(r.text))))),
    detail.plan && h('section', null, h('h2', null, 'Plan'), steps({ ...detail.plan, problems: [] })),
  ];
}

// serviceView shows one Service.
export function serviceView({ service, ...choice }) {
  if (!service) return h('p', null, 'Reading the Service …');
  return [
    head(service),
    problemList(service.detail?.problems),
    conditions(service),
    service.detail ? details(service, service.detail, choice) : h('p', { class: 'banner' }, 'The cloud is not read. Start the command with --release or --provider to see the load balancer.'),
    events(service),
  ];
}
