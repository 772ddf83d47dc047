import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ConfigError } from '#shared/base/mistake.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import type { KerberosModule } from './native-gss.ts';
import { openGss } from './open.ts';

let folder: string;
let keytab: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-keytab-'));
  keytab = join(folder, 'keytab');
  await writeFile(keytab, 'keys', { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true }));

const kerberos: KerberosModule = { initializeServer: () => Promise.reject(new Error('unused')) };

function recordingLog() {
  const said: [string, LogFields | undefined][] = [];
  const log: Log = { ...silentLog, warn: (event, fields) => void said.push([event, fields]) };
  return { log, said };
}

test('without the member negotiate in the configuration, no module is loaded and nothing is logged', async () => {
  const { log, said } = recordingLog();
  const load = () => {
    throw new Error('loaded');
  };
  await expect(openGss(undefined, {}, log, load)).resolves.toBeUndefined();
  expect(said).toEqual([]);
});

test('the environment names the keytab for the library', async () => {
  const env: NodeJS.ProcessEnv = {};
  const { log, said } = recordingLog();
  await expect(openGss({ keytab }, env, log, () => kerberos)).resolves.toBeDefined();
  expect(env).toEqual({ KRB5_KTNAME: `FILE:${keytab}` });
  expect(said).toEqual([]);
});

test('without the native module Negotiate is off, and the log says once how to turn it on', async () => {
  const { log, said } = recordingLog();
  const load = () => {
    throw new Error("Cannot find module 'kerberos'\nRequire stack: ...");
  };
  await expect(openGss({ keytab }, {}, log, load)).resolves.toBeUndefined();
  const reason = "Error: Cannot find module 'kerberos'";
  const remedy = expect.stringContaining('npm run kerberos');
  expect(said).toEqual([['negotiate.off', { reason, remedy }]]);
});

test('a missing keytab keeps the server from starting', async () => {
  const opening = openGss({ keytab: join(folder, 'none') }, {}, silentLog, () => kerberos);
  await expect(opening).rejects.toThrow(ConfigError);
  await expect(opening).rejects.toThrow('ENOENT');
});

test('a keytab that other users may write keeps the server from starting', async () => {
  const open = join(folder, 'open');
  await writeFile(open, 'keys');
  await chmod(open, 0o620);
  await expect(openGss({ keytab: open }, {}, silentLog, () => kerberos)).rejects.toThrow(
    'may be written by others',
  );
});

test('the log warns about a keytab that every user may read', async () => {
  const read = join(folder, 'read');
  await writeFile(read, 'keys');
  await chmod(read, 0o644);
  const { log, said } = recordingLog();
  await openGss({ keytab: read }, {}, log, () => kerberos);
  expect(said).toEqual([['negotiate.keytab', { reason: 'everybody may read it' }]]);
});
