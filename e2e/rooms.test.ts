import { expect, test } from '@jest/globals';
import { importsOf } from './imports.ts';
import { arrowsUp, circles } from './rooms.ts';

/** Built from parts, so that this file has no such import itself. */
const of = (target: string) => `from '${target}';`;

const AUTH = 'shared/auth/scheme.ts';
const up = (path: string, text: string) => arrowsUp(importsOf({ [path]: text }));

test('a room may import a room below, its own files and packages', () => {
  const text = [
    `import type { A } ${of('#shared/http/answer.ts')}`,
    `import { b } ${of('./person.ts')}`,
    `export * ${of('../auth/conceal.ts')}`,
    `import { z } ${of('zod')}`,
  ].join('\n');
  expect(up(AUTH, text)).toEqual([]);
});

test.each([
  ['a type', 'import type { Config }', '#shared/config/schema.ts', 'shared/config/schema.ts'],
  ['several lines', 'import {\n  a,\n}', '#shared/server/page.ts', 'shared/server/page.ts'],
  ['passed on', 'export { a }', '../config/load.ts', 'shared/config/load.ts'],
  ['of another server', 'import { a }', '../../authz-server/app.ts', 'authz-server/app.ts'],
  ['of no room', 'import { a }', '../loose.ts', 'shared/loose.ts'],
])('a room may not import a room above: %s', (_, words, specifier, target) => {
  expect(up(AUTH, `${words} ${of(specifier)}`)).toEqual([`${AUTH} -> ${target}`]);
});

test.each(['import(%)', 'await import( % )', 'import %;', 'type A = import(%).A'])(
  'a room may not import a room above without a name: %s',
  (text) => {
    const found = up(AUTH, text.replace('%', `'../cli/main.ts'`));
    expect(found).toEqual([`${AUTH} -> shared/cli/main.ts`]);
  },
);

test('a room may not import another room of its floor: the servers meet over HTTP and the stores only', () => {
  const text = `import { a } ${of('../resource-server/app.ts')}`;
  expect(up('authz-server/app.ts', text)).toHaveLength(1);
});

test('tests may import parts of any room, and shipped code may import no test', () => {
  const text = `import { startRedis } ${of('../../e2e/parts/redis.ts')}`;
  expect(up('shared/stores/redis.test.ts', text)).toEqual([]);
  expect(up('shared/stores/redis.fixture.ts', text)).toEqual([]);
  expect(up('shared/stores/redis.ts', text)).toHaveLength(1);
  const more = `import { flow } ${of('../../e2e/flows/flow.ts')}`;
  expect(up('shared/stores/redis.test.ts', more)).toHaveLength(1);
  expect(up(AUTH, `import { a } ${of('./a.fixture.ts')}`)).toHaveLength(1);
  expect(up('e2e/parts/redis.ts', `import { a } ${of('#shared/base/clock.ts')}`)).toHaveLength(1);
});

test('each file belongs to a room', () => {
  expect(up('shared/loose.ts', '')).toEqual(['shared/loose.ts stands in no room']);
});

test('import circles are found once each, even between types', () => {
  const imports = importsOf({
    'a/one.ts': `import type { B } ${of('./two.ts')}`,
    'a/two.ts': `import { c } ${of('./three.ts')}`,
    'a/three.ts': `import type { A } ${of('./one.ts')} import { d } ${of('./four.ts')}`,
    'a/four.ts': '',
    'a/five.ts': `import { a } ${of('./one.ts')}`,
  });
  expect(circles(imports)).toEqual(['a/one.ts -> a/two.ts -> a/three.ts -> a/one.ts']);
});
