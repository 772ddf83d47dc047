import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig } from '#shared/config/load.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { inProcess, json, TestShell } from '../cli.fixture.ts';

test('config init writes what the defaults are, and its schema beside it; config check is content', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'countersign.json');
  expect(await json(new TestShell(), 'config', 'init', folder)).toEqual({
    files: [file, join(folder, 'countersign.schema.json')],
  });
  const defaults = await loadConfig({});
  expect(await loadConfig({ COUNTERSIGN_CONFIG: file })).toEqual({
    ...defaults,
    $schema: './countersign.schema.json',
    data: join(folder, 'data'),
  });
  expect(await json(new TestShell(), 'config', 'check', file)).toEqual({
    ok: true,
    mode: 'development',
  });
});

test('config init replaces nothing', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'countersign.json');
  await writeFile(file, 'mine');
  const { code, stderr } = await inProcess(new TestShell(), 'config', 'init', folder);
  expect([code, stderr]).toEqual([1, `${file} is there already\n`]);
  expect(await readFile(file, 'utf8')).toBe('mine');
});

test('config check: every mistake, exit code 1', async () => {
  const file = join(await temporaryFolder(), 'c.json');
  await writeFile(file, '{"isuer": 1, "listen": {"authz": {"host": "0.0.0.0"}}}');
  const { code, stdout, stderr } = await inProcess(new TestShell(), 'config', 'check', file);
  expect([code, stdout]).toEqual([1, '']);
  for (const path of ['isuer', 'issuer', 'resource', 'COUNTERSIGN_SECRET']) {
    expect(stderr).toContain(`  ${path}: `);
  }
});

test('config print: what is in force, and no password', async () => {
  const shell = new TestShell({
    COUNTERSIGN_REDIS_URL: 'sentinel:redis://u:hunter2@a:1,redis://u:hunter2@b:1',
    COUNTERSIGN_SECRET: 'correct horse battery staple and some more',
  });
  for (const args of [[], ['--json']]) {
    const { stdout } = await inProcess(shell, 'config', 'print', ...args);
    expect(JSON.parse(stdout)).toMatchObject({
      issuer: 'http://localhost:3000',
      store: { urls: ['redis://u:***@a:1', 'redis://u:***@b:1'] },
    });
    expect(stdout).not.toMatch(/hunter2|horse/);
  }
});

test('config schema: JSON Schema that knows every setting', async () => {
  const schema = await json(new TestShell(), 'config', 'schema');
  const settings = Object.keys(await loadConfig({}));
  expect(schema).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    additionalProperties: false,
  });
  expect(Object.keys((schema as { properties: object }).properties)).toEqual(
    expect.arrayContaining(settings),
  );
});
