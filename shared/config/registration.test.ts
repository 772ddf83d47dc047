import { expect, test } from '@jest/globals';
import { configSchema } from './schema.ts';
import { RULES } from './rules.ts';
import { configWarnings } from './warnings.ts';

const NOW = Date.UTC(2026, 0, 1);

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

test('open registration needs mail', () => {
  expect(mistakes({ registration: 'open' })).toEqual(['people.registration']);
  expect(mistakes({ registration: 'open' }, { mail })).toEqual([]);
  expect(mistakes({ registration: 'invited' })).toEqual([]);
});

test('with open registration, config check names the spaces that anybody may then enter, in one warning', () => {
  const spaces = [
    SPACE,
    { ...SPACE, url: 'https://rs.example/b/', realm: 'b', allow: { groups: ['staff'] } },
    { ...SPACE, url: 'https://rs.example/c/', realm: 'c' },
  ];
  const warned = (registration: string, given: readonly object[] = spaces) =>
    configWarnings(config({ registration }, { mail }, ...given), NOW);
  const [warning, ...others] = warned('open');
  expect(warning?.path).toBe('people.registration');
  expect(warning?.message).toContain(' enter https://rs.example/a/, https://rs.example/c/. ');
  expect(others).toEqual([]);
  expect([warned('off'), warned('invited'), warned('open', spaces.slice(1, 2))]).toEqual([
    [],
    [],
    [],
  ]);
});

test.each([
  [5, /\/s4\/\. /],
  [6, /\/s4\/ \(\+ 1\)\. /],
  [17, /\/s4\/ \(\+ 12\)\. /],
])('the warning names five of %i spaces at most', (count, end) => {
  const spaces = Array.from({ length: count }, (_, n) => ({
    ...SPACE,
    url: `https://rs.example/s${n}/`,
  }));
  const warnings = configWarnings(config({ registration: 'open' }, { mail }, ...spaces), NOW);
  expect(warnings).toMatchObject([{ message: expect.stringMatching(end) }]);
});
