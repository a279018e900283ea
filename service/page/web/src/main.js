import { h, render } from '../vendor/preact/preact.mjs';
import { load, loadFleet, setToken, takeToken } from './api.js';
import { exportPlan } from './export.js';
import { fleetView } from './fleet.js';
import { heapsView } from './heaps.js';
import { planView } from './steps.js';
import { tokenForm } from './parts.js';
import { serviceView } from './service.js';
import { sharedView } from './shared.js';
import { clean, name } from './text.js';

const views = [
  ['services', 'Services'],
  ['plan', 'Plan'],
  ['takeover', 'Take-over'],
  ['shared', 'Shared'],
];

// Times between two reads. The server reads the cloud less often.
const clusterTime = 5000;
const cloudTime = 20000;

const state = { route: readRoute(), fleet: null, documents: {}, error: '', denied: false, selected: '', opened: new Set(), shown: 0 };

// readRoute reads view, Service and filters from the fragment of the address.
function readRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [view, namespace, service] = path.split('/').map(decodeText);
  return { view: views.some(([key]) => key === view) ? view : 'services', namespace, service, query: new URLSearchParams(query ?? '') };
}

function decodeText(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function update(patch) {
  Object.assign(state, patch);
  render(h(Page), document.getElementById('app'));
}

// setQuery writes the filters into the address without an entry in the history for each letter.
function setQuery(query) {
  const text = query.toString();
  history.replaceState(null, '', '#/' + state.route.view + (text ? '?' + text : ''));
  update({ route: readRoute(), shown: 0 });
}

// select opens a resource and moves to it.
function select(key) {
  update({ selected: key, opened: new Set([...state.opened, key]) });
  const found = key && document.getElementById('resource-' + key);
  found?.focus({ preventScroll: true }); // not its summary, which the same key would close again
  found?.scrollIntoView({ block: 'nearest' });
}

// toggle records whether a resource is open.
function toggle(key, open) {
  if (state.opened.has(key) === open) return;
  const opened = new Set(state.opened);
  if (open) opened.add(key); else opened.delete(key);
  update({ opened });
}

// path returns the address of the document that a view needs; empty: the list of Services.
function path({ view, namespace, service }) {
  if (view === 'services' && service) return '/api/v1/services/' + encodeURIComponent(namespace) + '/' + encodeURIComponent(service);
  return { plan: '/api/v1/plan', takeover: 'planned', shared: '/api/v1/shared' }[view] ?? '';
}

let timer;
let reads = 0;

// refresh reads what the view needs, and again after a while.
async function refresh() {
  clearTimeout(timer);
  const own = ++reads;
  const wanted = path(state.route);
  try {
    if (wanted === '') {
      const fleet = await loadFleet(false, (part) => own === reads && !state.fleet && update({ fleet: part, error: '' }));
      if (own === reads) update({ fleet, error: '', denied: false });
    } else {
      const found = wanted === 'planned' ? await loadFleet(true) : await load(wanted);
      if (own === reads) update({ documents: { [wanted]: found }, error: '', denied: false });
    }
  } catch (err) {
    if (own === reads) update(refused(err));
  }
  if (own === reads) timer = setTimeout(() => (document.hidden ? schedule() : refresh()), wanted === '' ? clusterTime : cloudTime);
}

// refused returns the state after an error. Of a user without rights nothing stays.
function refused(err) {
  const denied = err.status === 401 || err.status === 403;
  return { error: err.message, denied, ...(denied && { fleet: null, documents: {} }) };
}

function schedule() {
  timer = setTimeout(refresh, clusterTime);
}

function content() {
  const { route, documents } = state;
  const shown = documents[path(route)];
  switch (true) {
    case route.view === 'services' && Boolean(route.service):
      return serviceView({ service: shown, selected: state.selected, select, opened: state.opened, toggle });
    case route.view === 'plan':
      return planView({ plan: shown, fleet: null, query: route.query, setQuery, exportPlan });
    case route.view === 'takeover':
      return heapsView({ planned: shown });
    case route.view === 'shared':
      return sharedView({ shared: shown });
  }
  return fleetView({ fleet: state.fleet, query: route.query, setQuery, shown: state.shown, showMore: (n) => update({ shown: n }) });
}

function Page() {
  const { route } = state;
  return [
    h('a', { class: 'skip', href: '#main', onClick: (e) => { e.preventDefault(); document.getElementById('main').focus(); } }, 'Skip to the content'),
    h('header', null,
      h('span', { class: 'brand' }, 'Berth'),
      h('nav', { 'aria-label': 'Views' }, h('ul', null, views.map(([key, text]) => h('li', { key },
        h('a', { href: '#/' + key, 'aria-current': route.view === key ? 'page' : undefined }, text))))),
      h('button', { type: 'button', id: 'reload', onClick: refresh }, 'Read again')),
    h('main', { id: 'main', tabIndex: -1 },
      state.error && h('p', { class: 'banner bad', role: 'alert' }, name(state.error)),
      state.denied && tokenForm((token) => { setToken(token); refresh(); }),
      state.error && !shownAtAll() ? null : content()),
    h('footer', null, h('a', { href: '/licenses.txt' }, 'Licences of the libraries')),
  ];
}

function shownAtAll() {
  const wanted = path(state.route);
  return wanted === '' ? state.fleet : state.documents[wanted];
}

function titleOf(route) {
  const view = views.find(([key]) => key === route.view)[1];
  return (route.service ? clean(route.namespace + '/' + route.service) : view) + ' · Berth';
}

function follow() {
  document.title = titleOf(state.route);
  update({});
  refresh();
}

window.addEventListener('hashchange', () => {
  takeToken();
  const before = path(state.route);
  state.route = readRoute();
  if (path(state.route) !== before) {
    Object.assign(state, { selected: '', opened: new Set(), shown: 0, error: '' });
    document.getElementById('main')?.focus();
  }
  follow();
});

takeToken();
state.route = readRoute();
follow();
