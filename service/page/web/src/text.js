import { h } from '../vendor/preact/preact.mjs';

// Characters that control a terminal or reorder the text around them.
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;

// clean replaces control characters by their code, so that a name is shown as it is stored.
export function clean(text) {
  return String(text ?? '').replace(controls, (c) => '\\u' + c.codePointAt(0).toString(16).padStart(4, '0'));
}

// name isolates a text of another author, so that its direction does not affect its neighbours.
export function name(text, props) {
  return h('bdi', props, clean(text));
}

// keyText returns the name of a resource as commands show it.
export function keyText(key) {
  return key.name ? key.kind + '/' + key.name : key.kind;
}

// ownerText returns namespace and name. A Service that the user may not list has only a text.
export function ownerText(owner) {
  return [owner.namespace, owner.name].filter(Boolean).join('/') || 'the cluster';
}

// valueText returns a value of a document on one line.
export function valueText(value) {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'string') return value === '' ? '""' : clean(value);
  if (Array.isArray(value)) return value.length ? value.map(valueText).join(', ') : 'empty';
  if (typeof value === 'object') {
    if (typeof value.ref === 'string') return 'id of ' + clean(value.ref);
    return '{' + Object.entries(value).map(([k, v]) => clean(k) + ': ' + valueText(v)).join(', ') + '}';
  }
  return String(value);
}

// count returns a number with its noun.
export function count(n, noun) {
  return n + ' ' + noun + (n === 1 ? '' : 's');
}

// originText returns an input of the desired state in words.
export function originText(origin) {
  const source = origin.source || 'default';
  return [source, origin.key && clean(origin.key), origin.raw && '"' + clean(origin.raw) + '"'].filter(Boolean).join(' ');
}
