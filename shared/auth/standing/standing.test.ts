import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { RevocationSet } from '#shared/stores/revocation/revocation-set.ts';
import type { GroundsEnd } from '../scheme.ts';
import { createStanding, type Passed } from './standing.ts';

const LATER = 1_000_000;
const ALICE: Passed = {
  principal: { kind: 'person', realm: 'r', name: 'alice', claims: { sub: 'a' } },
};
const MACHINE: Passed = { principal: { kind: 'application', id: 'machine' } };
const NOBODY: Passed = { principal: { kind: 'anonymous' } };

beforeAll(() => {
  jest.useFakeTimers();
});
afterAll(() => {
  jest.useRealTimers();
});

/** Advances the time by so many checks. */
const looks = (count: number) => jest.advanceTimersByTimeAsync(500 * count + 1);

let set: RevocationSet;
let asked: number;
let latest: () => RevocationSet | Promise<RevocationSet>;
beforeEach(() => {
  set = new RevocationSet();
  set.epoch = 'e1';
  asked = 0;
  latest = () => set;
});
const start = () =>
  createStanding({
    current: () => set,
    latest() {
      asked += 1;
      return latest();
    },
  });

/** Returns grounds whose end a test sets; `of` is their name. */
function groundsOf(of: string) {
  const state = { holds: true, down: false, asked: 0, why: 'revoked' as GroundsEnd };
  const end = async () => {
    state.asked += 1;
    if (state.down) throw new Error('down');
    return state.holds ? undefined : state.why;
  };
  return { state, grounds: { of, end } };
}

describe('the watch on a person', () => {
  test("a person stays until all of the person's access is ended, and leaves at the next check", async () => {
    const standing = start();
    const end = jest.fn();
    standing.watch({ passed: ALICE, mark: standing.mark() }, 'expired', end);
    await looks(20);
    set.apply({ kind: 'person', id: 'b', generation: 1 }, LATER);
    await looks(1);
    expect(end).not.toHaveBeenCalled();
    set.apply({ kind: 'person', id: 'a', generation: 1 }, LATER);
    await looks(1);
    expect(end.mock.calls).toEqual([['all of the person was ended']]);
    await looks(3);
    expect(end).toHaveBeenCalledTimes(1);
  });

  test("a revocation during the judging ends a person's access, and an earlier one does not", async () => {
    set.apply({ kind: 'person', id: 'a', generation: 1 }, LATER);
    const standing = start();
    const mark = standing.mark();
    const end = jest.fn();
    const stop = standing.watch({ passed: ALICE, mark: mark }, 'expired', end);
    await looks(2);
    expect(end).not.toHaveBeenCalled();
    stop();
    set.apply({ kind: 'person', id: 'a', generation: 2 }, LATER);
    standing.watch({ passed: ALICE, mark: mark }, 'expired', end);
    await looks(1);
    expect(end).toHaveBeenCalledTimes(1);
  });

  test("a person's access ends when the store has another epoch", async () => {
    const standing = start();
    const end = jest.fn();
    standing.watch({ passed: ALICE, mark: standing.mark() }, 'expired', end);
    set.epoch = 'e2';
    await looks(1);
    expect(end).toHaveBeenCalledTimes(1);
  });

  test('a person with an application leaves at the revocation of either', async () => {
    const standing = start();
    const end = jest.fn();
    const { state, grounds } = groundsOf('API key 1');
    standing.watch(
      {
        passed: { ...ALICE, application: MACHINE.principal, grounds: [grounds] },
        mark: standing.mark(),
      },
      'expired',
      end,
    );
    await looks(1);
    state.holds = false;
    await looks(1);
    expect(end.mock.calls).toEqual([['the API key is not good any more']]);
  });

  test('a thousand watches of one person need one query', async () => {
    const standing = start();
    const mark = standing.mark();
    const stops = Array.from({ length: 1000 }, () =>
      standing.watch({ passed: ALICE, mark: mark }, 'expired', () => {}),
    );
    asked = 0;
    await looks(4);
    expect(asked).toBe(4);
    for (const stop of stops) stop();
    await looks(4);
    expect(asked).toBe(4);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('a token or key', () => {
  test('one query about a token or key serves all its users, and its end ends them all', async () => {
    const standing = start();
    const mark = standing.mark();
    const [one, other] = [groundsOf('token 1'), groundsOf('token 2')];
    const [ended, stayed] = [jest.fn(), jest.fn()];
    for (let count = 0; count < 10; count += 1) {
      standing.watch(
        { passed: { ...MACHINE, grounds: [one.grounds] }, mark: mark },
        'expired',
        ended,
      );
    }
    standing.watch(
      { passed: { ...MACHINE, grounds: [other.grounds] }, mark: mark },
      'expired',
      stayed,
    );
    asked = 0;
    await looks(3);
    expect([one.state.asked, other.state.asked, asked]).toEqual([3, 3, 0]);
    one.state.holds = false;
    await looks(1);
    expect([ended.mock.calls.length, stayed.mock.calls.length]).toEqual([10, 0]);
    await looks(2);
    expect([one.state.asked, other.state.asked]).toEqual([4, 6]);
  });

  test('an anonymous client without grounds is never ended', async () => {
    const standing = start();
    const end = jest.fn();
    const mark = standing.mark();
    latest = () => Promise.reject(new Error('down'));
    standing.watch({ passed: NOBODY, mark }, 'expired', end);
    await looks(100);
    expect(end).not.toHaveBeenCalled();
  });
});

describe('a store that does not answer', () => {
  test.each([
    [
      'fails',
      () => {
        throw new Error('down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['hangs', () => new Promise<never>(() => {})],
  ])('if the store %s, all access continues for five seconds, and then ends', async (_, down) => {
    const standing = start();
    const end = jest.fn();
    standing.watch({ passed: ALICE, mark: standing.mark() }, 'expired', end);
    await looks(3);
    latest = down;
    await looks(10);
    expect(end).not.toHaveBeenCalled();
    await looks(1);
    expect(end.mock.calls).toEqual([['the store does not answer']]);
  });

  test('an answer in between resets the count of failures', async () => {
    const standing = start();
    const end = jest.fn();
    const { state, grounds } = groundsOf('API key 1');
    standing.watch(
      { passed: { ...MACHINE, grounds: [grounds] }, mark: standing.mark() },
      'expired',
      end,
    );
    for (let round = 0; round < 3; round += 1) {
      state.down = true;
      await looks(8);
      state.down = false;
      await looks(1);
    }
    expect(end).not.toHaveBeenCalled();
  });
});
