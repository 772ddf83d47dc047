import { writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';

interface Event {
  readonly kind: string;
  readonly [member: string]: unknown;
}

async function newShell(): Promise<TestShell> {
  const env = await newData();
  const file = `${env.COUNTERSIGN_DATA}.json`;
  const space = { url: 'http://localhost:3001/keys/', realm: 'keys', schemes: ['API-Key'] };
  await writeFile(file, JSON.stringify({ spaces: [space], privateTokens: {} }));
  const shell = new TestShell({ ...env, COUNTERSIGN_CONFIG: file });
  shell.stdin = 'a passphrase that nobody else has\n';
  return shell;
}

/** Runs a command; returns its output and its events. */
async function done(shell: TestShell, ...args: readonly string[]) {
  const last = await events(shell);
  const said = (await json(shell, ...args)) as Readonly<Record<string, string>>;
  return { said, kinds: (await events(shell)).slice(last.length).map(({ kind }) => kind) };
}

async function events(shell: TestShell): Promise<readonly Event[]> {
  const { stdout } = await inProcess(shell, 'audit', 'list', '--after', '0', '--json');
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Event);
}

test('each command that changes people writes an event by the operator, without a name', async () => {
  const shell = await newShell();
  const name = 'somebody.with.a.name';
  const steps: readonly (readonly [args: readonly string[], kinds: readonly string[]])[] = [
    [['user', 'add', name], ['person.added']],
    [['user', 'set', name, '--group', 'staff'], ['person.changed']],
    [['user', 'passwd', name], ['password.changed']],
    [['user', 'kerberos', name, `${name}@EXAMPLE.COM`], ['person.changed']],
    [['user', 'disable', name], ['person.disabled']],
    [['user', 'enable', name], ['person.enabled']],
    [['user', 'recover', name], ['link.made']],
    [['user', 'end', name], ['person.ended']],
    [
      ['user', 'remove', name],
      ['person.disabled', 'person.removed'],
    ],
  ];
  for (const [args, kinds] of steps) {
    const { kinds: found } = await done(shell, ...args);
    expect([args, found]).toEqual([args, kinds]);
  }
  const all = await events(shell);
  expect(JSON.stringify(all)).not.toContain(name);
  for (const event of all) expect(event).toMatchObject({ who: 'operator', how: 'command line' });
  expect(new Set(all.map(({ person }) => person)).size).toBe(1);
});

test('each command that changes applications or keys writes an event', async () => {
  const shell = await newShell();
  const add = ['client', 'add', '--name', 'A batch job', '--grant', 'client_credentials'];
  const client = await done(shell, ...add, '--scope', 'a');
  expect(client.kinds).toEqual(['client.added']);
  const id = client.said['client_id'] ?? '';
  const key = await done(shell, 'key', 'add', '--application', 'App', '--realm', 'keys');
  expect(key.kinds).toEqual(['api-key.added']);
  const keyId = key.said['id'] ?? '';
  const steps: readonly (readonly [args: readonly string[], kinds: readonly string[]])[] = [
    [['client', 'set', id, '--name', 'Another name'], ['client.changed']],
    [['client', 'secret', id], ['client.secret-changed']],
    [['client', 'remove', id], ['client.removed']],
    [['key', 'rotate', keyId], ['api-key.rotated']],
    [['key', 'remove', keyId], ['api-key.removed']],
  ];
  for (const [args, kinds] of steps) {
    const { kinds: found } = await done(shell, ...args);
    expect([args, found]).toEqual([args, kinds]);
  }
  const text = JSON.stringify(await events(shell));
  expect(text).not.toMatch(/batch job|Another name/);
  for (const secret of [client.said['client_secret'], key.said['key']]) {
    expect(text).not.toContain(secret ?? 'nothing');
  }
});

test('a refused command writes no event', async () => {
  const shell = await newShell();
  await json(shell, 'user', 'add', 'alice');
  const before = (await events(shell)).length;
  for (const args of [
    ['user', 'add', 'alice'],
    ['user', 'remove', 'nobody'],
    ['user', 'passwd', 'nobody'],
    ['client', 'remove', 'nothing'],
    ['key', 'remove', 'nothing'],
    ['user', 'second-factor', 'alice', '--remove'],
  ]) {
    expect((await inProcess(shell, ...args)).code).not.toBe(0);
  }
  expect(await events(shell)).toHaveLength(before);
});

test('export and import of a directory write events, and a refused import writes none', async () => {
  const shell = await newShell();
  await json(shell, 'user', 'add', 'alice');
  const file = `${shell.env['COUNTERSIGN_DATA']}.directory`;
  expect((await done(shell, 'directory', 'export', file)).kinds).toEqual(['directory.exported']);
  expect((await done(shell, 'directory', 'import', file)).kinds).toEqual([
    'person.changed',
    'directory.imported',
  ]);
  await json(shell, 'user', 'remove', 'alice');
  const before = (await events(shell)).length;
  expect((await inProcess(shell, 'directory', 'import', file)).code).not.toBe(0);
  expect(await events(shell)).toHaveLength(before);
  const again = await done(shell, 'directory', 'import', file, '--reuse-name');
  expect(again.kinds).toEqual(['person.added', 'directory.imported']);
});
