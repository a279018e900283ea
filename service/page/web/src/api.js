// The token is in the fragment of the address, which browsers do not send. It is kept for reloads
// of this tab.
const storageKey = 'berth-token';

// takeToken reads the token from the fragment and removes it from the address.
export function takeToken() {
  const match = /^#token=([0-9a-f]+)$/.exec(location.hash);
  if (match) {
    sessionStorage.setItem(storageKey, match[1]);
    history.replaceState(null, '', '#/services');
  }
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
  if (!answer.ok) throw new Error(document.error ?? 'The server answered ' + answer.status + '.');
  seen.set(path, { tag: answer.headers.get('ETag'), document });
  return document;
}

const pageSize = 1000;

// loadFleet reads all pages of the Services. Each page is shown as soon as it is read.
export async function loadFleet(planned, show) {
  const query = planned ? '&planned=1' : '';
  let fleet;
  for (let offset = 0; ; ) {
    const page = await load('/api/v1/services?offset=' + offset + '&limit=' + pageSize + query);
    fleet = offset === 0 ? { ...page, parts: [page], services: page.services } : { ...fleet, parts: [...fleet.parts, page], services: fleet.services.concat(page.services) };
    offset += page.services.length;
    if (page.services.length === 0 || offset >= page.total) return fleet;
    show?.(fleet);
  }
}
