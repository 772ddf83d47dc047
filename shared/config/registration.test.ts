import { expect, test } from '@jest/globals';
import { configSchema } from './schema.ts';
import { RULES } from './rules.ts';
import { configWarnings } from './warnings.ts';

const SPACE = { url: 'https://rs.example/a/', realm: 'a', schemes: ['Bearer'] };
const mail = { host: 'mail.example', from: 'accounts@example.com' };
const config = (people: object, more: object = {}, ...spaces: readonly object[]) =>
  configSchema.parse({ resource: 'https://rs.example', people, spaces, ...more });

const mistakes = (...given: Parameters<typeof config>) =>
  RULES.filter(({ reads }) => reads.includes('people') && reads.includes('mail'))
    .flatMap(({ check }) => check(config(...given), {}))
    .map(({ path }) => path);

test('people.registration is off unless the operator opens it', () => {
  expect(config({}).people.registration).toBe('off');
  for (const wrong of ['on', true, '', 'Open']) {
    expect(configSchema.safeParse({ people: { registration: wrong } }).success).toBe(false);
  }
});

test('open needs mail', () => {
  expect(mistakes({ registration: 'open' })).toEqual(['people.registration']);
  expect(mistakes({ registration: 'open' }, { mail })).toEqual([]);
  expect(mistakes({ registration: 'invited' })).toEqual([]);
});

test('open: config check names each space that anybody may then enter', () => {
  const spaces = [
    SPACE,
    { ...SPACE, url: 'https://rs.example/b/', realm: 'b', allow: { groups: ['staff'] } },
    { ...SPACE, url: 'https://rs.example/c/', realm: 'c' },
  ];
  const named = (registration: string) =>
    configWarnings(config({ registration }, { mail }, ...spaces))
      .map(({ path }) => path)
      .filter((path) => path.endsWith('.allow'));
  expect(named('open')).toEqual(['spaces.0.allow', 'spaces.2.allow']);
  expect([named('off'), named('invited')]).toEqual([[], []]);
});
