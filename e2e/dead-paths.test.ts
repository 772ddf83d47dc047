import { expect, test } from '@jest/globals';
import { deadPaths } from './dead-paths.ts';

const FILES = ['README.md', 'shared/guard/README.md', 'shared/guard/koa.ts', 'e2e/flows/a.test.ts'];
const dead = (text: string, path = 'README.md') => deadPaths([path, text], FILES);

test.each([
  'a file: `shared/guard/koa.ts`',
  'a folder: `shared/guard/` and `e2e/flows`',
  'a part left open: `e2e/*/a.test.ts`, `shared/guard/<name>.ts`, `e2e/flows/*.test.ts`',
  'in a command: `npm test -- e2e/flows/a.test.ts`',
  'a link: [API](shared/guard/koa.ts), [a part of it](shared/guard/README.md#more)',
])('accepts an existing path: %s', (text) => {
  expect(dead(text)).toEqual([]);
});

test('accepts an existing path beside the document', () => {
  expect(dead('[API](./koa.ts), `../guard/koa.ts`', 'shared/guard/README.md')).toEqual([]);
});

test.each([
  '`GET /shared/guard`, `text/html`, `./data`, `data/first-start.txt`, `a/b`',
  '[a site](https://shared/guard.ts), [mail](mailto:a@b), [below](#shared/no), [root](/shared/no)',
  'shared/no.ts without backticks',
])('accepts text that is no path of the repository: %s', (text) => {
  expect(dead(text)).toEqual([]);
});

test.each([
  ['a file', '`shared/guard/no.ts`', 'shared/guard/no.ts'],
  ['a folder', '`shared/no/`', 'shared/no/'],
  ['a part left open', '`e2e/flows/*.fixture.ts`', 'e2e/flows/*.fixture.ts'],
  ['a star is for one name', '`e2e/*.test.ts`', 'e2e/*.test.ts'],
  ['in a command', '`npm test -- e2e/no`', 'e2e/no'],
  ['in a block', '```sh\nnode shared/no.js\n```', 'shared/no.js'],
  ['the end of a path alone', '`guard/koa.ts`', 'guard/koa.ts'],
  ['a link', '[API](guard/koa.ts)', 'guard/koa.ts'],
  ['a picture', '![plan](plan.svg)', 'plan.svg'],
])('reports a missing path: %s', (_, text, path) => {
  expect(dead(text)).toEqual([`README.md: ${path}`]);
});

test('reports a missing path beside the document', () => {
  const path = 'shared/guard/README.md';
  expect(dead('[API](no.ts), `../no/koa.ts`', path)).toEqual([
    `${path}: ../no/koa.ts`,
    `${path}: no.ts`,
  ]);
});
