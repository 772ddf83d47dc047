import { writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { cli, newData } from './cli.fixture.ts';

const ADD = [
  'client',
  'add',
  '--name',
  'N',
  '--grant',
  'client_credentials',
  '--scope',
  'documents:read',
];

test('separate processes on one data folder: one command lists what another has added, and exit codes are 0, 1 and 2', async () => {
  const env = await newData();
  const added = await cli([...ADD, '--json'], env);
  expect(added).toMatchObject({ code: 0, stderr: '' });
  const { client_id } = JSON.parse(added.stdout) as { client_id: string };
  const listed = await cli(['client', 'list', '--json'], env);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ client_id, client_name: 'N' }]);
  expect(await cli(['client', 'remove', 'nobody'], env)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'there is no client nobody\n',
  });
  expect((await cli(['client', 'add'], env)).code).toBe(2);
});

test('a malformed token on standard input gets exit code 1', async () => {
  const { code, stderr } = await cli(['token', 'explain', '-'], await newData(), 'no token\n');
  expect([code, stderr]).toEqual([1, expect.stringContaining('not a JWT')]);
});

test('endless standard input is refused by its length', async () => {
  const args = ['apply', '-'];
  const { code, stderr } = await cli(args, await newData(), ' '.repeat(8 * 2 ** 20 + 1));
  expect([code, stderr]).toEqual([1, 'standard input has more than 8,388,608 octets\n']);
});

test('an option cannot print a control character', async () => {
  const { code, stderr } = await cli(['client', 'list', '--\u001b[2J'], await newData());
  expect(code).toBe(2);
  expect(stderr).toContain(String.raw`\u001b[2J`);
  expect(stderr).not.toContain('\u001b');
});

test('an invalid store file is a failure, not a crash', async () => {
  const env = await newData();
  await cli(ADD, env);
  await writeFile(
    `${env.COUNTERSIGN_DATA}/state.db`,
    'not a database, whatever its name says'.repeat(99),
  );
  const { code, stderr } = await cli(['client', 'list'], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/state\.db/);
  expect(stderr).not.toMatch(/\n {4}at /);
});
