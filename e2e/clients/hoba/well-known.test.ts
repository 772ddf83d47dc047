import { beforeAll, expect, test } from '@jest/globals';
import { answer, withTrailer } from '../digest/answers.fixture.ts';
import { valuesOf } from '../digest/exchange.ts';
import { newKey, pemOf } from './keys.ts';
import type { HobaKey } from './keys.ts';
import { challengeIn, getChallenge, logout, register, registrationIn } from './well-known.ts';

let key: HobaKey;
beforeAll(() => {
  key = newKey();
});

const BASE = 'https://origin.example:8443';

test('RFC 7486 section 6.1: a registration is sent as a form', () => {
  const secret = ['secret', 'a+b &c'] as const;
  const { method, target, fields, content } = register(BASE, {
    key,
    did: 'T\u{e9}l',
    more: [secret],
  });
  expect([method, target]).toEqual(['POST', `${BASE}/.well-known/hoba/register`]);
  expect(valuesOf(fields, 'Content-Type')).toEqual(['application/x-www-form-urlencoded']);
  expect(valuesOf(fields, 'Content-Length')).toEqual([String(content.length)]);
  expect([...new URLSearchParams(content.toString())]).toEqual([
    ['pub', pemOf(key)],
    ['kidtype', '0'],
    ['kid', key.kid],
    ['didtype', '0'],
    ['did', 'T\u{e9}l'],
    ['secret', 'a+b &c'],
  ]);
  expect(content.toString()).toMatch(/&did=T%C3%A9l&secret=a%2Bb\+%26c$/);
});

test('missing optional parts are omitted, and changed parts are sent', () => {
  const form = (changes: object) =>
    [...new URLSearchParams(register('', { key, ...changes }).content.toString()).keys()].join();
  expect(form({})).toBe('pub,kidtype,kid');
  expect(
    form({
      tamper: () => [
        ['pub', 'x'],
        ['pub', 'y'],
      ],
    }),
  ).toBe('pub,pub');
});

test.each([
  ['regok', answer(200, [['Hobareg', 'regok']])],
  ['regok', answer(201, [['HOBAREG', 'RegOK']])],
  ['regok', withTrailer(answer(200), ['Hobareg', 'regok'])],
  ['reginwork', answer(200, [['Hobareg', 'reginwork']])],
  ['reginwork', answer(200, [['Hobareg', 'regok, regok']])],
  [
    'reginwork',
    answer(200, [
      ['Hobareg', 'regok'],
      ['Hobareg', 'regok'],
    ]),
  ],
  ['reginwork', answer(200, [['Hobareg', 'done']])],
  ['reginwork', answer(303, [['Hobareg', 'regok']])],
  ['failed', answer(403, [['Hobareg', 'regok']])],
  ['failed', answer(500)],
  [undefined, answer(200)],
])('RFC 7486 section 6.1.1: %s', (state, response) => {
  expect(registrationIn(response)).toBe(state);
});

test('RFC 7486 section 6.4: a fresh challenge is read, without surrounding white space', () => {
  expect(getChallenge(BASE)).toMatchObject({
    method: 'POST',
    target: `${BASE}/.well-known/hoba/getchal`,
    fields: [['Content-Length', '0']],
  });
  expect(challengeIn(answer(200, [], ' YW\r\nJj=\t\n'))).toBe('YWJj=');
  expect(() => challengeIn(answer(200, [], 'YW.Jj'))).toThrow('YW.Jj');
  expect(() => challengeIn(answer(200, [], ' '))).toThrow(SyntaxError);
  expect(() => challengeIn(answer(401, [], 'YWJj'))).toThrow('401');
});

test('RFC 7486 section 6.3: the client signs out', () => {
  expect(logout('')).toMatchObject({ method: 'POST', target: '/.well-known/hoba/logout' });
});
