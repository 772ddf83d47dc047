/** @needs openssl */
import { createHash, X509Certificate } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { requestOf } from '../../judge/auth.fixture.ts';
import { endPoint, validationOf } from './validation.ts';

const OWN = Buffer.from('own');
const CONFIGURED = Buffer.from('configured');
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

const trusted = { address: '192.0.2.1', connection: {}, http2: false, trusted: true };
const proto = [['X-Forwarded-Proto', 'https']] as const;

describe('RFC 8120 section 7: the supported validation methods', () => {
  test.each([
    ['http://rs.example', 'http://rs.example:80'],
    ['http://rs.example:8080', 'http://rs.example:8080'],
    ['http://[::1]:3001', 'http://[::1]:3001'],
  ])('the origin %s gives host validation, with the port', (origin, vh) => {
    const validation = validationOf(requestOf([], { origin, certificate: () => OWN }), CONFIGURED);
    expect(validation?.method).toBe('host');
    expect(validation?.vh().toString()).toBe(vh);
  });

  test.each([
    ['TLS ends here', requestOf([], { certificate: () => OWN }), OWN],
    [
      'what somebody says of a proxy counts for nothing',
      requestOf(proto, { certificate: () => OWN }),
      OWN,
    ],
    ['in clear text from anybody', requestOf(), undefined],
    ['a trusted proxy in clear text', requestOf(proto, { peer: trusted }), CONFIGURED],
    [
      'a trusted proxy over TLS of its own',
      requestOf(proto, { peer: trusted, certificate: () => OWN }),
      CONFIGURED,
    ],
    [
      'a trusted peer that is the client',
      requestOf([], { peer: trusted, certificate: () => OWN }),
      OWN,
    ],
  ])(
    'the certificate of the validation is chosen by the connection: %s',
    (_, request, certificate) => {
      const validation = validationOf(request, CONFIGURED);
      expect(validation?.method).toBe(certificate && 'tls-server-end-point');
      expect(validation?.vh()).toEqual(certificate && sha256(certificate));
    },
  );

  test('behind a trusted proxy without a configured certificate there is no validation', () => {
    const request = requestOf(proto, { peer: trusted, certificate: () => OWN });
    expect(validationOf(request, undefined)).toBeUndefined();
  });
});

describe('RFC 5929 section 4.1: the hash of the certificate', () => {
  const made = (...options: readonly string[]) => {
    const pem = execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-nodes',
        '-keyout',
        '/dev/null',
        '-subj',
        '/CN=x',
        '-days',
        '2',
        ...options,
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    return new X509Certificate(pem).raw;
  };
  const RSA = ['-newkey', 'rsa:2048'];
  const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const PSS = [...RSA, '-sigopt', 'rsa_padding_mode:pss'];

  test.each([
    ['RSA with SHA-256', [...RSA, '-sha256'], 'sha256'],
    ['RSA with SHA-384', [...RSA, '-sha384'], 'sha384'],
    ['RSA with SHA-512', [...RSA, '-sha512'], 'sha512'],
    ['RSA with SHA-1', [...RSA, '-sha1'], 'sha256'],
    ['RSASSA-PSS with SHA-256', [...PSS, '-sha256'], 'sha256'],
    ['RSASSA-PSS with SHA-512', [...PSS, '-sha512'], 'sha512'],
    ['ECDSA with SHA-256', [...EC, '-sha256'], 'sha256'],
    ['ECDSA with SHA-384', [...EC, '-sha384'], 'sha384'],
    ['ECDSA with SHA-512', [...EC, '-sha512'], 'sha512'],
    ['Ed25519, which has none', ['-newkey', 'ed25519'], 'sha256'],
  ])('a certificate signed with %s gets the hash of RFC 5929', (_, options, hash) => {
    const certificate = made(...options);
    expect(endPoint(certificate)).toEqual(createHash(hash).update(certificate).digest());
  });

  test('input that is no certificate is refused', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const certificate = Buffer.from(bytes);
        expect(endPoint(certificate)).toEqual(sha256(certificate));
      }),
    );
  });
});
