import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { MUTUAL_ALGORITHM_NAMES, MUTUAL_ALGORITHMS } from './algorithms.ts';
import { type MutualTerms, readMessage } from './message.ts';

const TERMS: MutualTerms = {
  algorithm: 'iso-kam3-ec-p256-sha256',
  validation: 'host',
  scope: 'rs.example',
  realm: 'a realm',
};
const COMMON = {
  version: '1',
  algorithm: TERMS.algorithm,
  validation: TERMS.validation,
  'auth-scope': TERMS.scope,
  realm: TERMS.realm,
};
const NUMBER = 'a1'.repeat(33);
const PROOF = 'b2'.repeat(32);
const SID = 'c3'.repeat(16);
const KEX = { ...COMMON, user: 'alice', kc1: NUMBER };
const VFY = { ...COMMON, sid: SID, nc: '0', vkc: PROOF };

const read = (params: Record<string, string | undefined>, terms = TERMS) =>
  readMessage(
    Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
    terms,
  );

test('RFC 8120 section 4.2: the message req-KEX-C1 is read', () => {
  expect(read(KEX)).toEqual({ user: 'alice', clientValue: Buffer.from(NUMBER, 'hex') });
});

test('RFC 8120 section 4.4: the message req-VFY-C is read', () => {
  expect(read(VFY)).toEqual({ sid: SID, nc: 0n, proof: Buffer.from(PROOF, 'hex') });
});

test.each([KEX, VFY])('every parameter is required exactly once (%#)', (message) => {
  for (const name of Object.keys(message)) {
    expect(typeof read({ ...message, [name]: undefined })).toBe('string');
    expect(typeof read({ ...message, [name]: '' })).toBe('string');
    expect(typeof read({ ...message, [name]: 'x' })).toBe(name === 'user' ? 'object' : 'string');
  }
});

test('RFC 8120 section 4: unknown parameters are ignored', () => {
  const more = { x: 'y', '-ext.example.com': '1', keychain: 'k', ks: '1', vk: '2', reason: 'r' };
  expect(read({ ...KEX, ...more })).toEqual(read(KEX));
});

test.each(['kc2', 'kc0', 'vkc', 'vkc1', 'ks1', 'ks0', 'vks', 'vks2'])(
  'RFC 8120 section 4: %s beside kc1 is refused',
  (name) => expect(read({ ...KEX, [name]: NUMBER })).toBe(name),
);

test.each(['kc1', 'ks1', 'vks'])('RFC 8120 section 4: %s beside vkc is refused', (name) => {
  expect(typeof read({ ...VFY, [name]: PROOF })).toBe('string');
});

test('RFC 8120 section 3.2.1: tokens and hexadecimal digits may be in either case', () => {
  const upper = (text: string) => text.toUpperCase();
  const algorithm = upper(KEX.algorithm);
  expect(read({ ...KEX, algorithm, validation: 'HOST', kc1: upper(NUMBER) })).toEqual(read(KEX));
  expect(read({ ...VFY, sid: upper(SID), vkc: upper(PROOF) })).toEqual(read(VFY));
  for (const name of ['auth-scope', 'realm'] as const) {
    expect(read({ ...KEX, [name]: upper(KEX[name]) })).toBe(name);
  }
});

test.each(['0', '1', '999', '1000000', '340282366920938463463374607431768211456'.slice(0, 39)])(
  'RFC 8120 section 3.2.3: the nc %s is accepted',
  (nc) => expect(read({ ...VFY, nc })).toMatchObject({ nc: BigInt(nc) }),
);

test.each(['00', '01', '-1', '+1', '1.0', '1e3', ' 1', '0x1', '', '١', '1'.repeat(40)])(
  'RFC 8120 section 3.2.3: the nc %j is refused',
  (nc) => expect(read({ ...VFY, nc })).toBe('nc'),
);

