/** @needs openssl */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ManualClock, systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from './self-signed.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-self-signed-'));
afterAll(() => rmSync(folder, { recursive: true }));

const NAMES = ['localhost', '127.0.0.1', '::1', 'rs.example'];
const { key, cert } = selfSigned(NAMES, systemClock, systemRandom);
const file = join(folder, 'certificate.pem');
writeFileSync(file, cert);

describe('RFC 5280 section 4: a self-signed certificate', () => {
  test('OpenSSL finds no fault in the certificate in strict mode', () => {
    const strictly = ['verify', '-x509_strict', '-check_ss_sig', '-purpose', 'sslserver'];
    for (const name of [
      ['-verify_hostname', 'localhost'],
      ['-verify_ip', '127.0.0.1'],
      ['-verify_ip', '::1'],
    ]) {
      const out = execFileSync('openssl', [...strictly, ...name, '-CAfile', file, file]);
      expect(out.toString()).toMatch(/: OK\n$/);
    }
  });

  test('section 4.2.1: the certificate is for this server only, and is no certificate authority', () => {
    const certificate = new X509Certificate(cert);
    expect(certificate.ca).toBe(false);
    expect(certificate.subjectAltName).toBe(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:rs.example',
    );
    expect(certificate.checkHost('elsewhere.example')).toBeUndefined();
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    const text = execFileSync('openssl', ['x509', '-noout', '-text', '-in', file]).toString();
    expect(text).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/ASN1 OID: prime256v1/);
  });

  test('the certificate has the public key of its private key', () => {
    const other = selfSigned(NAMES, systemClock, systemRandom);
    expect(new X509Certificate(cert).verify(new X509Certificate(cert).publicKey)).toBe(true);
    expect(other.key).not.toBe(key);
    expect(new X509Certificate(other.cert).serialNumber).not.toBe(
      new X509Certificate(cert).serialNumber,
    );
  });

  test('a client that trusts two such certificates reaches both servers', async () => {
    const both = [0, 1].map(() => selfSigned(NAMES, systemClock, systemRandom));
    const ca = both.map((one) => one.cert);
    for (const one of both) {
      const server = createServer(one, (socket) => socket.end());
      await once(server.listen(0, 'localhost'), 'listening');
      const { port } = server.address() as AddressInfo;
      const socket = connect({ host: 'localhost', port, ca });
      await once(socket, 'secureConnect');
      expect(socket.authorized).toBe(true);
      socket.destroy();
      await new Promise((closed) => server.close(closed));
    }
  });

  test.each([
    ['2026-11-20T13:00:00Z', '2027-12-22T13:00:00.000Z'],
    ['2049-06-01T00:00:00Z', '2050-07-03T00:00:00.000Z'],
    ['2051-01-01T00:00:00Z', '2052-02-02T00:00:00.000Z'],
  ])('section 4.1.2.5: a certificate made at %s expires at %s', (from, to) => {
    const made = selfSigned(NAMES, new ManualClock(Date.parse(from)), systemRandom);
    const certificate = new X509Certificate(made.cert);
    expect(certificate.validFromDate.getTime()).toBe(Date.parse(from));
    expect(certificate.validToDate.toISOString()).toBe(to);
  });

  test('section 4.1.2.2: the serial number is positive for any random bytes', () => {
    for (const byte of [0, 0x7f, 0x80, 0xff]) {
      const made = selfSigned(NAMES, systemClock, (length) => Buffer.alloc(length, byte));
      expect(new X509Certificate(made.cert).serialNumber).toMatch(/^40/);
    }
  });
});
