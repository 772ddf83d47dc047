import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { developmentCertificate } from './certificate.ts';

let data = '';
let clock = new ManualClock();
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'countersign-certificate-'));
  clock = new ManualClock();
});
afterEach(() => rm(data, { recursive: true }));

function certificate(host = 'localhost') {
  const made = developmentCertificate({
    folder: join(data, 'tls'),
    hosts: [host],
    clock,
    random: systemRandom,
  });
  return { key: String(made.key), cert: String(made.cert) };
}
const at = (name: string) => join(data, 'tls', name);
const DAY = 86_400;

describe('the certificate of development', () => {
  test('the certificate is made once, and stored in files that only the owner can read', async () => {
    const made = certificate();
    expect(certificate()).toEqual(made);
    expect(await readFile(at('certificate.pem'), 'utf8')).toBe(made.cert);
    expect((await stat(at('key.pem'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(data, 'tls'))).mode & 0o777).toBe(0o700);
    expect((await readdir(join(data, 'tls'))).toSorted()).toEqual([
      '.lock',
      'certificate.pem',
      'key.pem',
    ]);
  });

  test('the certificate is replaced a month before it expires, not earlier', () => {
    const { cert } = certificate();
    clock.advance(366 * DAY);
    expect(certificate().cert).toBe(cert);
    clock.advance(2 * DAY);
    const next = certificate().cert;
    expect(next).not.toBe(cert);
    expect(new X509Certificate(next).validToDate.getTime()).toBe(clock.now() + 397 * DAY * 1000);
  });

  test('the certificate is replaced if it begins in the future, which means that the clock was wrong', () => {
    const { cert } = certificate();
    clock.advance(-DAY);
    expect(certificate().cert).not.toBe(cert);
  });

  test.each(['127.0.0.9', 'other.localhost', '[::1]'])(
    'the certificate names the host %s, too',
    (host) => {
      const before = certificate().cert;
      const { cert } = certificate(host);
      const made = new X509Certificate(cert);
      const bare = host.replaceAll(/[[\]]/g, '');
      expect(made.checkHost(bare) ?? made.checkIP(bare)).toBe(bare);
      expect(cert === before).toBe(host === '[::1]');
      expect(made.checkHost('localhost')).toBe('localhost');
    },
  );

  test.each(['key.pem', 'certificate.pem'])(
    'the certificate is replaced if %s is truncated or missing',
    async (name) => {
      const { cert } = certificate();
      await truncate(at(name), 100);
      const second = certificate().cert;
      expect(second).not.toBe(cert);
      await rm(at(name));
      expect(certificate().cert).not.toBe(second);
    },
  );

  test('the certificate is replaced if the key does not match, for example after a crash between the two files', async () => {
    const { key, cert } = certificate();
    await rm(join(data, 'tls'), { recursive: true });
    const other = certificate();
    await writeFile(at('key.pem'), key);
    expect([cert, other.cert]).not.toContain(certificate().cert);
  });

  test('processes that start at the same time get the same certificate', async () => {
    const program = `
      import { developmentCertificate } from '${fileURLToPath(new URL('certificate.ts', import.meta.url))}';
      import { randomBytes } from 'node:crypto';
      const made = developmentCertificate({
        folder: process.argv[1], hosts: ['localhost'], clock: { now: () => ${clock.now()}, monotonic: () => 0 }, random: randomBytes,
      });
      process.stdout.write(String(made.cert));`;
    const run = () =>
      promisify(execFile)(process.execPath, [
        '--input-type=module',
        '--eval',
        program,
        join(data, 'tls'),
      ]);
    const printed = await Promise.all(Array.from({ length: 5 }, run));
    expect(new Set(printed.map(({ stdout }) => stdout))).toEqual(new Set([certificate().cert]));
  });
});
