import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import {
  GENERATE,
  keepTokenKeys,
  listTokenKeys,
  openTokenKey,
} from '#shared/keys/token-key-lifecycle.ts';
import { MOST_LIVE } from '#shared/keys/token-key-schedule.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const TIMES = { rotation: 1000, overlap: 500, maxAge: 100 };

/** A shell with a token issuer, and with the keys that the server would make first. */
async function shellWithKeys(settings: object = { privateTokens: TIMES }) {
  const folder = await temporaryFolder();
  const file = join(folder, 'countersign.json');
  await writeFile(file, JSON.stringify(settings));
  const shell = new TestShell({ COUNTERSIGN_CONFIG: file, ...(await newData()) });
  const keys = () =>
    withStores(shell, async (stores, config) => {
      const master = await readMasterSecret(config, shell.env, shell.random);
      const { clock, random } = shell;
      await stores.revocations.epoch(true);
      const life = { stores, master, clock, random, times: TIMES, generate: GENERATE };
      await keepTokenKeys(life, await listTokenKeys(life));
      return (await listTokenKeys(life)).map(({ key, state }) => ({
        id: key.id,
        type: key.type,
        state,
        opens: key.sealed !== undefined && openTokenKey(master, key).length > 0,
      }));
    });
  return { shell, keys };
}

test('publishes a key that issues after maxAge and is sealed under the master secret', async () => {
  const { shell, keys } = await shellWithKeys();
  await keys();
  const told = await json(shell, 'private-token', 'rotate', '--type', 'voprf-p384');
  const from = new Date(shell.clock.now() + TIMES.maxAge * 1000).toISOString();
  expect(told).toEqual({ id: expect.any(String), type: 'voprf-p384', not_before: from });
  expect(await keys()).toEqual([
    expect.objectContaining({ type: 1, state: 'issuing', opens: true }),
    expect.objectContaining({ type: 2, state: 'issuing', opens: true }),
    { id: (told as { id: string }).id, type: 1, state: 'published', opens: true },
  ]);
});

test('refuses a second rotation in progress: exit code 1', async () => {
  const { shell, keys } = await shellWithKeys();
  await keys();
  const rotate = () => inProcess(shell, 'private-token', 'rotate', '--type', 'blind-rsa-2048');
  expect(await rotate()).toMatchObject({ code: 0, stdout: expect.stringContaining('Published') });
  expect(await rotate()).toMatchObject({ code: 1, stderr: expect.stringContaining('under way') });
});

test('with the maximum of keys in the directory: exit code 1, with the time when there is room', async () => {
  const maxAge = 10;
  const { shell, keys } = await shellWithKeys({ privateTokens: { ...TIMES, maxAge } });
  await keys();
  const rotate = () => inProcess(shell, 'private-token', 'rotate', '--type', 'voprf-p384');
  for (let made = 1; made < MOST_LIVE; made += 1) {
    expect((await rotate()).code).toBe(0);
    shell.clock.advance(maxAge);
  }
  expect(await rotate()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/22 voprf-p384 keys, .*retires at \d{4}-\d\d-\d\dT/),
  });
});

test('--compromised: revokes all keys of the type, and another key issues at once', async () => {
  const { shell, keys } = await shellWithKeys();
  const [first, rsa] = await keys();
  const rotate = (...more: readonly string[]) =>
    json(shell, 'private-token', 'rotate', '--type', 'voprf-p384', ...more);
  const { id: published } = (await rotate()) as { id: string };
  const told = await rotate('--compromised');
  const ended = [first?.id, published];
  expect(told).toEqual({ ended, type: 'voprf-p384', id: expect.any(String) });
  expect(await keys()).toEqual([
    { ...first, state: 'retired', opens: false },
    rsa,
    { id: published, type: 1, state: 'retired', opens: false },
    { id: (told as { id: string }).id, type: 1, state: 'issuing', opens: true },
  ]);
});

test.each([[[]], [['--compromised']]])(
  'without keys, %j: exit code 1, and no key is made',
  async (more) => {
    const { shell } = await shellWithKeys();
    const args = ['private-token', 'rotate', '--type', 'voprf-p384', ...more];
    const ended = await inProcess(shell, ...args);
    expect(ended.code).toBe(1);
    expect(await withStores(shell, ({ tokenKeys }) => tokenKeys.list())).toEqual([]);
  },
);

test('if this pair issues no tokens: exit code 1', async () => {
  const space = { url: 'http://localhost:3001/a/', realm: 'a', schemes: ['Bearer'] };
  const { shell } = await shellWithKeys({ spaces: [space] });
  expect(await inProcess(shell, 'private-token', 'rotate', '--type', 'voprf-p384')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('add privateTokens'),
  });
});

test.each([
  [[], 2, '--type'],
  [['--type', 'es256'], 2, '--type must be one of voprf-p384, blind-rsa-2048'],
])('%j is refused with exit code %i', async (args, code, message) => {
  const { shell } = await shellWithKeys();
  expect(await inProcess(shell, 'private-token', 'rotate', ...args)).toMatchObject({
    code,
    stderr: expect.stringContaining(message),
  });
});
