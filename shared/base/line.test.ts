import { EventEmitter } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ALONE, Line, type Turn } from './line.ts';

const FULL = new Error('full');

/** Creates a line whose work ends when the test says so; `begun` lists the work in the order in which it began. */
function setup({ lanes = 1, most = 1000, hold = (tell: () => void) => tell() } = {}) {
  const line = new Line({ lanes, most, tooMany: () => FULL, hold });
  const begun: string[] = [];
  const running: { readonly name: string; readonly end: () => void }[] = [];
  let refused = 0;
  const ask = (name: string, turn: Turn = { groups: [name] }) => {
    const asked = line.run(turn, () => {
      begun.push(name);
      return new Promise<string>((resolve) => {
        running.push({ name, end: () => resolve(name) });
      });
    });
    asked.catch(() => (refused += 1));
    return asked;
  };
  return {
    line,
    begun,
    running,
    ask,
    refused: () => refused,
    /** Ends the work that began first, or the work with the name, and lets the next work begin. */
    async end(of?: string) {
      const at = of === undefined ? 0 : running.findIndex(({ name }) => name === of);
      running.splice(at, 1)[0]?.end();
      await settled();
    },
    async endAll() {
      for (await settled(); running.length > 0; await settled()) running.splice(0, 1)[0]?.end();
    },
  };
}

const settled = () => new Promise(setImmediate);

/** A connection that can close. */
class Connection extends EventEmitter {
  destroyed = false;
  close() {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('turns', () => {
  test('the work of a new caller runs before further work of the caller with the most work', async () => {
    const { begun, ask, endAll } = setup();
    for (let n = 0; n < 160; n += 1) void ask('flood');
    void ask('person');
    await endAll();
    expect(begun.indexOf('person')).toBe(1);
    expect(begun).toHaveLength(161);
  });

  test.each([
    [2, 160],
    [3, 600],
    [20, 600],
  ])(
    'with %i addresses of %i jobs each, no address waits for two jobs of another',
    async (addresses, atOnce) => {
      const { begun, ask, endAll } = setup({ lanes: 3 });
      for (let n = 0; n < atOnce; n += 1) void ask(`${n % addresses}`);
      void ask('person');
      await endAll();
      const before = begun.slice(3, begun.indexOf('person'));
      expect(new Set(before).size).toBe(before.length);
    },
  );

  test('callers in a group share the turns of the group', async () => {
    const { begun, ask, endAll } = setup();
    for (let n = 0; n < 300; n += 1) {
      void ask(`site-${n}`, { groups: ['addresses', 'site', `${n}`] });
    }
    void ask('elsewhere', { groups: ['addresses', 'elsewhere', '1'] });
    void ask('known', { groups: ['accounts', 'alice'] });
    await endAll();
    expect(begun.slice(0, 4)).toEqual(['site-0', 'known', 'elsewhere', 'site-1']);
  });

  test('the work of one caller begins in the order in which it came', async () => {
    const { begun, ask, endAll } = setup();
    for (let n = 0; n < 20; n += 1) void ask(`${n}`, ALONE);
    await endAll();
    expect(begun).toEqual(Array.from({ length: 20 }, (_, n) => `${n}`));
  });

  test('no caller waits while another begins twice, and all begin, in any order of arrivals and ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(
          fc.oneof(
            { weight: 3, arbitrary: fc.integer({ min: 0, max: 4 }) },
            { weight: 2, arbitrary: fc.constant('end' as const) },
          ),
          { maxLength: 60 },
        ),
        async (lanes, steps) => {
          const { begun, running, ask, end, endAll, line } = setup({ lanes });
          /** For each waiting caller, how much work had begun when it came. */
          const came = new Map<string, number>();
          for (const step of steps) {
            if (step === 'end') await end();
            else {
              const name = `${step}`;
              const here = running.some((one) => one.name === name);
              if (!came.has(name) && !here) came.set(name, begun.length);
              void ask(name);
              await settled();
            }
            expect(running.length).toBeLessThanOrEqual(lanes);
            for (const [name, from] of came) {
              const since = begun.slice(from);
              const mine = since.indexOf(name);
              const others = mine === -1 ? since : since.slice(0, mine);
              expect(new Set(others).size).toBe(others.length);
              if (mine !== -1) came.delete(name);
            }
          }
          await endAll();
          expect(line.waiting).toBe(0);
          expect(begun).toHaveLength(steps.filter((step) => step !== 'end').length);
        },
      ),
    );
  });

  test('after work that fails or throws, the next work can run', async () => {
    const { line } = setup();
    const fails = () => Promise.reject(new Error('of the work'));
    for (let n = 0; n < 3; n += 1) {
      await expect(line.run(ALONE, fails)).rejects.toThrow('of the work');
    }
    await expect(line.run(ALONE, async () => 'done')).resolves.toBe('done');
  });
});

