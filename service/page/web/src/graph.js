import { h } from '../vendor/preact/preact.mjs';
import { Graph, layout } from '../vendor/dagre/dagre.esm.js';
import { clean, name } from './text.js';
import { row, table } from './parts.js';

const widthOfLetter = 7.3;
const mostLetters = 34;
const lineHeight = 17;
const margin = 10;

// words returns the lines of a node: its label, and its state in words.
function words(node) {
  const label = clean(node.label);
  const lines = [];
  for (let i = 0; i < label.length; i += mostLetters) lines.push(label.slice(i, i + mostLetters));
  const state = stateWords(node);
  return state ? [...lines, state] : lines;
}

// stateWords returns the state of a node in words; empty: it exists and is desired.
export function stateWords(node) {
  return [node.state, node.shared && 'shared', node.health].filter(Boolean).join(', ');
}

// withHealth adds the state of members that the cloud has reported to their nodes.
export function withHealth(graph, members) {
  const nodes = graph.nodes.map((node) => {
    const found = node.role === 'member' && members.find((m) => m.member === node.label);
    return found && !found.healthy ? { ...node, health: found.state } : node;
  });
  return { ...graph, nodes };
}

function arrange(graph) {
  const g = new Graph();
  g.setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 44, marginx: margin, marginy: margin });
  g.setDefaultEdgeLabel(() => ({}));
  for (const node of graph.nodes) {
    const lines = words(node);
    const longest = Math.max(...lines.map((line) => line.length));
    g.setNode(node.id, { lines, width: longest * widthOfLetter + 20, height: lines.length * lineHeight + 12 });
  }
  for (const edge of graph.edges) g.setEdge(edge.from, edge.to);
  layout(g);
  return g;
}

// arranged keeps the last layout, since a state changes more often than a graph.
let arranged = { of: null, g: null };

function layoutOf(graph) {
  const key = JSON.stringify(graph);
  if (arranged.of !== key) arranged = { of: key, g: arrange(graph) };
  return arranged.g;
}

function levelOf(node) {
  if (node.state === 'missing' || node.health) return 'bad';
  return node.state === 'surplus' ? 'warn' : node.role;
}

// drawing shows a graph as SVG. Nodes are buttons that select a resource.
export function drawing(graph, selected, select) {
  const g = layoutOf(graph);
  const size = g.graph();
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const edges = g.edges().map((e) => {
    const points = g.edge(e).points;
    return h('path', { key: e.v + ' ' + e.w, class: 'edge', d: 'M' + points.map((p) => p.x.toFixed(1) + ' ' + p.y.toFixed(1)).join('L'), 'marker-end': 'url(#arrow)', 'data-from': e.v, 'data-to': e.w });
  });
  const nodes = g.nodes().map((id) => {
    const node = byId.get(id);
    const at = g.node(id);
    const active = id === selected;
    const onKey = (e) => {
      if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); select(id); }
    };
    return h('g', { key: id, class: 'node ' + levelOf(node) + (node.state ? ' ' + node.state : '') + (active ? ' active' : ''), 'data-id': id, role: 'button', tabindex: 0, 'aria-pressed': String(active), transform: 'translate(' + (at.x - at.width / 2) + ' ' + (at.y - at.height / 2) + ')', onClick: () => select(id), onKeyDown: onKey },
      h('rect', { width: at.width, height: at.height, rx: node.role === 'member' ? at.height / 2 : node.role === 'port' ? 0 : 5 }),
      node.shared && h('rect', { class: 'inner', x: 3, y: 3, width: at.width - 6, height: at.height - 6, rx: 3 }),
      at.lines.map((line, i) => h('text', { key: i, x: at.width / 2, y: 6 + lineHeight * (i + 0.75), direction: 'ltr' }, line + ' ')));
  });
  return h('div', { class: 'scroll drawing', tabIndex: 0, role: 'group', 'aria-label': 'Graph of the load balancer' },
    h('svg', { width: size.width, height: size.height, viewBox: '0 0 ' + size.width + ' ' + size.height, role: 'group', 'aria-label': 'Ports, resources and members from left to right' },
      h('defs', null, h('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, h('path', { d: 'M0 0L8 4L0 8z' }))),
      edges, nodes));
}

// listing shows the same graph as a table.
export function listing(graph) {
  const labels = new Map(graph.nodes.map((node) => [node.id, node.label]));
  return table('The graph as a table', ['Node', 'Role', 'State', 'Leads to'], graph.nodes.map((node) =>
    row(node.id, name(node.label), node.role, stateWords(node) || 'existing',
      graph.edges.filter((e) => e.from === node.id).map((e, i) => [i > 0 && ', ', name(labels.get(e.to))]))), { class: 'listing' });
}
