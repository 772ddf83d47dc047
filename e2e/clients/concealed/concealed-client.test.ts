import { createHash, createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { credentialsIn, get } from '../digest/answers.fixture.ts';
import { quoted, token, valueOf } from '../digest/challenges.ts';
import { valuesOf } from '../digest/exchange.ts';
import type { HttpRequest } from '../digest/exchange.ts';
import { covered, exportField, withProof } from './concealed-client.ts';
import type { ConcealedOptions } from './concealed-client.ts';
import { encodeContext } from './exporter-context.ts';
import { ALGORITHMS, newKey, publicOctets } from './keys.ts';

const key = newKey('ed25519', 'basement');
const CONTEXT = {
  algorithm: 2055,
  keyId: key.keyId,
  publicKey: publicOctets(key),
  scheme: 'https',
  host: 'origin.example',
  port: 443,
  realm: '',
};

/** In place of a connection: its output is different for each context. */
const exporter = (context: Buffer) => createHash('sha384').update(context).digest();

const options = (changes: Partial<ConcealedOptions> = {}): ConcealedOptions => ({
  key,
  exporter,
  origin: 'https://origin.example',
  ...changes,
});

const paramsOf = (request: HttpRequest, field?: string) => credentialsIn(request, field).params;
const v = (request: HttpRequest, field?: string) => valueOf(paramsOf(request, field), 'v');
/** The parameter `v` for a context with these changes. */
const vOf = (changes: Partial<typeof CONTEXT>) =>
  exporter(encodeContext({ ...CONTEXT, ...changes }))
    .subarray(32)
    .toString('base64url');

test('RFC 9729 sections 3.2, 4 and 5: the client sends the parameters unquoted and without padding', () => {
  const [sent] = valuesOf(withProof(get('/'), options()).fields, 'Authorization');
  const [, a = '', last = '', p = ''] =
    /^Concealed k=YmFzZW1lbnQ, a=([\w-]{43}), s=2055, v=([\w-]{22}), p=([\w-]{86})$/.exec(
      sent ?? '',
    ) ?? [];
  expect(a).toBe(CONTEXT.publicKey.toString('base64url'));
  expect(last).toBe(vOf({}));
  const content = covered(exporter(encodeContext(CONTEXT)).subarray(0, 32));
  const proof = Buffer.from(p, 'base64url');
  expect(verify(null, content, createPublicKey(key.privateKey), proof)).toBe(true);
});

/**
 * Section 3.3 says "HTTP Concealed Authentication". Figure 3 has another text, from an earlier draft: the
 * octets between its spaces and its zero spell "HTTP Signature Authentication".
 */
test('RFC 9729 section 3.3: the signature covers the octets of the text, not the octets of figure 3', () => {
  const figure = '48545450205369676E61747572652041757468656E7469636174696F6E';
  const text = '4854545020436F6E6365616C65642041757468656E7469636174696F6E';
  const around = (name: string) =>
    Buffer.from(`${'20'.repeat(64)}${name}00${'01'.repeat(32)}`, 'hex');
  expect(Buffer.from(figure, 'hex').toString()).toBe('HTTP Signature Authentication');
  expect(covered(Buffer.alloc(32, 1))).toEqual(around(text));
  expect(covered(Buffer.alloc(32, 1))).not.toEqual(around(figure));
});

describe("RFC 9729 section 3.1: scheme, host and port are the target URI's", () => {
  test.each([
    ['https://origin.example:8443', '/a', { port: 8443 }],
    ['https://[::1]:8443', '/a', { host: '[::1]', port: 8443 }],
    ['https://Origin.EXAMPLE', '/http://other.example', {}],
    [
      'https://origin.example',
      'http://Other.example',
      { scheme: 'http', host: 'other.example', port: 80 },
    ],
    ['https://origin.example', 'https://other.example:80/a?b', { host: 'other.example', port: 80 }],
  ])('for a request at %s: %s', (origin, target, changes) => {
    expect(v(withProof(get(target), options({ origin })))).toBe(vOf(changes));
  });

  test.each([
    ['other.example:443', { host: 'other.example' }],
    ['other.example:80', { host: 'other.example', port: 80 }],
    ['[::1]:8080', { host: '[::1]', port: 8080 }],
  ])('CONNECT %s has the scheme https (RFC 9112 section 3.3)', (target, changes) => {
    const request = { ...get(target), method: 'CONNECT' };
    const sent = withProof(request, options({ at: 'proxy' }));
    expect(v(sent, 'Proxy-Authorization')).toBe(vOf(changes));
  });
});

test('a realm is exported unquoted, and sent quoted (RFC 9110 section 11.2)', () => {
  const sent = withProof(get('/'), options({ realm: 'a "b"' }));
  expect(paramsOf(sent).at(-1)).toEqual(quoted('realm', 'a "b"'));
  expect(valuesOf(sent.fields, 'Authorization').join()).toContain(String.raw`realm="a \"b\""`);
  expect(v(sent)).toBe(vOf({ realm: 'a "b"' }));
});

test('a request can have a proof for the proxy and a proof for the origin', () => {
  const other = newKey('ed25519', 'attic');
  const inner = withProof(get('https://origin.example/'), options());
  const both = withProof(inner, options({ at: 'proxy', key: other }));
  const keyIds = ['Authorization', 'Proxy-Authorization'].map((field) =>
    valueOf(paramsOf(both, field), 'k'),
  );
  expect(keyIds).toEqual(['basement', 'attic'].map((id) => Buffer.from(id).toString('base64url')));
});

describe('the parts that a test can spoil', () => {
  test('prepare changes the context, which is exported and sent with the change', () => {
    const changes = { algorithm: 1, keyId: Buffer.from('x'), publicKey: Buffer.from('y'), port: 1 };
    const sent = withProof(
      get('/'),
      options({ prepare: (context) => ({ ...context, ...changes }) }),
    );
    expect(paramsOf(sent).slice(0, 4)).toEqual(
      [
        ['k', 'eA'],
        ['a', 'eQ'],
        ['s', '1'],
        ['v', vOf(changes)],
      ].map(([name = '', value = '']) => token(name, value)),
    );
  });

  test('cover and sign choose the signed octets and the algorithm', () => {
    const sent = withProof(
      get('/'),
      options({ cover: (exported) => exported, sign: (content) => content }),
    );
    const all = exporter(encodeContext(CONTEXT)).toString('base64url');
    expect(valueOf(paramsOf(sent), 'p')).toBe(all);
  });

  test('tamper changes the sent field', () => {
    const sent = withProof(get('/'), options({ tamper: () => [token('k', 'x')] }));
    expect(paramsOf(sent)).toEqual([token('k', 'x')]);
  });
});

test("RFC 9729 section 6.2: the frontend's field equals figure 6", () => {
  const figure = 'VGhpc+BleGFtcGxlIFRMU/BleHBvcnRlc+BvdXRwdXQ/aXMgNDggYnl0ZXMgI/+h';
  const octets = Buffer.from(figure, 'base64');
  expect(octets).toHaveLength(48);
  expect(exportField(octets)).toEqual(['Concealed-Auth-Export', `:${figure}:`]);
});

test('RFC 9729 section 3.1.1: the public keys of all algorithms are encoded correctly', () => {
  const key256 = publicOctets(newKey('ecdsa_secp256r1_sha256', ''));
  const key384 = publicOctets(newKey('ecdsa_secp384r1_sha384', ''));
  expect([key256.length, key256[0], key384.length, key384[0]]).toEqual([65, 4, 97, 4]);
  const rsa = publicOctets(newKey('rsa_pss_rsae_sha256', ''));
  // SEQUENCE, of a modulus of 2048 bits and 65537
  expect(rsa.toString('hex')).toMatch(/^3082010a0282010100[89a-f][0-9a-f]{511}0203010001$/);
  expect(Object.values(ALGORITHMS).map(({ code }) => code)).toEqual([
    2055, 1027, 1283, 2052, 2053, 2054,
  ]);
});
