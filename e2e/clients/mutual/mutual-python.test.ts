/** @needs openssl */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import type { TemporaryFolder } from '../../parts/temporary-folder.ts';
import { mutualClient, python, startMutualServer } from './mutual-python.ts';
import type { Happened } from './mutual-python.ts';

/**
 * HTTP Mutual authentication (RFC 8120, RFC 8121) in Python, written only from the RFCs: its vectors, and its
 * client with its own server. client.py lists the exit codes.
 */
const ALGORITHMS = [
  'iso-kam3-dl-2048-sha256',
  'iso-kam3-dl-4096-sha512',
  'iso-kam3-ec-p256-sha256',
  'iso-kam3-ec-p521-sha512',
] as const;
const P256 = 'iso-kam3-ec-p256-sha256';
const VECTORS = new URL('mutual-vectors.json', import.meta.url).pathname;

/** The changed members of the file. */
interface Vectors {
  algorithms: {
    algorithm: string;
    exchanges: { 'key exchange': Record<string, string>; requests: Record<string, string>[] }[];
  }[];
}

const run = promisify(execFile);

let folder: TemporaryFolder;
const file = (name: string) => join(folder.path, name);
let jörg: readonly string[];
let tls: readonly string[];

beforeAll(async () => {
  folder = await temporaryFolder();
  await writeFile(file('password'), 'pässwörd €\n');
  await writeFile(file('other'), 'password\n');
  jörg = ['--user', 'Jörg', '--password-file', file('password')];
  tls = ['--tls-certificate', file('certificate.pem'), '--tls-key', file('key.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const about = ['-sha384', '-subj', '/CN=tests', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', file('key.pem'), '-out', file('certificate.pem')];
  await run('openssl', ['req', '-x509', ...kind, ...about, ...files]);
});
afterAll(async () => folder[Symbol.asyncDispose]());

/** The messages in order, and the result of each request. */
const story = (happened: readonly Happened[]) =>
  happened.map(({ at, message, nc, verdict, reason }) =>
    [at, message, nc, verdict, reason].filter((member) => member !== undefined).join(' '),
  );

const EXCHANGED = (at: string) => [
  `${at} 401-INIT initial`,
  `${at} req-KEX-C1`,
  `${at} 401-KEX-S1`,
  `${at} req-VFY-C 0`,
  `${at} 200-VFY-S`,
];
const SUCCEEDED = 'AUTH-SUCCEED';

describe('vectors', () => {
  test('every value of the vectors file can be derived from its inputs', async () => {
    const { exitCode, output } = await python('verify.py', VECTORS);
    expect(output.split('\n').filter((line) => !line.startsWith('agrees: '))).toEqual([
      '0 differ',
      '',
    ]);
    expect(exitCode).toBe(0);
  });

  test('a changed value is reported', async () => {
    const vectors = JSON.parse(await readFile(VECTORS, 'utf8')) as Vectors;
    const algorithms = vectors.algorithms.filter(({ algorithm }) => algorithm === P256);
    const exchange = algorithms[0]?.exchanges[0];
    Object.assign(exchange?.['key exchange'] ?? {}, { J: '00' });
    Object.assign(exchange?.requests[0] ?? {}, { VK_s: '00' });
    await writeFile(file('vectors'), JSON.stringify({ ...vectors, algorithms }));
    const { exitCode, output } = await python('verify.py', file('vectors'));
    expect(output.split('\n').filter((line) => !line.startsWith('agrees: '))).toEqual([
      'DIFFERS: the algorithms',
      `DIFFERS: ${P256}, plain, J`,
      `DIFFERS: ${P256}, plain, nc 0, VK_s`,
      '3 differ',
      '',
    ]);
    expect(exitCode).toBe(1);
  });

  test('primes, curves, the examples of VI and VS, the grammar, and messages that a client refuses', async () => {
    const { exitCode, errors } = await python('-m', 'unittest', 'discover');
    expect(errors).toMatch(/^Ran \d{2} tests/m);
    expect({ exitCode, errors }).toMatchObject({ exitCode: 0 });
  });
});

describe('client and server', () => {
  test.each(ALGORITHMS)('%s: three requests use two sessions', async (algorithm) => {
    await using server = await startMutualServer(
      ...jörg,
      '--algorithm',
      algorithm,
      '--realm',
      'Räume',
      '--forget-before',
      '4',
    );
    const url = `http://127.0.0.1:${server.port}/`;
    const { exitCode, happened } = await mutualClient('--url', url, '--requests', '3', ...jörg);
    expect(story(happened)).toEqual([
      ...EXCHANGED('origin'),
      SUCCEEDED,
      'origin req-VFY-C 1',
      'origin 401-STALE stale-session',
      ...EXCHANGED('origin').slice(1),
      SUCCEEDED,
      'origin req-VFY-C 1',
      'origin 200-VFY-S',
      SUCCEEDED,
    ]);
    expect(happened.at(-1)).toMatchObject({ body: 'Jörg' });
    expect(exitCode).toBe(0);
  });

  test('section 10.1: an anonymous request, a wrong password and an unknown user end with AUTH-REQUIRED', async () => {
    await using server = await startMutualServer(...jörg, '--algorithm', P256);
    const url = ['--url', `http://127.0.0.1:${server.port}/`];
    const nobody = await mutualClient(...url);
    const refused = await Promise.all([
      mutualClient(...url, '--user', 'Jörg', '--password-file', file('other')),
      mutualClient(...url, '--user', 'Jorg', '--password-file', file('password')),
    ]);
    expect(story(nobody.happened)).toEqual(['origin 401-INIT initial', 'AUTH-REQUIRED']);
    expect(refused.map(({ happened }) => story(happened).slice(-2))).toEqual([
      ['origin 401-INIT auth-failed', 'AUTH-REQUIRED'],
      ['origin 401-INIT auth-failed', 'AUTH-REQUIRED'],
    ]);
    expect([nobody, ...refused].map(({ exitCode }) => exitCode)).toEqual([4, 4, 4]);
  });

  test('section 10.2 step 14: a wrong VK_s ends the exchange, and its response is not used', async () => {
    await using server = await startMutualServer(...jörg, '--algorithm', P256, '--forged-proof');
    const url = `http://127.0.0.1:${server.port}/`;
    const { exitCode, happened } = await mutualClient('--url', url, '--requests', '2', ...jörg);
    expect(story(happened)).toEqual([...EXCHANGED('origin'), "the server's proof is wrong"]);
    expect(exitCode).toBe(5);
  });

  test('section 14: a proxy admits a request, and a tunnel to an origin with tls-server-end-point', async () => {
    await using plain = await startMutualServer(...jörg, '--algorithm', P256);
    await using secure = await startMutualServer(...jörg, ...tls, '--algorithm', P256);
    await using proxy = await startMutualServer(...jörg, '--algorithm', P256, '--proxy');
    const by = ['--proxy', `http://127.0.0.1:${proxy.port}`, '--proxy-user', 'Jörg'];
    const through = [...jörg, ...by, '--proxy-password-file', file('password')];
    const forwarded = await mutualClient('--url', `http://127.0.0.1:${plain.port}/`, ...through);
    const tunnelled = await mutualClient(
      '--url',
      `https://127.0.0.1:${secure.port}/`,
      '--requests',
      '2',
      '--tls-ca',
      file('certificate.pem'),
      ...through,
    );
    expect(story(forwarded.happened)).toEqual([
      ...EXCHANGED('proxy'),
      'origin 401-INIT initial',
      'proxy req-VFY-C 1',
      'origin req-KEX-C1',
      'proxy 200-VFY-S',
      'origin 401-KEX-S1',
      'proxy req-VFY-C 2',
      'origin req-VFY-C 0',
      'proxy 200-VFY-S',
      'origin 200-VFY-S',
      SUCCEEDED,
    ]);
    expect(story(tunnelled.happened)).toEqual([
      ...EXCHANGED('proxy'),
      SUCCEEDED,
      ...EXCHANGED('origin'),
      SUCCEEDED,
      'origin req-VFY-C 1',
      'origin 200-VFY-S',
      SUCCEEDED,
    ]);
    expect([forwarded.exitCode, tunnelled.exitCode]).toEqual([0, 0]);
  });
});