describe('RFC 8120 section 3.1: names', () => {
  const named = (params: Record<string, string>) => {
    const message = read({ ...KEX, user: undefined, ...params });
    return typeof message === 'string' ? message : 'user' in message && message.user;
  };

  test.each([
    ['Renee of France', 'Renee of France'],
    [Buffer.from('Renée').toString('latin1'), 'Renée'],
    ['u'.repeat(128), 'u'.repeat(128)],
  ])('the name is read from user=%j', (user, name) => expect(named({ user })).toBe(name));

  test('the name is read from user* in UTF-8', () => {
    expect(named({ 'user*': "UTF-8''Ren%C3%A9e%20of%20France" })).toBe('Renée of France');
    expect(named({ 'user*': "utf-8''%c3%a9" })).toBe('é');
  });

  test.each([
    ['Latin-1', { user: 'Ren\xe9e' }],
    ['a byte order mark', { user: Buffer.from('\ufeffx').toString('latin1') }],
    ['both', { user: 'a', 'user*': "UTF-8''%C3%A9" }],
    ['a language', { 'user*': "UTF-8'en'%C3%A9" }],
    ['another charset', { 'user*': "ISO-8859-1''%E9" }],
    ['broken UTF-8', { 'user*': "UTF-8''%C3" }],
    ['ASCII alone', { 'user*': "UTF-8''alice" }],
    ['a name that is too long', { user: 'u'.repeat(129) }],
    ['nothing', {}],
  ])('a name is refused: %s', (_, params) => expect(named(params)).toBe('user'));

  test('RFC 8120 section 3.1: realm* is refused', () => {
    expect(read({ ...KEX, realm: undefined, 'realm*': "UTF-8''a%20realm" })).toBe('realm');
  });
});

describe.each(MUTUAL_ALGORITHM_NAMES)('numbers of %s (RFC 8121 appendix B)', (algorithm) => {
  const { octets, hashOctets, format } = MUTUAL_ALGORITHMS[algorithm];
  const terms = { ...TERMS, algorithm };
  const of = (bytes: number, fill = 7) => Buffer.alloc(bytes, fill).toString(format);
  const kex = (kc1: string) => read({ ...KEX, algorithm, kc1 }, terms);
  const vfy = (vkc: string) => read({ ...VFY, algorithm, vkc }, terms);

  test('numbers have the right length in characters', () => {
    const lengths: Record<string, readonly number[]> = {
      'iso-kam3-dl-2048-sha256': [344, 44],
      'iso-kam3-dl-4096-sha512': [684, 88],
      'iso-kam3-ec-p256-sha256': [66, 64],
      'iso-kam3-ec-p521-sha512': [132, 128],
    };
    expect([of(octets).length, of(hashOctets).length]).toEqual(lengths[algorithm]);
    expect(kex(of(octets))).toMatchObject({ clientValue: Buffer.alloc(octets, 7) });
    expect(vfy(of(hashOctets))).toMatchObject({ proof: Buffer.alloc(hashOctets, 7) });
  });

  test.each([
    ['shorter by an octet', (bytes: number) => of(bytes - 1)],
    ['longer by an octet', (bytes: number) => of(bytes + 1)],
    ['shorter by a character', (bytes: number) => of(bytes).slice(0, -1)],
    ['with a character behind it', (bytes: number) => `${of(bytes)}0`],
    ['with padding behind it', (bytes: number) => `${of(bytes)}=`],
    ['without its padding', (bytes: number) => of(bytes).replace(/=+$|..$/, '')],
    ['with white space', (bytes: number) => ` ${of(bytes).slice(1)}`],
    ['of another alphabet', (bytes: number) => `-${of(bytes).slice(1)}`],
    [
      'in the other format',
      (bytes: number) => Buffer.alloc(bytes, 7).toString(format === 'hex' ? 'base64' : 'hex'),
    ],
    ['with a zero in front', (bytes: number) => `00${of(bytes)}`],
  ])('a number is refused if it is %s', (_, spoil) => {
    expect(kex(spoil(octets))).toBe('kc1');
    expect(vfy(spoil(hashOctets))).toBe('vkc');
  });

  test('numbers are refused with spare bits (RFC 4648 section 3.5)', () => {
    const spoilt = of(octets).replace(/.(?==*$)/, (last) =>
      String.fromCharCode(last.charCodeAt(0) + 1),
    );
    expect(kex(spoilt) === 'kc1').toBe(format === 'base64');
  });

  test('numbers are read unchanged or refused, for any octets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        const message = kex(Buffer.from(bytes).toString(format));
        const right = bytes.length === octets;
        expect(typeof message === 'object').toBe(right);
      }),
    );
  });
});

test('any parameters give a message or the name of the wrong parameter, never an exception', () => {
  const names = fc.constantFrom(...Object.keys({ ...KEX, ...VFY }), 'user*', 'ks1', 'vks', 'x');
  const values = fc.oneof(
    fc.constantFrom(...Object.values({ ...KEX, ...VFY })),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(fc.dictionary(names, values, { noNullPrototype: false }), (params) => {
      expect(['string', 'object']).toContain(typeof readMessage(params, TERMS));
    }),
    { numRuns: 1000 },
  );
});

test('any field value after the scheme is read without an exception', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii', maxLength: 200 }), (rest) => {
      const params = parseCredentials(`Mutual ${rest}`)?.params;
      if (params !== undefined) expect(typeof readMessage(params, TERMS)).toBe('string');
    }),
    { numRuns: 1000 },
  );
});
