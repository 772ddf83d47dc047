import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig } from './load.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import { readMasterSecret } from './secret.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';

const TEXT = 'a secret of more than thirty-two bytes';

async function development() {
  const folder = await temporaryFolder();
  return loadConfig({ COUNTERSIGN_DATA: join(folder, 'data') });
}

test('the secret from the environment has 32 bytes that depend on every character', async () => {
  const config = await development();
  const secret = await readMasterSecret(config, { COUNTERSIGN_SECRET: TEXT });
  expect(secret).toHaveLength(32);
  expect(await readMasterSecret(config, { COUNTERSIGN_SECRET: `${TEXT}\n` })).toEqual(secret);
  expect(await readMasterSecret(config, { COUNTERSIGN_SECRET: `${TEXT}x` })).not.toEqual(secret);
});

test('a file with the same text gives the same secret', async () => {
  const config = await development();
  const file = join(await temporaryFolder(), 'master');
  await writeFile(file, `${TEXT}\n`, { mode: 0o600 });
  expect(await readMasterSecret(config, { COUNTERSIGN_SECRET_FILE: file })).toEqual(
    await readMasterSecret(config, { COUNTERSIGN_SECRET: TEXT }),
  );
});

test.each([
  ['too short', { COUNTERSIGN_SECRET: 'x'.repeat(31) }, /shorter than 32 bytes/],
  ['short but for its spaces', { COUNTERSIGN_SECRET: 'x'.padEnd(64) }, /shorter than 32 bytes/],
  ['a missing file', { COUNTERSIGN_SECRET_FILE: '/nowhere/secret' }, /ENOENT/],
  ['both', { COUNTERSIGN_SECRET: TEXT, COUNTERSIGN_SECRET_FILE: '/x' }, /keep one/],
])('%s is refused', async (_, env, reason) => {
  const refused = readMasterSecret(await development(), env);
  await expect(refused).rejects.toThrow(reason);
  await expect(refused).rejects.toBeInstanceOf(ConfigError);
});

test.each([0o620, 0o602, 0o666])(
  'a file that other users can write (%o) is refused',
  async (mode) => {
    const config = await development();
    const file = join(await temporaryFolder(), 'master');
    await writeFile(file, TEXT);
    await chmod(file, mode);
    await expect(readMasterSecret(config, { COUNTERSIGN_SECRET_FILE: file })).rejects.toThrow(
      /chmod 600/,
    );
  },
);

test("the data folder's secret is refused if other users can read it", async () => {
  const config = await development();
  await readMasterSecret(config, {});
  await chmod(join(config.data, 'secret'), 0o640);
  await expect(readMasterSecret(config, {})).rejects.toThrow(/chmod 600/);
});

test('a secret never appears in an error', async () => {
  const refused = readMasterSecret(await development(), { COUNTERSIGN_SECRET: 'hunter2' });
  await expect(refused).rejects.not.toThrow(/hunter2/);
});

test('development: ten readers at once agree on one secret, which is permanent and private', async () => {
  const config = await development();
  const secrets = await Promise.all(Array.from({ length: 10 }, () => readMasterSecret(config, {})));
  expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(1);
  expect(await readMasterSecret(config, {})).toEqual(secrets[0]);
  expect((await stat(join(config.data, 'secret'))).mode & 0o777).toBe(0o600);
  expect((await stat(config.data)).mode & 0o777).toBe(0o700);
  expect(await readdir(config.data)).toEqual(['secret']);
});

test('development: an emptied or readable secret file is refused, never replaced', async () => {
  const config = await development();
  await readMasterSecret(config, {});
  const file = join(config.data, 'secret');
  await chmod(file, 0o644);
  await expect(readMasterSecret(config, {})).rejects.toThrow(/chmod 600/);
  await chmod(file, 0o600);
  await writeFile(file, '');
  await expect(readMasterSecret(config, {})).rejects.toThrow(/shorter/);
  expect(await readFile(file, 'utf8')).toBe('');
});

test('production generates no secret', async () => {
  const config = { ...(await development()), issuer: 'https://auth.example' };
  await expect(readMasterSecret(config, {})).rejects.toThrow(/COUNTERSIGN_SECRET/);
  await expect(stat(config.data)).rejects.toThrow(/ENOENT/);
});
