import { describe, expect, test } from '@jest/globals';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { requestOf } from './auth.fixture.ts';
import { authorization, schemeOf, spaceOf } from './judge.fixture.ts';
import { judge } from './judge.ts';
import type { Scheme } from '../scheme.ts';

const BOTH = { 'WWW-Authenticate': ['One realm="documents"', 'Two realm="documents"'] };

describe('the key of an application beside the credentials of a person', () => {
  const limit = { RateLimit: '"key";r=9;t=1' };
  const seen: string[] = [];
  const application: Scheme = {
    name: 'Key',
    locate: (request) => {
      const key = request.field('x-api-key');
      return key === undefined ? undefined : { scheme: 'key', rest: key };
    },
    challenge: () => [],
    authenticate({ rest }) {
      seen.push(rest);
      if (rest === 'down') throw new StoreUnavailable('down');
      if (rest === 'spent') {
        return {
          kind: 'unavailable',
          status: 429,
          retryAfter: 3,
          refusal: 'other-scheme',
          reason: 'spent',
        };
      }
      if (rest === 'ended')
        return { kind: 'refused', as: 'forbidden', refusal: 'other-scheme', reason: 'ended' };
      if (rest !== 'good')
        return {
          kind: 'refused',
          refusal: 'other-scheme',
          reason: 'wrong key',
          fields: { 'X-K': '1' },
        };
      const principal = { kind: 'application', id: 'app' } as const;
      return { kind: 'granted', principal, proof: { fields: limit } };
    },
  };
  const space = spaceOf([schemeOf('One'), schemeOf('Two')], { application });
  const ask = (key: string, ...values: string[]) =>
    judge(
      space,
      requestOf([['X-API-Key', key], ...values.map((value) => ['Authorization', value] as const)]),
    );

  test('if both are valid, the request has the person and the application', async () => {
    expect(await ask('good', 'One good')).toEqual({
      kind: 'pass',
      scheme: 'One',
      principal: { kind: 'anonymous', scopes: new Set() },
      application: { kind: 'application', id: 'app' },
      fields: limit,
    });
  });

  test('without a key the person is judged as usual', async () => {
    const outcome = await judge(space, authorization('One good'));
    expect(outcome).toMatchObject({ kind: 'pass', fields: {} });
    expect(outcome).not.toHaveProperty('application');
  });

  test('the key alone is refused', async () => {
    expect(await ask('good')).toMatchObject({ status: 401, fields: { ...BOTH, ...limit } });
    expect(await ask('good', 'One bad')).toMatchObject({ status: 401, fields: limit });
  });

  test.each([
    ['wrong', { status: 401, fields: { ...BOTH, 'X-K': '1' } }],
    ['ended', { status: 403, fields: {} }],
    ['spent', { status: 429, fields: { 'Retry-After': '3' } }],
    ['down', { status: 503, fields: { 'Retry-After': '1' } }],
  ])('%s: the key is refused even with the right password', async (key, answer) => {
    expect(await ask(key, 'One good')).toMatchObject({ kind: 'answer', ...answer });
    expect(await ask(key)).toMatchObject({ kind: 'answer', ...answer });
  });

  test('two sets of credentials of a person, or two keys, are 400; malformed credentials are 401; no key is checked', async () => {
    seen.length = 0;
    expect(await ask('good', 'One good', 'Two good')).toMatchObject({ status: 400 });
    expect(await ask('good', '=')).toMatchObject({ status: 401 });
    const twice = requestOf([
      ['X-API-Key', 'good'],
      ['X-API-Key', 'good'],
      ['Authorization', 'One good'],
    ]);
    expect(await judge(space, twice)).toMatchObject({ status: 400 });
    expect(seen).toEqual([]);
  });

  test('RFC 9577: a key beside credentials that must be alone is 400, and neither is checked', async () => {
    seen.length = 0;
    const alone = schemeOf('Two', {
      alone: true,
      authenticate({ rest }) {
        seen.push(rest);
        return { kind: 'granted', principal: { kind: 'anonymous' } };
      },
    });
    const strict = spaceOf([schemeOf('One'), alone], { application });
    const both = (key: string, value: string) =>
      judge(
        strict,
        requestOf([
          ['X-API-Key', key],
          ['Authorization', value],
        ]),
      );
    for (const key of ['good', 'wrong', '']) {
      expect(await both(key, 'Two good')).toMatchObject({ status: 400, fields: BOTH });
    }
    expect(seen).toEqual([]);
    expect(await both('good', 'One good')).toMatchObject({ kind: 'pass', scheme: 'One' });
    expect(await judge(strict, authorization('Two good'))).toMatchObject({ kind: 'pass' });
  });
});
