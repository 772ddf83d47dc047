import { expect, test } from '@jest/globals';
import { Evaluators } from './evaluators.ts';

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { work: () => promise, resolve };
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));
const busy = expect.objectContaining({ status: 503, fields: { 'Retry-After': '1' } });

/**
 * Jobs of these owners, and the names of the started jobs as `owner.number`. `end` resolves when the next job has
 * started.
 */
function jobsOf(...owners: readonly string[]) {
  const evaluators = new Evaluators();
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (owner: string) => {
    const name = `${owner}${[...ends.keys()].filter((one) => one.startsWith(owner)).length}`;
    const { work, resolve } = held();
    const done = evaluators.use(owner, () => {
      started.push(name);
      return work();
    });
    ends.set(name, () => resolve(name));
    return done;
  };
  for (const owner of owners) void add(owner);
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { started, add, end, begun: new Promise(setImmediate) };
}

test('two queries run concurrently, and those of one owner in order', async () => {
  const { started, end, begun } = jobsOf('a', 'a', 'a', 'a');
  await begun;
  expect(started).toEqual(['a0', 'a1']);
  await end('a1');
  expect(started).toEqual(['a0', 'a1', 'a2']);
  await end('a0');
  expect(started).toEqual(['a0', 'a1', 'a2', 'a3']);
});

test('owners of queries take turns, whatever their order and number', async () => {
  const { started, end, begun } = jobsOf('a', 'a', 'a', 'a', 'b', 'b', 'c', 'c');
  await begun;
  const order = ['a0', 'a1', 'b0', 'a2', 'c0', 'b1', 'a3', 'c1'];
  for (const name of order) await end(name);
  expect(started).toEqual(order);
});

test('an owner gets a second process only if no other owner waits for a first', async () => {
  const { started, add, end, begun } = jobsOf('a', 'b', 'a', 'a', 'b');
  await begun;
  expect(started).toEqual(['a0', 'b0']);
  void add('c');
  await end('b0');
  expect(started.slice(2)).toEqual(['b1']);
  await end('b1');
  expect(started.slice(3)).toEqual(['c0']);
  await end('c0');
  expect(started.slice(4)).toEqual(['a1']);
});

test('an owner that sends queries constantly does not delay the turn of others', async () => {
  const { started, add, end, begun } = jobsOf('a', 'a', 'a', 'a', 'b');
  await begun;
  await end('a0');
  expect(started.at(-1)).toBe('b0');
  for (const [index, name] of ['a1', 'a2', 'a3'].entries()) {
    void add('a');
    if (index === 0) void add('c');
    await end(name);
  }
  expect(started).toContain('c0');
});

test('RFC 9110 section 15.6.4: an owner with too many waiting queries gets 503, and ten such owners leave room for others', async () => {
  const evaluators = new Evaluators();
  const { work, resolve } = held();
  let queries = 0;
  const waiting: Promise<unknown>[] = [];
  /** Starts queries until the evaluators refuse one. */
  const fill = async (owner: string): Promise<void> => {
    for (;;) {
      const query = evaluators.use(owner, work);
      waiting.push(query.catch(() => {}));
      const refused = await Promise.race([query, turn()]).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refused !== undefined) return expect(refused).toEqual(busy);
      queries += 1;
    }
  };
  const counts: number[] = [];
  for (let owner = 0; owner < 10; owner += 1) {
    await fill(`greedy ${owner}`);
    counts.push(queries);
  }
  expect(counts).toEqual([4, 8, 11, 14, 17, 19, 21, 23, 25, 26]);
  resolve('done');
  await Promise.all(waiting);
  expect(await evaluators.use('greedy 0', async () => 'done')).toBe('done');
});

test('a failed query releases its process', async () => {
  const evaluators = new Evaluators();
  const failing = async () => {
    throw new Error('no');
  };
  const failed = Array.from({ length: 4 }, async () => evaluators.use('alice', failing));
  expect((await Promise.allSettled(failed)).every(({ status }) => status === 'rejected')).toBe(
    true,
  );
  expect(await evaluators.use('alice', async () => 'done')).toBe('done');
});
