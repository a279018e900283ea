// States of Services in the order of their seriousness, each with a sign, a word and a level.
// The sign and the word say the same as the colour.
export const states = {
  NotFound: { sign: '✖', word: 'not found in the cloud', level: 'bad' },
  Degraded: { sign: '✖', word: 'degraded', level: 'bad' },
  Differs: { sign: '▲', word: 'differs from the cloud', level: 'warn' },
  Changed: { sign: '▲', word: 'changed, not applied', level: 'warn' },
  NotLookedAt: { sign: '…', word: 'not looked at yet', level: 'wait' },
  Progressing: { sign: '…', word: 'in progress', level: 'wait' },
  Healthy: { sign: '✔', word: 'as desired', level: 'good' },
  LeftAlone: { sign: '○', word: 'left alone', level: 'none' },
  Unreported: { sign: '○', word: 'not reported', level: 'none' },
};

// stateOf returns the key of a Service's state.
export function stateOf(service) {
  const key = service.verdict || service.health;
  return states[key] ? key : 'Unreported';
}

// codesOf lists the codes and reasons of what is wrong with a Service.
export function codesOf(service) {
  const out = new Set();
  for (const p of service.detail?.problems ?? []) {
    if (p.severity === 'error' && p.code) out.add(p.code);
  }
  for (const c of service.conditions ?? []) {
    if (c.status === 'False' && c.reason && c.reason !== 'NotAccepted') out.add(c.reason);
  }
  return [...out];
}

// heaps are what a plan does to a Service, in the order in which an operator looks at them.
export const heaps = [
  { name: 'refused', title: 'Refused', sign: '✖', level: 'bad', impacts: ['refused'] },
  { name: 'interrupts', title: 'Interrupts traffic', sign: '▲', level: 'warn', impacts: ['interrupts traffic', 'brief interruption'] },
  { name: 'differs', title: 'Differs', sign: '△', level: 'wait', impacts: ['forgets', 'updates', 'creates', 'deletes'] },
  { name: 'same', title: 'Same', sign: '✔', level: 'good', impacts: ['no changes'] },
  { name: 'left', title: 'Left alone', sign: '○', level: 'none', impacts: ['left alone', ''] },
];

// heapOf returns the heap of a Service.
export function heapOf(service) {
  return heaps.find((heap) => heap.impacts.includes(service.impact ?? '')) ?? heaps[heaps.length - 1];
}
