import { describe, expect, test } from '@jest/globals';
import { requestOf } from './auth.fixture.ts';
import { judge } from './judge.ts';
import { ORIGIN, type ProtectionSpace, type Scheme } from '../scheme.ts';

const granted = (name: string) =>
  ({ kind: 'granted', principal: { kind: 'application', id: name } }) as const;
const bearer: Scheme = {
  name: 'Bearer',
  challenge: () => [{ scheme: 'Bearer' }],
  authenticate: ({ token68 }) =>
    token68 === 'good'
      ? granted('Bearer')
      : { kind: 'refused', refusal: 'other-scheme', reason: 'not good' },
};
const session: Scheme = {
  name: 'Session',
  ambient: true,
  yields: true,
  locate: (request) =>
    request.lines('cookie').length > 0 ? { scheme: 'session', rest: '' } : undefined,
  challenge: () => [],
  authenticate: (_, request) =>
    request.lines('cookie')[0] === 'good'
      ? granted('Session')
      : { kind: 'refused', refusal: 'other-scheme', reason: 'over' },
};
const key: Scheme = {
  name: 'Key',
  locate: (request) => {
    const rest = request.field('x-key');
    return rest === undefined ? undefined : { scheme: 'key', rest };
  },
  challenge: () => [],
  authenticate: () => granted('Key'),
};
const space: ProtectionSpace = {
  at: ORIGIN,
  realm: 'r',
  schemes: [bearer, key, session],
  scopes: () => [],
};
const COOKIE = ['Cookie', 'good'] as const;
const OVER = ['Cookie', 'over'] as const;
const auth = (value: string) => ['Authorization', value] as const;

describe('a session beside other credentials', () => {
  test.each([
    ['the session alone', [COOKIE], 'Session'],
    ['only an expired session', [OVER], 401],
    ['a token', [auth('Bearer good')], 'Bearer'],
    ['a token beside a session: the token', [auth('Bearer good'), COOKIE], 'Bearer'],
    ['a token beside an expired session', [auth('Bearer good'), OVER], 'Bearer'],
    ['an invalid token beside a session', [auth('Bearer bad'), COOKIE], 401],
    ['credentials for the application beside a session', [auth('Token x'), COOKIE], 'Session'],
    ['credentials for the application beside an expired session', [auth('Token x'), OVER], 401],
    ['only credentials for the application', [auth('Token x')], 401],
    [
      'two credentials for the application (RFC 9110 section 5.3)',
      [auth('Token x'), auth('Token y'), COOKIE],
      400,
    ],
    ['two tokens beside a session', [auth('Bearer good'), auth('Bearer good'), COOKIE], 400],
    [
      'a token and credentials for the application beside a session',
      [auth('Bearer good'), auth('Token x'), COOKIE],
      400,
    ],
    ['a key beside a session', [['X-Key', 'k'], COOKIE], 'Key'],
    [
      'credentials for the application and a key beside a session',
      [auth('Token x'), ['X-Key', 'k'], COOKIE],
      400,
    ],
    ['a malformed field beside a session', [auth('Token x, y'), COOKIE], 400],
    ['the scheme Session in Authorization', [auth('Session good')], 401],
  ] as const)('the credentials or the session decide: %s', async (_what, fields, expected) => {
    const outcome = await judge(space, requestOf(fields));
    expect(
      outcome.kind === 'answer' ? outcome.status : outcome.kind === 'pass' && outcome.scheme,
    ).toBe(expected);
  });

  test('an unsafe request from a page of another site is refused only if it uses the session', async () => {
    const post = (...fields: (readonly [string, string])[]) =>
      judge(space, requestOf([['Origin', 'https://evil.example'], ...fields], { method: 'POST' }));
    expect(await post(COOKIE)).toMatchObject({ kind: 'answer', status: 403 });
    expect(await post(COOKIE, auth('Bearer good'))).toMatchObject({ kind: 'pass' });
  });
});
