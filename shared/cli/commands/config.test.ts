import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { loadConfig } from '#shared/config/load.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { somePasskey } from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

test('config init writes the defaults without other origins, and the schema beside it; config check accepts them', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'countersign.json');
  expect(await json(new TestShell(), 'config', 'init', folder)).toEqual({
    files: [file, join(folder, 'countersign.schema.json')],
  });
  const defaults = await loadConfig({});
  for (const { cors } of defaults.spaces) cors.origins = [];
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

test('config init --minimal writes the two origins only, with defaults for everything else', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'countersign.json');
  await json(new TestShell(), 'config', 'init', folder, '--minimal');
  const { issuer, resource, ...defaults } = await loadConfig({});
  const written = { $schema: './countersign.schema.json', issuer, resource };
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(written);
  const data = join(process.cwd(), 'data');
  expect(await loadConfig({ COUNTERSIGN_CONFIG: file })).toEqual({ ...defaults, ...written, data });
});

test('config init overwrites no file', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'countersign.json');
  await writeFile(file, 'mine');
  const { code, stderr } = await inProcess(new TestShell(), 'config', 'init', folder);
  expect([code, stderr]).toEqual([1, `${file} is there already\n`]);
  expect(await readFile(file, 'utf8')).toBe('mine');
});

test('config init refuses a file name as its folder', async () => {
  const folder = await temporaryFolder();
  const { code, stderr } = await inProcess(new TestShell(), 'config', 'init', `${folder}/x.json`);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`such as ${folder}\n`)]);
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['/proc/x', 'ENOENT'],
  ['/proc/x/y', 'ENOENT'],
])('config init fails if no folder can be created: %s', async (folder, reason) => {
  const { code, stderr } = await inProcess(new TestShell(), 'config', 'init', folder);
  expect([code, stderr]).toEqual([
    1,
    `cannot make the folder ${folder}: ${reason}; choose another folder\n`,
  ]);
});

test('config init names the file that stands in the way of a folder', async () => {
  const file = join(await temporaryFolder(), 'file');
  await writeFile(file, 'mine');
  for (const folder of [file, join(file, 'a/b')]) {
    const { code, stderr } = await inProcess(new TestShell(), 'config', 'init', folder);
    expect([code, stderr]).toEqual([
      1,
      `cannot make the folder ${folder}: ${file} is no folder; choose another folder\n`,
    ]);
  }
});

test('config check reports every mistake, with exit code 1', async () => {
  const file = join(await temporaryFolder(), 'c.json');
  await writeFile(file, '{"isuer": 1, "listen": {"authz": {"host": "0.0.0.0"}}}');
  const { code, stdout, stderr } = await inProcess(new TestShell(), 'config', 'check', file);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(`The configuration of ${file} cannot be used:\n`);
  for (const path of ['isuer', 'issuer', 'resource', 'COUNTERSIGN_SECRET']) {
    expect(stderr).toContain(`  ${path}: `);
  }
});

test('config check warns of development that listens for other machines', async () => {
  const shell = new TestShell({ COUNTERSIGN_LISTEN: '0.0.0.0' });
  const { code, stdout } = await inProcess(shell, 'config', 'check');
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('Look again: listen.host is 0.0.0.0'),
  ]);
});

test('config check names the file that it has read, or says that COUNTERSIGN_CONFIG names none', async () => {
  const file = join(await temporaryFolder(), 'c.json');
  await writeFile(file, '{}');
  const shell = new TestShell({ COUNTERSIGN_CONFIG: file });
  expect((await inProcess(shell, 'config', 'check')).stdout).toContain(`${file} can be used.\n`);
  const without = await inProcess(new TestShell(), 'config', 'check');
  expect(without.stdout).toContain('COUNTERSIGN_CONFIG names no file');
});

test('config check refuses what a start refuses: files, the secret, unknown variables', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'c.json');
  await writeFile(file, '{"tls": {"certificate": "cert.pem", "key": "key.pem"}}');
  const shell = new TestShell({ COUNTERSIGN_SECRET: 'short', COUNTERSIGN_REDIS: 'redis://x' });
  const { code, stderr } = await inProcess(shell, 'config', 'check', file);
  expect(code).toBe(1);
  for (const path of ['tls.certificate', 'tls.key', 'COUNTERSIGN_SECRET', 'COUNTERSIGN_REDIS']) {
    expect(stderr).toContain(`  ${path}: `);
  }

  const { key, cert } = selfSigned(['localhost'], systemClock, systemRandom);
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key);
  const checked = await inProcess(new TestShell(), 'config', 'check', file);
  expect([checked.code, checked.stderr]).toEqual([0, '']);
});

test('config check reports mistakes of the start and of the schema together, in the order of the file', async () => {
  const file = join(await temporaryFolder(), 'c.json');
  const wrong = {
    people: { session: 'long' },
    tls: { certificate: 'cert.pem', key: 'key.pem' },
    nothing: 1,
    resource: 'x',
  };
  await writeFile(file, JSON.stringify(wrong));
  const { code, stderr } = await inProcess(new TestShell(), 'config', 'check', file);
  expect(code).toBe(1);
  const lines = stderr.split('\n').slice(1, -1);
  expect(lines.map((line) => line.trim().split(': ')[0])).toEqual([
    'people.session',
    'tls.certificate',
    'tls.key',
    'nothing',
    'resource',
  ]);
});

