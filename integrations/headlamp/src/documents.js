// What the documents of the controller's page mean on the map and in the details of a Service. These
// functions are pure; node runs their tests without a browser.

// The header for the token of the user: the API server removes Authorization before its proxy.
export const tokenHeader = 'Berth-Token';

// proxyPath returns the path of a document behind the service proxy of the API server.
export function proxyPath({ namespace, service }, path) {
  return '/api/v1/namespaces/' + encodeURIComponent(namespace) + '/services/https:' + encodeURIComponent(service) + ':443/proxy/api/v1/' + path;
}

// servicePath returns the path of the document of one Service.
export function servicePath(place, namespace, name) {
  return proxyPath(place, 'services/' + encodeURIComponent(namespace) + '/' + encodeURIComponent(name));
}

// clean removes characters that reorder or hide text: names and messages have other authors.
export function clean(text) {
  return String(text ?? '').replace(/[\p{Cc}\p{Cf}]/gu, '');
}

const bad = ['Degraded', 'NotFound'];
const waiting = ['Progressing', 'NotLookedAt', 'Changed', 'Differs'];

// statusOf returns the status of a Service in the words of the map; undefined: Berth does not serve it.
export function statusOf(service) {
  const state = service.verdict || service.health;
  if (bad.includes(state)) return 'error';
  if (waiting.includes(state)) return 'warning';
  return state === 'Healthy' ? 'success' : undefined;
}

function ownerText(owner) {
  return owner.name ? clean(owner.namespace + '/' + owner.name) : 'a Service of another namespace';
}

const balancerID = (owner) => 'berth/' + owner.uid;
const keyText = ({ kind, name }) => clean(kind + (name ? '/' + name : ''));

// mapOf returns nodes and edges of the map: a load balancer for each Service that Berth serves, and
// the resources that several Services use. An edge leads from a Service to its load balancer.
export function mapOf(fleet, shared) {
  const served = (fleet?.services ?? []).filter((s) => s.owner.uid && s.verdict !== 'LeftAlone');
  const known = new Set(served.map((s) => s.owner.uid));
  const nodes = served.map((s) => ({
    id: balancerID(s.owner), label: clean(s.addresses?.[0] ?? 'no address'), subtitle: clean('load balancer ' + (s.kind ?? '')).trim(), status: statusOf(s), data: s,
  }));
  const edges = served.map((s) => ({ id: 'berth-of/' + s.owner.uid, source: s.owner.uid, target: balancerID(s.owner) }));
  for (const resource of shared?.resources ?? []) {
    const id = 'berth-shared/' + keyText(resource.key) + '/' + clean(resource.id);
    const users = resource.users.filter((use) => known.has(use.owner.uid));
    if (!users.length) continue;
    nodes.push({ id, label: keyText(resource.key), subtitle: 'shared by ' + resource.users.length + ' Services', data: resource });
    for (const use of users) edges.push({ id: 'berth-use/' + use.owner.uid + '/' + id, source: balancerID(use.owner), target: id });
  }
  return { nodes, edges };
}

// factsOf returns name and value of what the details of a Service show.
export function factsOf(service) {
  return [
    ['State', clean(service.verdict || service.health)],
    ['Message', clean(service.message)],
    ['Kind', clean(service.kind)],
    ['Address', (service.addresses ?? []).map(clean).join(', ')],
    ['Class', clean(service.class)],
  ].filter(([, value]) => value);
}

// problemsOf returns what is wrong with a Service, with the page of each code.
export function problemsOf(service) {
  return (service.detail?.problems ?? []).map((p) => ({
    severity: clean(p.severity), code: clean(p.code), where: clean(p.where), text: clean(p.text),
    page: /^BRT[0-9]{3}$/.test(p.code ?? '') ? 'https://berth-lb.github.io/berth/problems/' + p.code.toLowerCase() + '/' : '',
  }));
}

// resourcesOf returns the parts of the load balancer, each with what it leads to.
export function resourcesOf(service) {
  const graph = service.detail?.graph;
  if (!graph) return [];
  const labels = new Map(graph.nodes.map((n) => [n.id, n.role === 'service' && !n.label ? ownerText({}) : clean(n.label)]));
  return graph.nodes.map((n) => ({
    role: clean(n.role), label: labels.get(n.id), state: clean(n.state || 'existing') + (n.shared ? ', shared' : ''),
    leads: graph.edges.filter((e) => e.from === n.id).map((e) => labels.get(e.to)).join(', '),
  }));
}

// notesOf returns what the controller does not show, and why.
export function notesOf(service) {
  return [service.detail?.unplanned, ...(service.detail?.notes ?? [])].filter(Boolean).map(clean);
}
