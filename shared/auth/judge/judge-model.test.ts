import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { requestOf } from './auth.fixture.ts';
import { spaceOf } from './judge.fixture.ts';
import { judge } from './judge.ts';
import { ORIGIN, PROXY, type Scheme } from '../scheme.ts';

describe('RFC 9110 section 11.6: random spaces and credentials, compared with a simple model', () => {
  const NAMES = ['Able', 'Baker', 'Carol', 'Dave'];
  const schemes = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom(...NAMES),
      asks: fc.constantFrom('always', 'never', 'fails'),
      says: fc.constantFrom('granted', 'refused', 'malformed', 'forbidden', 'instead', 'down'),
    }),
    { selector: ({ name }) => name, minLength: 1 },
  );
  type Made = typeof schemes extends fc.Arbitrary<infer T> ? T : never;
  const values = fc.array(fc.constantFrom(...NAMES.map((name) => `${name} x`), 'Other x', '='), {
    maxLength: 2,
  });

  function real({ name, asks, says }: Made[number]): Scheme {
    const refused = { kind: 'refused', refusal: 'other-scheme', reason: 'no' } as const;
    const verdicts: Record<typeof says, () => ReturnType<Scheme['authenticate']>> = {
      granted: () => ({ kind: 'granted', principal: { kind: 'anonymous' } }),
      refused: () => refused,
      malformed: () => ({ ...refused, as: 'malformed' }),
      forbidden: () => ({ ...refused, as: 'forbidden' }),
      instead: () => ({ ...refused, challenges: [{ scheme: name, params: { instead: 'yes' } }] }),
      down: () => Promise.reject(new StoreUnavailable('down')),
    };
    return {
      name,
      challenge: () =>
        asks === 'fails'
          ? Promise.reject(new Error())
          : asks === 'always'
            ? [{ scheme: name }]
            : [],
      authenticate: () => verdicts[says](),
    };
  }

  /** The expected status (200: passes) and challenges, derived as the specification states them. */
  function model(made: Made, lines: readonly string[]): [number, string[]] {
    const tried = made.find(({ name }) => `${name} x` === lines[0]);
    const clean = lines.length === 1 && lines[0] !== '=';
    if (clean && tried?.says === 'granted') return [200, []];
    if (clean && tried?.says === 'forbidden') return [403, []];
    if (clean && tried?.says === 'down') return [503, []];
    const asked = made.flatMap(({ name, asks, says }) => {
      if (clean && name === tried?.name && says === 'instead') return [`${name} instead="yes"`];
      return asks === 'always' ? [name] : [];
    });
    const bad = lines.length > 1 || (clean && tried?.says === 'malformed');
    if (bad) return [400, asked];
    if (asked.length > 0) return [401, asked];
    const failing = made.some(
      ({ name, asks, says }) =>
        asks === 'fails' && !(clean && name === tried?.name && says === 'instead'),
    );
    return [failing ? 503 : 403, []];
  }

  test('an asynchronous scheme gives the same outcome as a synchronous one', async () => {
    const waiting = (scheme: Scheme): Scheme => ({
      ...scheme,
      challenge: async (request) => scheme.challenge(request),
      authenticate: async (...given) => scheme.authenticate(...given),
    });
    await fc.assert(
      fc.asyncProperty(schemes, values, async (made, lines) => {
        const request = requestOf(lines.map((line) => ['Authorization', line] as const));
        const [now, later] = [
          judge(spaceOf(made.map(real)), request),
          judge(spaceOf(made.map(real).map(waiting)), request),
        ];
        expect(await now).toEqual(await later);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    [ORIGIN, 401],
    [PROXY, 407],
  ] as const)('at %j', async (at, status) => {
    await fc.assert(
      fc.asyncProperty(schemes, values, async (made, lines) => {
        const outcome = await judge(
          spaceOf(made.map(real), { at }),
          requestOf(lines.map((line) => [at.answer, line] as const)),
        );
        const [expected, asked] = model(made, lines);
        const got = outcome.kind === 'answer' ? outcome.status : 200;
        const challenges = outcome.kind === 'absent' ? [] : [outcome.fields[at.ask] ?? []].flat();
        expect([got, challenges]).toEqual([expected === 401 ? status : expected, asked]);
      }),
      { numRuns: 500 },
    );
  });
});
