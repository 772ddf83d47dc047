import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { configSchema } from '#shared/config/schema.ts';
import { COMMANDS } from '#shared/cli/commands.ts';
import { stumbles } from '../plain-documents.ts';
import { commandsPage } from './commands-page.ts';
import { methodsPage } from './methods-page.ts';
import { stalePages } from './pages.ts';
import { EXAMPLES } from './setting-examples.ts';
import { settingsPage } from './settings-page.ts';
import { type Schema, typeOf } from './setting-type.ts';

const fromTop = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

test('the generated pages of docs/ are up to date with the code', () => {
  expect(stalePages(fromTop)).toEqual([]);
});

test('a missing or changed page is outdated', () => {
  const pages = { 'a.md': () => 'a', 'b.md': () => 'b', 'c.md': () => 'c' };
  const files: Readonly<Record<string, string>> = { 'a.md': 'a', 'b.md': 'old' };
  expect(stalePages((path) => files[path], pages)).toEqual(['b.md', 'c.md']);
});

describe('the page of settings', () => {
  test.each(Object.entries(EXAMPLES))('the example of %s is accepted', (name, example) => {
    const parsed = configSchema.safeParse({ [name]: example });
    expect(parsed.error?.issues ?? []).toEqual([]);
  });

  test('every setting has a type and a description', () => {
    const rows = settingsPage()
      .split('\n')
      .filter((line) => /^\| `[^A-Z]/.test(line));
    expect(rows.length).toBeGreaterThan(190);
    for (const line of rows) {
      expect(line).toMatch(/^\| `[^`]+` \| .+ \| .* \| [A-Z`].*\. \|$/);
    }
  });

  test.each<[Schema, string]>([
    [{ type: 'string' }, 'string'],
    [{ enum: ['a', 'b', 'c'] }, '`"a"`, `"b"` or `"c"`'],
    [{ const: true }, '`true`'],
    [{ type: 'integer', minimum: 1, maximum: 65_535 }, '1 to 65,535'],
    [{ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, '0 or more'],
    [{ type: 'integer', minimum: 10, maximum: 60, unit: 'seconds' }, '10 to 60 seconds'],
    [{ type: 'number', minimum: 0.2, maximum: 60, unit: 'seconds' }, '0.2 to 60 seconds'],
    [{ type: 'array', items: { type: 'string' } }, 'list of strings'],
    [{ anyOf: [{ const: false }, { type: 'object' }] }, '`false` or object'],
    [{ type: 'object', properties: { burst: {}, per: {} } }, 'rate'],
  ])('the schema %j is described as: %s', (schema, values) => {
    expect(typeOf(schema)).toBe(values);
  });
});

test('the help of each command follows the rules of documents', () => {
  expect(COMMANDS.flatMap(({ details = [] }) => stumbles(details.join(' ')))).toEqual([]);
});

test('the page of commands has the help of each command', () => {
  const page = commandsPage();
  for (const { name } of COMMANDS) {
    expect(page).toContain(`\n## \`${name}\`\n`);
    expect(page).toContain(`Usage: countersign ${name}`);
  }
});

describe('the page of methods', () => {
  const rows = methodsPage()
    .split('\n')
    .filter((line) => /^\| [A-Z]+ \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));

  test('has a row for each method of the specification, with its place', () => {
    const named =
      'GET HEAD OPTIONS POST PUT PATCH DELETE QUERY TRACE CONNECT PRI PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK PURGE BAN';
    expect(rows.map(([, method]) => method)).toEqual(named.split(' '));
    for (const [, , , , , where] of rows) expect(where).toMatch(/[a-z]/);
  });

  test('says 501 for the methods that no listener accepts', () => {
    const nowhere = rows.filter(([, , , , , where]) => where?.includes('501'));
    expect(nowhere.map(([, method]) => method)).toEqual(['PURGE', 'BAN']);
  });
});
