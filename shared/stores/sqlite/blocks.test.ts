/** @slow */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ManualClock } from '#shared/base/clock.ts';
import { limitsOver } from '../limits/blocks.ts';
import { type Asked, type Buckets, intervalOf } from '../limits/buckets.ts';
import { fresh } from '../contract/samples.ts';
import type { Rate } from '../limits/limits.ts';
import type { Stores } from '../stores.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { MOST_WAITING } from '../outage/waiting.ts';
import { sqliteUnderTest, type SqliteUnderTest } from './under-test.ts';

describe('blocks over a store', () => {
  let store: SqliteUnderTest;
  let processes: Stores[];
  beforeAll(async () => {
    store = await sqliteUnderTest();
    processes = await Promise.all([store.open(), store.open(), store.open()]);
  });
  afterAll(async () => {
    for (const stores of processes) await stores[Symbol.asyncDispose]();
    await store.end();
  });

  const rates = fc.record({
    burst: fc.integer({ min: 1, max: 200 }),
    per: fc.oneof(
      fc.constantFrom(0.000_01, 0.001, 0.6),
      fc.integer({ min: 1, max: 5_000 }).map((ms) => ms / 1000),
    ),
  });
  /** Returns a part of the time that the bucket takes to be full: seconds, in whole milliseconds. */
  const someTime = ({ burst, per }: Rate, part: number) => {
    let milliseconds = Math.ceil(burst * per * part * 1000);
    while ((milliseconds / 1000) * 1000 !== milliseconds) milliseconds += 1;
    return milliseconds / 1000;
  };

  test('one process gets the same results as without blocks', async () => {
    const acts = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          act: fc.constant('spend' as const),
          times: fc.integer({ min: 1, max: 60 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          act: fc.constant('giveBack' as const),
          times: fc.integer({ min: 1, max: 20 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          act: fc.constantFrom('advance', 'set'),
          part: fc.oneof(
            fc.constantFrom(0.01, 0.1, 1, 2),
            fc.double({ min: 0, max: 1, noNaN: true }),
          ),
        }),
      },
    );
    await fc.assert(
      fc.asyncProperty(rates, fc.array(acts, { maxLength: 12 }), async (rate, sequence) => {
        const key = fresh();
        const limits = processes[0]?.limits;
        for (const step of sequence) {
          if ('part' in step) store.clock[step.act](someTime(rate, step.part));
          else {
            for (let n = 0; n < step.times; n += 1) {
              const alone = await limits?.[step.act]('sign-in-name', key, rate);
              expect(await limits?.[step.act]('api-key', key, rate)).toEqual(alone);
            }
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('three processes together never allow more than the burst and the rate in any span of time, even if the clock is set back', async () => {
    const steps = fc.record({
      atOnce: fc.array(fc.nat({ max: 20 }), { minLength: 3, maxLength: 3 }),
      act: fc.constantFrom('advance', 'advance', 'advance', 'set'),
      part: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.3, noNaN: true })),
    });
    await fc.assert(
      fc.asyncProperty(rates, fc.array(steps, { maxLength: 15 }), async (rate, sequence) => {
        const key = fresh();
        const times: number[] = [];
        const spend = async ({ limits }: Stores) => {
          const spent = await limits.spend('api-key', key, rate);
          if (spent.ok) times.push(store.clock.monotonic());
          return spent.ok;
        };
        for (const { atOnce, act, part } of sequence) {
          const spending = processes.flatMap((stores, n) =>
            Array.from({ length: atOnce[n] ?? 0 }, () => spend(stores)),
          );
          await Promise.all(spending);
          store.clock[act]((act === 'set' ? -1 : 1) * someTime(rate, part));
        }
        for (const stores of processes) while (await spend(stores));
        const interval = intervalOf(rate);
        for (const [first, from] of times.entries()) {
          const tooMany = times.slice(first).findIndex((until, beyond) => {
            const fits = Math.floor((1000 * (until - from)) / interval + 1e-3);
            return beyond + 1 > rate.burst + fits;
          });
          expect(tooMany).toBe(-1);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('the questions to the store', () => {
  const rate = { burst: 160, per: 600 };
  const interval = intervalOf(rate);
  const bucket = ['api-key', 'x', rate] as const;

  /** A bucket that is never empty. It records its queries, and answers each one when the test says so. */
  function asked(clock = new ManualClock()) {
    const questions: Asked[] = [];
    const answers: PromiseWithResolvers<void>[] = [];
    let until = 0;
    const buckets: Buckets = {
      async take(_, __, ___, question) {
        questions.push(question);
        const now = clock.now() * 1000;
        const answer = Promise.withResolvers<void>();
        answers.push(answer);
        await answer.promise;
        const from = Math.max(until, now);
        until = from + Math.max(question.wanted, 10) * interval;
        return { now, from, until };
      },
      giveBack: () => Promise.reject(new Error('not in the store')),
    };
    return { clock, limits: limitsOver(buckets, clock), questions, answers };
  }

  test('one query at a time serves all waiting uses, and uses of a held block wait for none', async () => {
    const { limits, questions, answers } = asked();
    const first = Array.from({ length: 50 }, async () => limits.spend(...bucket));
    expect(questions).toMatchObject([{ wanted: 1 }]);
    answers[0]?.resolve();
    await first[0];
    // Nine of the other uses come from the rest of the block.
    expect(questions).toMatchObject([{ wanted: 1 }, { wanted: 40 }]);
    const late = limits.spend(...bucket);
    answers[1]?.resolve();
    await Promise.all(first);
    expect(questions).toHaveLength(3);
    answers[2]?.resolve();
    await late;
    for (let n = 0; n < 9; n += 1) expect(limits.spend(...bucket)).toMatchObject({ ok: true });
    expect(questions).toHaveLength(3);
    expect(limits.spend(...bucket)).toBeInstanceOf(Promise);
  });

  test('if the store fails, all waiting uses fail; a held block is spent first, and gives no use afterwards', async () => {
    const { limits, questions, answers } = asked();
    const one = limits.spend(...bucket);
    answers[0]?.resolve();
    await one;
    for (let n = 0; n < 9; n += 1) expect(limits.spend(...bucket)).toMatchObject({ ok: true });
    const spend = async () => limits.spend(...bucket);
    // The second use comes while the query runs.
    const waiting = Promise.allSettled([spend(), spend()]);
    answers[1]?.reject(new Error('down'));
    const rejected = { status: 'rejected', reason: new Error('down') };
    expect(await waiting).toMatchObject([rejected, rejected]);
    expect(questions).toHaveLength(2);
    const next = limits.spend(...bucket);
    expect(questions[2]?.unused).toBeUndefined();
    answers[2]?.resolve();
    expect(await next).toMatchObject({ ok: true });
  });

  test('giving a use back does not wait for a query; it counts once the query is answered', async () => {
    const { limits, questions, answers } = asked();
    const one = limits.spend(...bucket);
    answers[0]?.resolve();
    await one;
    for (let n = 0; n < 9; n += 1) void limits.spend(...bucket);
    const next = limits.spend(...bucket);
    await limits.giveBack(...bucket);
    answers[1]?.resolve();
    await next;
    for (let n = 0; n < 10; n += 1) expect(limits.spend(...bucket)).toMatchObject({ ok: true });
    expect(limits.spend(...bucket)).toBeInstanceOf(Promise);
    expect(questions).toHaveLength(3);
  });

  test('while the store does not answer, a limited number of uses wait, and further uses are refused at once', async () => {
    const { limits, questions, answers } = asked();
    const spend = async (n: number) => limits.spend('address', `${n % 3}`, rate);
    const waiting = Array.from({ length: MOST_WAITING }, (_, n) => spend(n));
    await expect(spend(3)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(spend(4)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(questions).toHaveLength(3);
    for (const answer of answers) answer.reject(new Error('down'));
    await Promise.allSettled(waiting);
    const next = spend(3);
    answers[3]?.resolve();
    expect(await next).toMatchObject({ ok: true });
  });

  test('while the store fails, it is asked only for the uses that are needed, since it may still carry out the query later', async () => {
    const { limits, questions, answers } = asked();
    for (const _ of Array.from({ length: 3 })) {
      const late = limits.spend(...bucket);
      answers.at(-1)?.reject(new Error('late'));
      await expect(late).rejects.toThrow('late');
    }
    const answered = limits.spend(...bucket);
    answers[3]?.resolve();
    await answered;
    while (questions.length < 5) void limits.spend(...bucket);
    expect(questions.map(({ share }) => share > 0)).toEqual([true, false, false, false, true]);
  });

  test('the time of a use is taken before the query, however late the store answers', async () => {
    const { clock, limits, questions, answers } = asked();
    const one = limits.spend(...bucket);
    clock.advance(5 * rate.per);
    answers[0]?.resolve();
    expect(await one).toMatchObject({ ok: true, remaining: 159 });
    // Five of the nine others are over.
    for (let n = 0; n < 5; n += 1) expect(limits.spend(...bucket)).toMatchObject({ ok: true });
    expect(questions).toHaveLength(1);
    void limits.spend(...bucket);
    expect(questions).toHaveLength(2);
  });

  test('keeps uses for the ten thousand keys that were used last', async () => {
    const { limits, questions, answers } = asked();
    const keys = Array.from({ length: 15_000 }, (_, n) => String(n));
    for (const key of keys) {
      const spending = limits.spend('address', key, rate);
      answers.pop()?.resolve();
      await spending;
    }
    const before = questions.length;
    for (const key of keys.toReversed()) void limits.spend('address', key, rate);
    const held = keys.length - (questions.length - before);
    expect(held).toBeGreaterThanOrEqual(5_000);
    expect(held).toBeLessThanOrEqual(10_000);
  });
});
