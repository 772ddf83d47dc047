import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ManualClock } from '#shared/base/clock.ts';
import { formatChallenge } from '#shared/http/auth/challenge.ts';
import { encodePadded } from '#shared/private-token/base64url.ts';
import { challengeDigest, encodeChallenge } from '#shared/private-token/token-challenge.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import vectors from '../../private-token/vectors/rfc9577-challenge.json' with { type: 'json' };
import { Failure } from '../arguments/command.ts';
import { answerable } from './challenges.ts';

const URL = 'https://Site.example:8443/members?x=y';
const SITE = 'site.example:8443';
const clock = new ManualClock();

const answer = (challenge: string, status = 401) => ({
  status,
  fields: { 'www-authenticate': challenge },
  body: Buffer.alloc(0),
});
const read = (challenge: string, url = URL) => answerable(url, answer(challenge), clock);

const MEMBERS = {
  type: BLIND_RSA,
  issuer: 'issuer.example',
  context: Buffer.alloc(0),
  origins: [SITE],
};
const encoded = (members: Partial<typeof MEMBERS> = {}) =>
  encodeChallenge({ ...MEMBERS, ...members });
const written = (challenge: Uint8Array | string, more: Readonly<Record<string, string>> = {}) =>
  formatChallenge({
    scheme: 'PrivateToken',
    params: {
      challenge: typeof challenge === 'string' ? challenge : encodePadded(challenge),
      ...more,
    },
  });

describe('RFC 9577 appendix A.1: challenges of origin.example', () => {
  test('the vectors are not empty', () => expect(vectors.length).toBeGreaterThan(1));

  test.each(vectors)('the challenge is read: $WWW-Authenticate', (vector) => {
    const given = [
      [vector['token-challenge-0'], vector['token-key-0'], vector['max-age-0']],
      [vector['token-challenge-1'], vector['token-key-1'], vector['max-age-1']],
    ] as const;
    const known = given.filter(([bytes]) => /^000[12]/.test(bytes ?? ''));
    expect(read(vector['WWW-Authenticate'], 'https://origin.example/')).toEqual(
      known.map(([bytes = '', key = '', maxAge]) => ({
        type: Number(bytes.slice(0, 4)),
        issuer: 'issuer.example',
        digest: challengeDigest(Buffer.from(bytes, 'hex')),
        tokenKey: Buffer.from(key, 'hex'),
        until: maxAge === undefined ? undefined : clock.now() + 1000 * maxAge,
      })),
    );
  });
});

describe('RFC 9577 section 2.1.3: acceptable challenges', () => {
  test("section 2.1.2: several are read in the site's order, even without key and max-age", () => {
    const both = `${written(encoded({ type: VOPRF }))}, ${written(encoded())}`;
    expect(read(both).map(({ type }) => type)).toEqual([VOPRF, BLIND_RSA]);
    expect(read(both)[0]).toMatchObject({ tokenKey: undefined, until: undefined });
  });

  test('names are compared without case, with the port', () => {
    const mixed = encoded({
      issuer: 'Issuer.Example:443',
      origins: ['other.example', 'SITE.example:8443'],
    });
    expect(read(written(mixed))).toMatchObject([
      { issuer: 'issuer.example', digest: challengeDigest(mixed) },
    ]);
  });

  test('the scheme may have any case, and other schemes and parameters are ignored', () => {
    const challenge = written(encoded(), { realm: 'members', grease: 'x' });
    const field = `Basic realm="a", ${challenge.replace('PrivateToken', 'PRIVATETOKEN')}, Negotiate, DPoP algs="ES256"`;
    expect(read(field)).toHaveLength(1);
  });

  test('section 4.1: reserved and unknown types are ignored beside a valid challenge', () => {
    const grease = [0x0000, 0x02aa, 0x7a68, 0xda7a, 0xffff].map((type) =>
      written(encoded({ type })),
    );
    expect(read([...grease, written(encoded())].join(', '))).toHaveLength(1);
  });

  test('malformed challenges are ignored beside a valid one', () => {
    const bad = [
      written(''),
      written('AAI='),
      'PrivateToken',
      'PrivateToken abc=',
      'PrivateToken x=y',
    ];
    expect(read([...bad, written(encoded())].join(', '))).toHaveLength(1);
  });

  test('only the wanted type is answered', () => {
    const both = answer(`${written(encoded())}, ${written(encoded({ type: VOPRF }))}`);
    expect(answerable(URL, both, clock, VOPRF)).toMatchObject([{ type: VOPRF }]);
    const one = answer(written(encoded()));
    expect(() => answerable(URL, one, clock, VOPRF)).toThrow('of type voprf-p384');
  });
});

