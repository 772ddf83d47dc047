import { expect, test } from '@jest/globals';
import { CHORES, EVENTS, FROM_VARIABLES } from './log-events.ts';
import { sources } from './sources.ts';

const code = sources();

const matches = (pattern: RegExp) =>
  code.flatMap(([, text]) => [...text.matchAll(pattern)].map(([, ...groups]) => groups));

const LOGGED = /\blog\.(\w+)\('([^']+)'(?:,\s*\{([^}]*)\})?/gi;
const documented = Object.values(EVENTS).flat();
const sorted = (names: Iterable<string | undefined>) =>
  [...new Set(names)].map(String).toSorted((a, b) => a.localeCompare(b));

test('the page of the log has exactly the events that the code logs', () => {
  const named = [
    ...matches(LOGGED).map(([, event]) => event),
    ...matches(/\bstartLine\('([^']+)'/g).map(([event]) => event),
    ...matches(/\bserver: [\w.#']+,\s*event: '([^']+)'/g).map(([event]) => event),
    ...FROM_VARIABLES,
    'store.memory',
  ];
  expect(sorted(documented.map(([, event]) => event))).toEqual(sorted(named));
});

test('each event on the page has its level in the code', () => {
  const levels = matches(LOGGED).map(([level, event]) => `${event}: ${level}`);
  const known = new Set(documented.map(([level, event]) => `${event}: ${level}`));
  expect(levels.filter((level) => !known.has(level))).toEqual([]);
});

/** The names in the text of an object literal. */
function namesIn(literal: string): readonly string[] {
  const bare = literal.replaceAll(/'[^']*'|`[^`]*`/g, '');
  const found = bare.matchAll(/(?:^|[,\n])\s*(\w+)\s*(?=[:,\n}]|$)/g);
  return [...found].map(([, name = '']) => name);
}

const fieldsOf = (event: string) => new Set(documented.find(([, name]) => name === event)?.[3]);

test('each event on the page has its fields in the code', () => {
  const missing = matches(LOGGED).flatMap(([, event = '', literal = '']) => {
    const fields = fieldsOf(event);
    return namesIn(literal)
      .filter((name) => name !== 'noted' && !fields.has(name))
      .map((name) => `${event}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('the request line on the page has every field in the code', () => {
  const fields = fieldsOf('request');
  const noted = matches(/\bnote\((?:ctx\.req|request),\s*\{([^}]*)\}/g);
  const names = noted.flatMap(([literal = '']) => namesIn(literal));
  expect(names.length).toBeGreaterThan(12);
  expect(names.filter((name) => !fields.has(name))).toEqual([]);
});

test('the page has all periodic work', () => {
  const named = matches(/\bname: '([^']+)',\s*seconds:/g).flatMap(([name = '']) => name);
  const chores = named.filter((name) => name !== 'store.memory');
  expect(sorted(Object.keys(CHORES))).toEqual(sorted(chores));
});
