import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RACES, type RaceName } from './races.ts';
import { edit, fresh, move } from '../samples.ts';
import type { What } from './racer.ts';
import { type Racer, startRacer } from './start-racer.ts';
import type { Contract } from '../store-under-test.ts';

const ROUNDS = 5;
const ATTEMPTS = 50;

/** Tests each operation that only one caller may win, in races within one process and between two. */
export function racingContract(contract: () => Contract): void {
  describe('races', () => {
    let racer: Racer;
    beforeAll(async () => {
      racer = await startRacer(contract().store.spec());
    });
    afterAll(async () => {
      await racer[Symbol.asyncDispose]();
    });

    /** 50 attempts in the other process and 50 in this one, begun in the same millisecond. */
    const both = async (what: What, attempt: () => Promise<unknown>): Promise<unknown[]> => {
      const at = Date.now() + 20;
      const theirs = racer.carryOut({ ...what, at, attempts: ATTEMPTS });
      await delay(5);
      while (Date.now() < at);
      const ours = Promise.all(Array.from({ length: ATTEMPTS }, attempt));
      return (await Promise.all([theirs, ours])).flat();
    };

    for (const name of Object.keys(RACES) as RaceName[]) {
      const { prepare, attempt, winners } = RACES[name];
      const wins = (results: readonly unknown[]) => results.filter((won) => won === true);

      test(`${name}: of ${ATTEMPTS} simultaneous attempts through two connections, ${winners} succeed`, async () => {
        const { one, other } = contract();
        const key = await prepare(one);
        const results = await Promise.all(
          Array.from({ length: ATTEMPTS }, (_, n) => attempt(n % 2 === 0 ? one : other, key)),
        );
        expect(wins(results)).toHaveLength(winners);
        expect(await attempt(other, key)).toBe(false);
      });

      test(`${name}: of ${ATTEMPTS} attempts in each of two processes, ${winners} succeed in all`, async () => {
        const { one } = contract();
        for (let round = 0; round < ROUNDS; round++) {
          const key = await prepare(one);
          const results = await both({ race: name, key }, () => attempt(one, key));
          expect(wins(results)).toHaveLength(winners);
        }
      });
    }

    test('RFC 4918 section 7: a collection that moves while another process fills it has all earlier documents, and later writes conflict', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 2 * ROUNDS; round++) {
        const tree = await RACES['fill a collection'].prepare(one);
        const at = Date.now() + 20;
        const filling = racer.carryOut({ race: 'fill a collection', key: tree, at, attempts: 15 });
        await delay(5);
        while (Date.now() < at);
        await delay(round);
        const moved = await edit(one, tree, [move('a', 'b')], { a: 'v1' });
        expect(moved).toMatchObject({ kind: 'done' });
        const put = (await filling).filter((won) => won === true).length;
        const paths = (await other.trees.below(tree, '', 100)).map((entry) => entry.path);
        expect(paths).toHaveLength(1 + put);
        for (const path of paths) expect(path).toMatch(/^b(\/|$)/);
        expect((await other.trees.look(tree, [])).usage.entries).toBe(1 + put);
      }
    });

    test('two processes that revoke a person 50 times each get the generations 1 to 100, each once', async () => {
      const { one, other, store } = contract();
      const until = store.clock.now() + 60_000;
      const sub = fresh();
      const given = await both({ raise: sub }, () => one.revocations.raise('person', sub, until));
      expect(given.map(Number).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 2 * ATTEMPTS }, (_, n) => n + 1),
      );
      expect(await other.revocations.generation('person', sub)).toBe(2 * ATTEMPTS);
    });
  });
}