test('config check --server checks the files of that server only', async () => {
  const file = join(await temporaryFolder(), 'c.json');
  await writeFile(file, '{"tls": {"certificate": "no.pem", "key": "no.pem"}}');
  const check = (server: string) =>
    inProcess(new TestShell(), 'config', 'check', file, '--server', server);
  expect((await check('authz')).code).toBe(0);
  expect((await check('resource')).stderr).toContain('tls.certificate: is ');
  expect((await check('both')).code).toBe(2);
});

describe('config check --store', () => {
  /** A store with an old and a recent passkey, and the current configuration. */
  async function moved() {
    const env = await newData();
    const shell = new TestShell(env);
    const file = `${env.COUNTERSIGN_DATA}.json`;
    await writeFile(file, JSON.stringify({ issuer: 'http://localhost:3000' }));
    await withStores(shell, async ({ passkeys }) => {
      for (const rpId of ['auth.example.com', 'localhost']) {
        await passkeys.add({ ...somePasskey(rpId), accountId: 'alice', rpId }, 2);
      }
    });
    return { shell, file };
  }

  test('warns of passkeys for another domain; without the option no store is opened', async () => {
    const { shell, file } = await moved();
    const { code, stdout } = await inProcess(shell, 'config', 'check', file, '--store');
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(
        'Look again: people.passkeys.rpId is localhost, and people have passkeys for auth.example.com (1), which sign nobody in.',
      ),
    ]);
    const path = 'people.passkeys.rpId';
    expect(await json(shell, 'config', 'check', file, '--store')).toMatchObject({
      warnings: [{ path }],
    });
    expect((await inProcess(shell, 'config', 'check', file)).stdout).not.toContain(path);
    await withStores(shell, ({ passkeys }) => passkeys.remove('alice', 'auth.example.com', 0));
    expect((await inProcess(shell, 'config', 'check', file, '--store')).stdout).not.toContain(path);
  });

  test('warns of groups without members', async () => {
    const { shell, file } = await moved();
    await writeFile(
      file,
      JSON.stringify({ people: { secondFactor: { required: ['staff', 'admins'] } } }),
    );
    await json(shell, 'user', 'add', 'alice', '--group', 'staff');
    expect(await json(shell, 'config', 'check', file, '--store')).toMatchObject({
      warnings: expect.arrayContaining([
        {
          path: 'people.secondFactor.required.1',
          code: 'empty-group',
          values: { group: '"admins"' },
          message: expect.stringMatching(/^is "admins", and nobody is in that group/),
        },
      ]),
    });
    const { stdout } = await inProcess(shell, 'config', 'check', file, '--store');
    expect(stdout).not.toContain('required.0');
  });

  test('warns of rules of clients for groups without members', async () => {
    const { shell, file } = await moved();
    await json(shell, 'user', 'add', 'alice', '--group', 'staff');
    const rules = ['--allow-group', 'staff', '--allow-group', 'board', '--claim', 'a=b if group c'];
    const place = ['--redirect-uri', 'https://app.example/back', '--scope', 'openid'];
    const grant = ['--name', 'App', '--grant', 'authorization_code'];
    const added = await json(shell, 'client', 'add', ...grant, ...place, ...rules);
    const { client_id: id } = added as { client_id: string };
    const { stdout } = await inProcess(shell, 'config', 'check', file, '--store');
    const lines = stdout.split('\n').filter((line) => line.includes('nobody is in that group'));
    expect(lines).toEqual([
      expect.stringContaining(`Look again: client ${id} --allow-group is "board", and nobody`),
      expect.stringContaining(`Look again: client ${id} --claim is "c", and nobody`),
    ]);
  });

  test('a missing store: exit code 1, and none is created', async () => {
    const folder = join(await temporaryFolder(), 'none');
    const shell = new TestShell({ COUNTERSIGN_DATA: folder });
    const { code, stdout, stderr } = await inProcess(shell, 'config', 'check', '--store');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`there is no store at ${folder}`);
    expect(existsSync(folder)).toBe(false);
  });
});

test('config print prints the settings in force, without passwords', async () => {
  const shell = new TestShell({
    COUNTERSIGN_POSTGRES_URL: 'postgres://u:hunter2@h/db',
    COUNTERSIGN_REDIS_URL: 'sentinel:redis://u:hunter2@a:1,redis://u:hunter2@b:1',
    COUNTERSIGN_SECRET: 'correct horse battery staple and some more',
  });
  for (const args of [[], ['--json']]) {
    const { stdout, stderr } = await inProcess(shell, 'config', 'print', ...args);
    expect(stderr).toMatch(/^COUNTERSIGN_CONFIG names no file: these are the defaults/);
    expect(JSON.parse(stdout)).toMatchObject({
      issuer: 'http://localhost:3000',
      store: {
        urls: ['postgres://u:***@h/db'],
        redis: { urls: ['redis://u:***@a:1', 'redis://u:***@b:1'] },
      },
    });
    expect(stdout).not.toMatch(/hunter2|horse/);
  }
  const file = join(await temporaryFolder(), 'countersign.json');
  const redis = { urls: ['redis://:hunter2@r:1'] };
  const store = { kind: 'postgres', urls: ['postgres://u:hunter2@h/db'], redis };
  await writeFile(file, JSON.stringify({ store }));
  const both = new TestShell({ COUNTERSIGN_CONFIG: file });
  const { stdout, stderr } = await inProcess(both, 'config', 'print');
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({
    store: { urls: ['postgres://u:***@h/db'], redis: { urls: ['redis://:***@r:1'] } },
  });
});

test('config schema prints a JSON Schema with every setting', async () => {
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
