import { expect, test } from '@jest/globals';
import type { Contender } from './measure.ts';
import { measureRooms, ROOMS } from './whole.ts';
import { type Loaded, room, times } from './work.ts';

const SCHEDULE = { rounds: 1, seconds: 1, warmUp: { count: 1, seconds: 1 } };

/** Uses some CPU time of this process for each run. */
const busy =
  (name: string, seen: number[] = [], more: Partial<Contender> = {}): Loaded =>
  (atOnce) => ({
    name,
    server: { url: '', pids: [process.pid], [Symbol.asyncDispose]: async () => {} },
    probe: async () => {},
    prepare: async (seconds) => async () => {
      seen.push(atOnce);
      const end = performance.now() + 30;
      while (performance.now() < end);
      return { count: 10, seconds, latency: { p50: atOnce, p99: atOnce }, errors: 0 };
    },
    ...more,
  });
const broken = { probe: () => Promise.reject(new Error('answered 500')) };

async function measured(...rooms: Parameters<typeof measureRooms>[0]) {
  const said: string[] = [];
  const { tables, errors } = await measureRooms(rooms, {
    say: (line) => said.push(line.trim()),
    schedule: SCHEDULE,
    isWanted: (name) => !name.includes('unwanted'),
  });
  const lines = tables.flatMap(({ rows }) => rows);
  return { lines, errors, said };
}

test('the first way is compared with each peer, and other ways with the first; each also runs with single requests', async () => {
  const asked: number[] = [];
  const works = [
    {
      name: 'good',
      goals: { peer: times(2), 'another peer': times(3), PostgreSQL: times(1.2) },
      atOnce: 4,
      loads: () => ({
        beside: [busy('peer'), busy('another peer')],
        ways: { SQLite: busy('ours', asked), PostgreSQL: busy('ours') },
      }),
    },
    { name: 'unwanted', loads: () => Promise.reject(new Error('was measured')) },
  ];
  const { lines, errors, said } = await measured(room(async () => {}, works));
  expect(lines.map(({ way, beside, goal }) => [way, beside, goal])).toEqual([
    ['SQLite', 'peer', 2],
    ['SQLite', 'another peer', 3],
    ['PostgreSQL', 'SQLite', 1.2],
  ]);
  expect(lines[0]).toMatchObject({ 'at once': 4, 'p50 ms': 4, 'p50 of one': 1 });
  expect(asked).toEqual([4, 4, 1]); // the warm-up, a round, and single requests
  expect(errors).toBe(0);
  expect(said).toEqual(['good']);
});

test('a failed work has a line with the reason, and the other works are measured', async () => {
  let ended = 0;
  const parts = async (stack: AsyncDisposableStack) => {
    stack.defer(() => void (ended += 1));
  };
  const ways = { SQLite: busy('ours') };
  const { lines, errors } = await measured(
    room(
      () => Promise.reject(new Error('no server')),
      [
        { name: 'first', loads: () => ({ beside: [busy('peer')], ways }) },
        { name: 'second', loads: () => ({ beside: [busy('peer')], ways }) },
      ],
    ),
    room(parts, [
      { name: 'no load', loads: () => Promise.reject(new Error('no tokens')) },
      { name: 'no peer', loads: () => ({ beside: [busy('peer', [], broken)], ways }) },
      {
        name: 'stray',
        goals: { nginx: times(2) },
        loads: () => ({ beside: [busy('peer')], ways }),
      },
      {
        name: 'half',
        loads: () => ({
          beside: [busy('peer')],
          ways: { ...ways, PostgreSQL: busy('ours', [], broken) },
        }),
      },
    ]),
  );
  expect(lines.map(({ work, way, note }) => [work, way, note])).toEqual([
    ['first', '', 'no server'],
    ['second', '', 'no server'],
    ['no load', '', 'no tokens'],
    ['no peer', 'SQLite', 'peer: answered 500'],
    ['stray', '', 'there is a goal beside nginx, but no such server'],
    ['half', 'SQLite', ''],
    ['half', 'PostgreSQL', 'answered 500'],
  ]);
  expect(errors).toBe(6);
  expect(ended).toBe(1);
});

test('each work of the table has its own name', () => {
  const names = ROOMS.flatMap((one) => one.names);
  expect(new Set(names).size).toBe(names.length);
});