describe('a line that is full', () => {
  test('a full line accepts every new caller, and the caller with the most waiting work loses its newest', async () => {
    const { begun, ask, endAll, refused, line } = setup({ most: 10 });
    const flood = Array.from({ length: 40 }, (_, n) => ask(`a-${n}`, { groups: ['a'] }));
    await settled();
    expect(refused()).toBe(29);
    await expect(flood[39]).rejects.toBe(FULL);
    for (const name of ['b', 'c', 'd']) void ask(name);
    await settled();
    expect([line.waiting, refused()]).toEqual([10, 32]);
    await endAll();
    expect(begun).toEqual([
      'a-0',
      'b',
      'c',
      'd',
      ...Array.from({ length: 7 }, (_, n) => `a-${n + 1}`),
    ]);
  });

  test('a full line delays refusals, so that a flood slows down, but frees the place at once', async () => {
    const held: (() => void)[] = [];
    const { ask, endAll, line, refused } = setup({ most: 2, hold: (tell) => held.push(tell) });
    const flood = Array.from({ length: 5 }, () => ask('flood'));
    const person = ask('person');
    await settled();
    expect([held.length, refused(), line.waiting]).toEqual([3, 0, 2]);
    for (const tell of held) tell();
    await expect(flood[4]).rejects.toBe(FULL);
    await endAll();
    await expect(person).resolves.toBe('person');
    expect(refused()).toBe(3);
  });

  test('many addresses of one site lose their work before an address of another site', async () => {
    const { ask, begun, endAll, refused } = setup({ most: 20 });
    for (let n = 0; n < 300; n += 1) void ask('flood', { groups: ['site', `${n}`] });
    const others = ['x', 'y', 'z'].map((name) => ask(name, { groups: [name, '1'] }));
    await endAll();
    await expect(Promise.all(others)).resolves.toEqual(['x', 'y', 'z']);
    expect(begun.slice(1, 4)).toEqual(['x', 'y', 'z']);
    expect(refused()).toBe(300 - 21 + 3);
  });

  test('if every place has a caller of its own, a new caller is refused, unless it is an account', async () => {
    const { ask, begun, endAll } = setup({ most: 5 });
    for (let n = 0; n < 6; n += 1) void ask(`${n}`, { groups: ['addresses', `${n}`] });
    await expect(ask('late', { groups: ['addresses', 'late'] })).rejects.toBe(FULL);
    const known = ask('known', { groups: ['accounts', 'alice'] });
    await endAll();
    await expect(known).resolves.toBe('known');
    expect(begun.slice(0, 2)).toEqual(['0', 'known']);
  });

  test('a closed line refuses waiting and later work, and running work ends', async () => {
    const { ask, endAll, line } = setup();
    const [runs, waits] = [ask('runs'), ask('waits')];
    line.close();
    await expect(waits).rejects.toBe(FULL);
    await expect(ask('later')).rejects.toBe(FULL);
    await endAll();
    await expect(runs).resolves.toBe('runs');
    expect(line.waiting).toBe(0);
  });
});

describe('a client that leaves', () => {
  test('a client that disconnects leaves the line at once, and its work is never done', async () => {
    const { ask, begun, endAll, line } = setup();
    const client = new Connection();
    void ask('first');
    const leaves = ask('leaves', { groups: ['leaves'], client });
    void ask('last');
    expect(line.waiting).toBe(2);
    client.close();
    expect(line.waiting).toBe(1);
    await expect(leaves).rejects.toBe(FULL);
    await endAll();
    expect(begun).toEqual(['first', 'last']);
  });

  test('a client that disconnects is released at once, even while its refusal is delayed', async () => {
    const { ask, endAll } = setup({ most: 0, hold: () => {} });
    const client = new Connection();
    void ask('first');
    const refused = ask('refused', { groups: ['refused'], client });
    client.close();
    await expect(refused).rejects.toBe(FULL);
    await endAll();
  });

  test('the work of a client that has disconnected before it comes is not done', async () => {
    const { ask, begun, line } = setup();
    const client = new Connection();
    client.close();
    await expect(ask('left', { groups: ['left'], client })).rejects.toBe(FULL);
    expect([begun, line.waiting]).toEqual([[], 0]);
  });

  test('a client that disconnects while its work runs changes nothing, and no listener is left', async () => {
    const { ask, endAll } = setup();
    const client = new Connection();
    const runs = ask('runs', { groups: ['runs'], client });
    await settled();
    expect(client.listenerCount('close')).toBe(0);
    client.close();
    await endAll();
    await expect(runs).resolves.toBe('runs');
  });

  test('clients that disconnect and refused callers leave no data in the line', async () => {
    const { ask, endAll, line, refused } = setup({ most: 3 });
    const clients = Array.from({ length: 30 }, () => new Connection());
    for (const [n, client] of clients.entries()) void ask('x', { groups: [`${n % 7}`], client });
    await settled();
    for (const client of clients) client.close();
    await endAll();
    expect([refused(), line.waiting]).toEqual([29, 0]);
    expect(clients.map((client) => client.listenerCount('close'))).toEqual(Array(30).fill(0));
    // The line has no name any more.
    expect(JSON.stringify(line)).toBe('{}');
  });
});
