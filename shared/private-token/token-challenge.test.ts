import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { decodeBase64url, encodePadded } from './base64url.ts';
import {
  challengeDigest,
  encodeChallenge,
  parseChallenge,
  type TokenChallenge,
} from './token-challenge.ts';
import headers from './vectors/rfc9577-challenge.json' with { type: 'json' };
import unquoted from './vectors/rfc9577-challenge-mixed-headers.json' with { type: 'json' };
import structures from './vectors/rfc9577-token.json' with { type: 'json' };

const hex = (text = '') => Buffer.from(text, 'hex');
const CHALLENGE: TokenChallenge = {
  type: 2,
  issuer: 'issuer.example',
  context: Buffer.alloc(32, 7),
  origins: ['a.example', 'b.example:8443'],
};
const BYTES = encodeChallenge(CHALLENGE);
/** The positions of the three vectors' lengths. */
const ISSUER_LENGTH = 3;
const CONTEXT_LENGTH = 4 + CHALLENGE.issuer.length;
const ORIGINS_LENGTH = CONTEXT_LENGTH + 32 + 2;

function changed(at: number, by: number): Buffer {
  const bytes = Buffer.from(BYTES);
  bytes[at] = (bytes[at] ?? 0) + by;
  return bytes;
}

describe('RFC 9577 appendix A.1: structures', () => {
  const written = structures.filter(({ issuer_name }) => issuer_name !== undefined);

  test('appendix A.1 has five structures with the default structure', () =>
    expect(written).toHaveLength(5));

  test.each(written)('$comment', (vector) => {
    const names = hex(vector.origin_info).toString();
    const challenge = {
      type: hex(vector.token_type).readUInt16BE(),
      issuer: hex(vector.issuer_name).toString(),
      context: hex(vector.redemption_context),
      origins: names === '' ? [] : names.split(','),
    };
    const bytes = encodeChallenge(challenge);
    expect(parseChallenge(bytes)).toEqual(challenge);
    // token_type, nonce, then the digest
    const digest = hex(vector.token_authenticator_input).subarray(34, 66);
    expect(challengeDigest(bytes)).toEqual(digest);
  });
});

describe('RFC 9577 appendix A.2: WWW-Authenticate', () => {
  const read = (value: string) =>
    parseChallenges(value)?.map(({ scheme, params = {} }) => ({ scheme, params }));

  test.each(headers)('$WWW-Authenticate', (vector) => {
    const given = (read(vector['WWW-Authenticate']) ?? []).filter(
      ({ scheme }) => scheme === 'PrivateToken',
    );
    const expected = [
      [vector['token-challenge-0'], vector['token-key-0'], vector['max-age-0']],
      [vector['token-challenge-1'], vector['token-key-1'], vector['max-age-1']],
    ].filter(([challenge]) => challenge !== undefined);
    expect(
      given.map(({ params: { challenge = '', 'token-key': key = '', 'max-age': age } }) => [
        decodeBase64url(challenge)?.toString('hex'),
        decodeBase64url(key)?.toString('hex'),
        age === undefined ? undefined : Number(age),
      ]),
    ).toEqual(expected);
    for (const { params } of given) {
      const bytes = decodeBase64url(params['challenge'] ?? '') ?? Buffer.alloc(0);
      expect(encodePadded(bytes)).toBe(params['challenge']);
      const challenge = parseChallenge(bytes);
      if (bytes.readUInt16BE() === 0) expect(challenge).toBeUndefined();
      else expect(challenge && encodeChallenge(challenge)).toEqual(bytes);
    }
  });

  test('the third header has Basic and greasing, which a client ignores (section 2.1.3)', () => {
    const challenges = read(headers[2]?.['WWW-Authenticate'] ?? '') ?? [];
    expect(challenges.map(({ scheme }) => scheme)).toEqual([
      'Basic',
      'PrivateToken',
      'PrivateToken',
    ]);
    const types = challenges
      .map(({ params }) => decodeBase64url(params['challenge'] ?? ''))
      .map((bytes) => bytes && parseChallenge(bytes)?.type);
    expect(types).toEqual([undefined, undefined, 1]);
  });

  test('RFC 9110 section 11.2: a value with = that is not quoted is malformed', () => {
    expect(unquoted).toHaveLength(1);
    for (const vector of unquoted) expect(read(vector['WWW-Authenticate'])).toBeUndefined();
  });
});