/** The encoding of a challenge with arbitrary names. */
function raw(issuer: string, context: Uint8Array, origins: string): Buffer {
  const text = (value: string) => {
    const bytes = Buffer.from(value, 'latin1');
    return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);
  };
  return Buffer.concat([
    Buffer.of(0, 2),
    text(issuer),
    Buffer.of(context.length),
    context,
    text(origins),
  ]);
}
const NONE = Buffer.alloc(0);

describe('RFC 9577 section 2.1.3: a cheating site gets no answer to a challenge', () => {
  test('control: the encoding of these tests is right', () => {
    expect(raw('issuer.example', NONE, SITE)).toEqual(encoded());
  });

  test.each([
    ['another site', 'other.example:8443'],
    ['the same host with another port', 'site.example'],
    ['a longer name', 'www.site.example:8443'],
    ['the beginning of the name', 'site.example:844'],
    ['a list of others', 'a.example,b.example'],
    ['any site: the token could be spent elsewhere', ''],
  ])('for %s', (_, origins) => {
    const challenge = written(raw('issuer.example', NONE, origins));
    expect(() => read(challenge)).toThrow(`not for ${SITE}`);
  });

  test.each([
    ['', NONE, SITE],
    ['user@issuer.example', NONE, SITE],
    ['issuer.example/path', NONE, SITE],
    ['issuer.example?query', NONE, SITE],
    ['issuer.example#fragment', NONE, SITE],
    ['issuer.example\r\nHost: evil', NONE, SITE],
    ['issuer.example ', NONE, SITE],
    ['issuer.example:0x50', NONE, SITE],
    ['issuer.example:99999', NONE, SITE],
    ['issuer.example\\@evil.example', NONE, SITE],
    ['iss\u00fcer.example', NONE, SITE],
    ['https://issuer.example', NONE, SITE],
    ['issuer.example', Buffer.alloc(31), SITE],
    ['issuer.example', Buffer.alloc(1), SITE],
    ['issuer.example', Buffer.alloc(33), SITE],
    ['issuer.example', NONE, `${SITE}, ${SITE}`],
    ['issuer.example', NONE, `${SITE},`],
    ['issuer.example', NONE, `user@${SITE},${SITE}`],
  ])('that is malformed: %j, %j, %j', (issuer, context, origins) => {
    expect(() => read(written(raw(issuer, context, origins)))).toThrow('malformed');
  });

  test('that is cut anywhere, or has an extra octet', () => {
    const good = encoded({ context: Buffer.alloc(32, 1) });
    for (let length = 0; length < good.length; length += 1) {
      expect(() => read(written(good.subarray(0, length)))).toThrow(Failure);
    }
    expect(() => read(written(Buffer.concat([good, Buffer.of(0)])))).toThrow('malformed');
  });

  test.each(['!', 'AAB', '=', 'A A'])('with token-key %j', (key) => {
    expect(() => read(written(encoded(), { 'token-key': key }))).toThrow('key is malformed');
  });

  test.each(['-1', '1e3', ' ', '99999999999', '0x10', 'Infinity'])(
    'max-age %j is ignored',
    (age) => {
      expect(read(written(encoded(), { 'max-age': age }))[0].until).toBeUndefined();
    },
  );

  test('with a repeated parameter, or an unclosed quoted-string: the whole field is ignored', () => {
    const good = written(encoded());
    expect(() => read(`${good}, challenge="x"`)).toThrow('malformed');
    expect(() => read(`${good}, Basic realm="`)).toThrow('malformed');
  });

  test.each([200, 403, 302, 500])('in an answer with status %i', (status) => {
    expect(() => answerable(URL, answer(written(encoded()), status), clock)).toThrow(
      `answers ${status}: it asks for no token`,
    );
  });

  test('without a WWW-Authenticate field', () => {
    const bare = { status: 401, fields: {}, body: NONE };
    expect(() => answerable(URL, bare, clock)).toThrow('none asks for a PrivateToken');
  });
});

test('any field gives challenges for this site, or a failure', () => {
  const field = fc.oneof(
    fc.string(),
    fc.uint8Array({ maxLength: 80 }).map((bytes) => written(bytes)),
    fc
      .tuple(fc.nat({ max: 60 }), fc.nat({ max: 255 }))
      .map(([at, value]) =>
        written(encoded({ context: Buffer.alloc(32) }).fill(value, at, at + 1)),
      ),
  );
  fc.assert(
    fc.property(field, (value) => {
      try {
        for (const { issuer, type, digest } of read(value)) {
          expect(issuer).toMatch(/^[a-z0-9.:_[\]-]+$/);
          expect([BLIND_RSA, VOPRF]).toContain(type);
          expect(digest).toHaveLength(32);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
      }
    }),
    { numRuns: 1000 },
  );
});
