import { expect, test } from '@jest/globals';
import { type CpuProfile, fold, type Frame, heapProfile, octetsTaken, selfTimes } from './fold.ts';

const HERE = new URL('../../../', import.meta.url).href;

const node = (id: number, functionName: string, children: number[] = [], url = '') => ({
  id,
  callFrame: { functionName, url, lineNumber: 6 },
  children,
});

/** One sample for each node, with the node's id as its time in hundreds of microseconds. */
const profile: CpuProfile = {
  nodes: [
    node(1, '(root)', [2, 3, 4, 5]),
    node(2, '(idle)'),
    node(3, 'serve', [6, 7], `${HERE}shared/server/endpoints/serve.ts`),
    node(4, 'serve', [8], `${HERE}shared/server/endpoints/serve.ts`),
    node(5, '(garbage collector)'),
    node(6, '', [], `${HERE}node_modules/koa/lib/a.js`),
    node(7, 'end', [], 'node:http'),
    node(8, 'end', [], 'node:http'),
  ],
  samples: [2, 3, 5, 6, 7, 8, 8],
  timeDeltas: [200, 300, 500, 600, 700, 800, -5],
};

const tree = ({ name, self, total, called }: Frame): unknown => [
  name,
  self,
  total,
  ...[...called.values()].map(tree),
];

test('calls of the same function are merged, and waiting time is not counted', () => {
  expect(tree(fold(profile))).toEqual([
    '(all)',
    0,
    2900,
    [
      'serve shared/server/endpoints/serve.ts:7',
      300,
      2400,
      ['(anonymous) node_modules/koa/lib/a.js:7', 600, 600],
      ['end node:http:7', 1500, 1500],
    ],
    ['(garbage collector)', 500, 500],
  ]);
});

test('self times cover all calls, in descending order, and add up to the total', () => {
  const all = fold({
    ...profile,
    nodes: [
      ...profile.nodes.slice(0, 7),
      { ...node(8, 'end', [], 'node:http'), children: [9] },
      node(9, 'end', [], 'node:http'),
    ],
    samples: [...profile.samples, 9],
    timeDeltas: [...profile.timeDeltas, 900],
  });
  const times = selfTimes(all);
  expect(times[0]).toEqual(['end node:http:7', 2400]);
  expect(times.reduce((sum, [, self]) => sum + self, 0)).toBe(all.total);
});

test('the allocated octets of a function are the sum over all of its callers, in descending order', () => {
  const taking = (functionName: string, selfSize: number, children: object[] = []) => ({
    callFrame: { functionName, url: `${HERE}shared/base/bag.ts`, lineNumber: 1 },
    selfSize,
    children,
  });
  const head = taking('', 0, [taking('a', 5, [taking('b', 9)]), taking('c', 0, [taking('a', 6)])]);
  expect(octetsTaken(heapProfile.parse({ head }))).toEqual([
    ['a shared/base/bag.ts:2', 11],
    ['b shared/base/bag.ts:2', 9],
  ]);
});

test('a profile without samples is empty', () => {
  expect(tree(fold({ nodes: [node(1, '(root)')], samples: [], timeDeltas: [] }))).toEqual([
    '(all)',
    0,
    0,
  ]);
});
