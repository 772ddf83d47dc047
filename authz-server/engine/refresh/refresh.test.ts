import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

const FILES: Readonly<Record<string, string>> = {
  refresh: '../../integration/token/refresh.test.ts',
  request: '../../integration/token/token-request.test.ts',
  fapi: '../../integration/token/fapi.test.ts',
};
const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');

test('each rule of refresh.ts names tests that exist', async () => {
  const told = await read('refresh.ts');
  const rules = told.match(/^ \* [ \d]\d\. /gm) ?? [];
  const named = [...told.matchAll(/^ \* {5}\[(\w+)\] (.+)$/gm)];
  expect(named.length).toBeGreaterThanOrEqual(rules.length);
  for (const [, file = '', title = ''] of named) {
    expect(await read(FILES[file] ?? '')).toContain(`'${title}'`);
  }
});