describe('RFC 9577 section 2.1.1: TokenChallenge', () => {
  test('a TokenChallenge that is truncated anywhere is refused', () => {
    for (let length = 0; length < BYTES.length; length += 1) {
      expect(parseChallenge(BYTES.subarray(0, length))).toBeUndefined();
    }
  });

  test('a TokenChallenge with an octet behind it is refused', () => {
    expect(parseChallenge(Buffer.concat([BYTES, Buffer.alloc(1)]))).toBeUndefined();
  });

  test.each([
    ['issuer_name', ISSUER_LENGTH],
    ['redemption_context', CONTEXT_LENGTH],
    ['origin_info', ORIGINS_LENGTH],
  ])('a TokenChallenge is refused if the length of %s is off by one', (_, at) => {
    expect(parseChallenge(changed(at, 1))).toBeUndefined();
    expect(parseChallenge(changed(at, -1))).toBeUndefined();
  });

  test.each([1, 16, 31, 33, 64, 255])('a context of %d octets is refused', (length) => {
    const bytes = Buffer.concat([
      BYTES.subarray(0, CONTEXT_LENGTH),
      Buffer.of(length),
      Buffer.alloc(length),
      BYTES.subarray(CONTEXT_LENGTH + 33),
    ]);
    expect(parseChallenge(bytes)).toBeUndefined();
  });

  const withNames = (issuer: string, names: string) =>
    Buffer.concat([
      Buffer.of(0, 2, 0, issuer.length),
      Buffer.from(issuer, 'latin1'),
      Buffer.of(0, 0, names.length),
      Buffer.from(names, 'latin1'),
    ]);

  test.each([
    ['an empty issuer', '', ''],
    ['an issuer with userinfo', 'u@issuer.example', ''],
    ['two issuers', 'a.example,b.example', ''],
    ['an issuer beyond US-ASCII', 'b\xfccher.example', ''],
    ['an octet with the top bit set in an origin', 'issuer.example', 'origin.example\xff'],
    ['an empty name among the origins', 'issuer.example', 'a.example,,b.example'],
    ['a comma in front', 'issuer.example', ',a.example'],
    ['a comma at the end', 'issuer.example', 'a.example,'],
    ['only a comma', 'issuer.example', ','],
    ['a space between origins', 'issuer.example', 'a.example, b.example'],
    ['NUL', 'issuer.example', 'a.example\0'],
    ['a path', 'issuer.example', 'a.example/b'],
    ['CR LF', 'issuer.example\r\n', 'a.example'],
  ])('refuses %s', (_, issuer, names) => {
    expect(parseChallenge(withNames(issuer, names))).toBeUndefined();
  });

  test('section 2.1.3: names in any letter case keep their spelling', () => {
    const bytes = withNames('Issuer.Example', 'A.Example:443');
    expect(parseChallenge(bytes)).toMatchObject({
      issuer: 'Issuer.Example',
      origins: ['A.Example:443'],
    });
  });

  test.each([
    ['a context of 31 octets', { context: Buffer.alloc(31) }],
    ['a context whose length has no octet', { context: Buffer.alloc(256 + 32) }],
    ['no issuer', { issuer: '' }],
    ['two issuers', { issuer: 'a.example,b.example' }],
    ['two origins in one', { origins: ['a.example,b.example'] }],
    ['an empty origin', { origins: [''] }],
    ['a letter whose low octet is another', { issuer: '\u0161.example' }],
  ])('no TokenChallenge is written with %s', (_, part) => {
    expect(() => encodeChallenge({ ...CHALLENGE, ...part })).toThrow(TypeError);
  });

  test.each([
    ['type', { type: 0x10000 }],
    ['list of origins', { origins: Array.from({ length: 8000 }, () => 'a.example') }],
  ])('no TokenChallenge is written with a %s over 16 bits', (_, part) => {
    expect(() => encodeChallenge({ ...CHALLENGE, ...part })).toThrow(/out of range/);
  });

  test('a parsed challenge does not change with the octets that it was read from', () => {
    const bytes = Buffer.from(BYTES);
    const challenge = parseChallenge(bytes);
    bytes.fill(0);
    expect(challenge).toEqual(CHALLENGE);
  });

  test('every challenge that can be written is read again', () => {
    const name = fc
      .tuple(fc.domain(), fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined }))
      .map(([host, port]) => (port === undefined ? host : `${host}:${port}`));
    const challenges = fc.record({
      type: fc.integer({ min: 0, max: 0xffff }),
      issuer: name,
      context: fc
        .oneof(fc.constant(0), fc.constant(32))
        .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
        .map((octets) => Buffer.from(octets)),
      origins: fc.array(name, { maxLength: 5 }),
    });
    fc.assert(
      fc.property(challenges, (challenge) => {
        expect(parseChallenge(encodeChallenge(challenge))).toEqual(challenge);
      }),
    );
  });

  test('any octets give undefined, or a challenge that encodes to the same octets', () => {
    const damaged = fc
      .array(fc.tuple(fc.nat(BYTES.length - 1), fc.nat(255)), { maxLength: 3 })
      .map((changes) => {
        const bytes = Buffer.from(BYTES);
        for (const [at, octet] of changes) bytes[at] = octet;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 400 })), (bytes) => {
        const challenge = parseChallenge(bytes);
        if (challenge !== undefined) expect(encodeChallenge(challenge)).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 2000 },
    );
  });
});
