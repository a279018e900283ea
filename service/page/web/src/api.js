// The token is in the fragment of the address, which browsers do not send. It is kept for reloads
// of this tab.
const storageKey = 'berth-token';

// takeToken reads the token from the fragment and removes it from the address.
export function takeToken() {
  const match = /^#token=([\w.~+/=-]+)$/.exec(location.hash);
  if (match) {
    setToken(match[1]);
    history.replaceState(null, '', '#/services');
  }
}

// setToken keeps a token for this tab. What another user has read is forgotten.
export function setToken(token) {
  sessionStorage.setItem(storageKey, token.trim());
  seen.clear();
}

// seen are the answers by address: the digest and the document.
const seen = new Map();

// load reads a document. An unchanged one is the same object as before.
export async function load(path) {
  const known = seen.get(path);
  const headers = { Authorization: 'Bearer ' + (sessionStorage.getItem(storageKey) ?? '') };
  if (known) headers['If-None-Match'] = known.tag;
  let answer;
  try {
    answer = await fetch(path, { headers, cache: 'no-store', credentials: 'omit' });
  } catch {
    throw new Error('The server does not answer. Start the command again.');
  }
  if (answer.status === 304) return known.document;
  const document = await answer.json().catch(() => ({ error: 'The answer is not readable (' + answer.status + ').' }));
  if (!answer.ok) throw Object.assign(new Error(document.error ?? 'The server answered ' + answer.status + '.'), { status: answer.status });
  seen.set(path, { tag: answer.headers.get('ETag'), document });
  return document;
}

const pageSize = 1000;

// loadFleet reads all pages of the Services: the first one, which has their number, and then all
// others at once. The first page is shown as soon as it is read.
export async function loadFleet(planned, show) {
  const query = planned ? '&planned=1' : '';
  const read = (offset) => load('/api/v1/services?offset=' + offset + '&limit=' + pageSize + query);
  const first = await read(0);
  if (first.services.length >= first.total) return first;
  show?.(first);
  const offsets = [];
  for (let offset = first.services.length; offset < first.total; offset += pageSize) offsets.push(offset);
  const others = await Promise.all(offsets.map(read));
  return { ...first, services: first.services.concat(...others.map((page) => page.services)) };
}
