// The documents are answers of the controller's page, which TestHeadlampDocuments in service/console records.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { clean, factsOf, mapOf, notesOf, problemsOf, proxyPath, resourcesOf, servicePath, statusOf } from '../src/documents.js';

const recorded = (name) => JSON.parse(readFileSync(new URL('documents/' + name + '.json', import.meta.url), 'utf8'));
const [fleet, service, shared] = ['services', 'service', 'shared'].map(recorded);

test('paths lead through the service proxy', () => {
  const place = { namespace: 'kube-system', service: 'berth-page' };
  assert.equal(proxyPath(place, 'shared'), '/api/v1/namespaces/kube-system/services/https:berth-page:443/proxy/api/v1/shared');
  assert.equal(servicePath(place, 'shop', 'a/b').endsWith('/proxy/api/v1/services/shop/a%2Fb'), true);
});

test('each Service leads to its load balancer, and load balancers to what they share', () => {
  const { nodes, edges } = mapOf(fleet, shared);
  assert.equal(nodes.length, fleet.services.length + shared.resources.length);
  const ids = new Set(nodes.map((n) => n.id));
  assert.equal(ids.size, nodes.length);
  for (const s of fleet.services) assert.ok(edges.some((e) => e.source === s.owner.uid && e.target === 'berth/' + s.owner.uid));
  for (const e of edges) assert.ok(ids.has(e.target), e.target);
  assert.equal(edges.filter((e) => e.target.startsWith('berth-shared/')).length, 2);
});

test('a Service that Berth leaves alone is not on the map', () => {
  const left = { services: fleet.services.map((s) => ({ ...s, verdict: 'LeftAlone' })) };
  assert.deepEqual(mapOf(left, shared), { nodes: [], edges: [] });
  assert.deepEqual(mapOf(undefined, undefined), { nodes: [], edges: [] });
});

test('details', () => {
  assert.deepEqual(factsOf(service)[0], ['State', 'Degraded']);
  assert.equal(statusOf(service), 'error');
  const [problem] = problemsOf(service);
  assert.equal(problem.page, 'https://berth-lb.github.io/berth/problems/' + problem.code.toLowerCase() + '/');
  const parts = resourcesOf(service);
  assert.equal(parts.length, service.detail.graph.nodes.length);
  assert.ok(parts.some((p) => p.leads !== ''));
  assert.equal(notesOf(service).length, 1);
});

test('texts of other authors are cleaned', () => {
  assert.equal(clean('a\u202eb\u0007'), 'ab');
  assert.equal(problemsOf({ detail: { problems: [{ code: '"><script>', text: 'x' }] } })[0].page, '');
});
