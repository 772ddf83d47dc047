import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { inProcess, TestShell } from '../cli.fixture.ts';

async function explained(text: string, ...options: readonly string[]) {
  const shell = new TestShell();
  shell.stdin = text;
  return inProcess(shell, 'explain', '-', ...options);
}

test('explain prints parts and checks, and exits with 1 if a server would refuse', async () => {
  const good = await explained(`Basic ${Buffer.from('alice:secret').toString('base64')}`);
  expect(good.code).toBe(0);
  expect(good.stdout).toMatch(/^Basic credentials \(RFC 7617\)\n/);
  expect(good.stdout).toMatch(/^ {2}name +alice$/m);
  expect(good.stdout).toMatch(/^ {2}only the server can tell +The name exists/m);
  const bad = await explained('Authorization: Basic !', '--json');
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout)).toMatchObject([{ checks: [{ result: 'wrong' }] }]);
});

test('explain reads a file, and names what it cannot explain', async () => {
  const file = join(await temporaryFolder(), 'field.txt');
  await writeFile(file, 'Cache-Status: edge; hit\n');
  const { stdout } = await inProcess(new TestShell(), 'explain', file);
  expect(stdout).toContain('Cache-Status field (RFC 9211)');
  const unknown = await explained('hello');
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('Authorization: ')]);
});

test('explain prints no control characters', async () => {
  const claims = Buffer.from(JSON.stringify({ sub: '\u001b[2J' })).toString('base64url');
  const { stdout } = await explained(
    `WWW-Authenticate: Basic realm="\u202e"\nDPoP: e30.${claims}.AA`,
  );
  expect(stdout).toContain(String.raw`\u202e`);
  expect(stdout).toContain(String.raw`\u001b[2J`);
});
