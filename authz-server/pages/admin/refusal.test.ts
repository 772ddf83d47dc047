import { expect, test } from '@jest/globals';
import { Conflict, InputError, Missing, readInput } from '#shared/operations/operation.ts';
import { OPERATIONS as ALL } from '#shared/operations/operations.ts';
import { noAnswer } from '#shared/client/send.ts';
import { NoSuchPerson, PasswordError } from '#shared/people/people.ts';
import { fault } from '#shared/refusals/fault.ts';
import { OPERATIONS, said } from '#shared/refusals/operations.ts';
import { about } from '#shared/refusals/words.ts';
import { refusal } from './refusal.ts';
import { refusalWords } from '../texts/admin/messages.ts';

const addUser = ALL.find(({ name }) => name === 'user add')!;

const refusing = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
const unanswered = noAnswer({ method: 'GET', url: 'https://a.example/x' }, refusing);

/** How a page in German shows refusals of each kind. */
const shown = () =>
  [
    () => new Missing(said('no-client', { client: 'web' })),
    () => new NoSuchPerson(said('no-person', { name: '{name} $&' })),
    () => new Conflict(said('disabled', { name: 'alice' })),
    () => new InputError([], said('no-setting')),
    () => new InputError(['name'], said('missing-name')),
    () => new PasswordError('short'),
    () => new InputError(['emails'], about('http://x', said('uri-fragment'))),
    () => new InputError(['name'], said('gnap-key', { why: said('key-kid', { most: 256 }) })),
    () => new InputError(['name'], said('document-unusable', { why: unanswered.words })),
    () => {
      try {
        return readInput(addUser, { name: 'alice', locale: '!' });
      } catch (error) {
        return error;
      }
    },
  ].map((thrown) => refusal(addUser, thrown(), 'de'));

test('other English words change neither the status, nor the place, nor the German', () => {
  const before = shown();
  expect(before.map(({ status }) => status)).toEqual([
    404, 404, 409, 422, 422, 422, 422, 422, 422, 422,
  ]);
  expect(before[1]).toMatchObject({ problem: { text: 'Es gibt keine Person {name} $&.' } });
  expect(before[6]?.wrong?.message).toBe('http://x darf kein Fragment (#) haben');
  expect(before[7]?.wrong?.message).toMatch(/: jwk hat kein kid mit 1 bis 256 Zeichen/);
  expect(before[8]?.wrong?.message).toMatch(
    /: https:\/\/a\.example hat nicht geantwortet: Die Verbindung ist gescheitert \(connect\)$/,
  );
  expect(before[9]?.wrong?.message).toBe('muss ein Sprachkürzel wie de-DE sein');
  const { ...texts } = OPERATIONS;
  try {
    for (const code of Object.keys(OPERATIONS)) Reflect.set(OPERATIONS, code, 'other words');
    expect(new Missing(said('no-client', { client: 'web' })).message).toBe('other words');
    expect(shown()).toEqual(before);
  } finally {
    Object.assign(OPERATIONS, texts);
  }
});

test.each(Object.keys(OPERATIONS))('%s: what was typed stays as it is, in German, too', (code) => {
  const values = Object.fromEntries(
    [...OPERATIONS[code as keyof typeof OPERATIONS].matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [
      name,
      '{name} there is no client $1',
    ]),
  );
  const words = { code, values, message: '' };
  expect(refusalWords('de', words)).not.toMatch(/undefined/);
  expect(refusalWords('en', { ...words, message: 'x' })).toBe('x');
});

test('an issue of a schema carries its words beside the English', () => {
  const issue = { code: 'custom', input: 'x', words: undefined } as never;
  expect(fault(said('flag')).error(issue)).toBe(OPERATIONS.flag);
  expect(issue).toMatchObject({ words: { code: 'flag' } });
});
