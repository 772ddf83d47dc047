import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { concealedCredentials } from '#shared/auth/schemes/concealed/prove.ts';
import { createDpopKey, dpopProof } from '#shared/auth/schemes/dpop/client.ts';
import { vapidAuthorization } from '#shared/auth/schemes/vapid/prove.ts';
import { digestCredentials } from '#shared/auth/schemes/digest/client.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { formatInfo, parseChallenges } from '#shared/http/auth/challenge.ts';
import { signEs256 } from '#shared/jose/sign-jws.ts';
import { BLIND_RSA } from '#shared/private-token/token-types.ts';
import { encodePadded } from '#shared/private-token/base64url.ts';
import { encodeChallenge } from '#shared/private-token/token-challenge.ts';
import { tokenInput } from '#shared/private-token/token.ts';
import { signatureFields } from '#shared/signatures/signed-request.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { explain } from './explain.ts';
import type { Explained, KeyOf } from './explained.ts';
import { explainSignatures } from './http-signature.ts';
import { parseRawRequest } from './raw-request.ts';

const clock = new ManualClock();
const NOW = Math.floor(clock.now() / 1000);
const URL_OF = 'https://api.example/a';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const base64 = (text: string) => Buffer.from(text).toString('base64');

const CLAIMS = {
  iss: 'https://as.example',
  aud: URL_OF,
  sub: 'alice',
  client_id: 'c1',
  jti: 'j1',
  iat: NOW,
  exp: NOW + 60,
  scope: 'read',
  client_gen: 0,
  epoch: 'e1',
};
const token = (claims: object = {}) =>
  signEs256({ typ: 'at+jwt', kid: 'k1' }, { ...CLAIMS, ...claims }, privateKey);

const KEY = createDpopKey();
const proof = (changes: object = {}) =>
  dpopProof(KEY, {
    method: 'GET',
    url: URL_OF,
    jti: 'j1',
    iat: NOW,
    accessToken: 'abc',
    ...changes,
  });

function only(text: string): Explained {
  const [one, ...more] = explain(text, clock).filter(({ what }) => what !== 'Other fields');
  if (one === undefined || more.length > 0) throw new Error(`${more.length + 1} things`);
  return one;
}

/** Returns the parts by name, and the check that fails with its reason. */
function told(text: string) {
  const { what, parts, checks } = only(text);
  const wrong = checks.find(({ result }) => result === 'wrong');
  return {
    what,
    parts: Object.fromEntries(parts.map(({ name, value }) => [name, value])),
    reason: wrong?.reason,
  };
}

describe('credentials', () => {
  const DIGEST = digestCredentials(
    { realm: 'r', nonce: 'n', algorithm: 'SHA-256', qop: 'auth' },
    {
      name: 'alice',
      password: 'p',
      method: 'GET',
      uri: '/a',
      qop: 'auth',
      count: 1,
      cnonce: 'c',
    },
  ).authorization;

  const CONCEALED =
    concealedCredentials({
      key: generateKeyPairSync('ed25519').privateKey,
      url: URL_OF,
      exporter: (_label, _context, length) => Buffer.alloc(length),
    }) ?? '';

  const VAPID = vapidAuthorization({
    key: privateKey,
    audience: 'https://push.example',
    expires: NOW + 60,
  });

  test.each<[string, string, object, string | undefined]>([
    [
      'Basic',
      `Basic ${base64('alice:pässword')}`,
      { name: 'alice', password: 'pässword' },
      undefined,
    ],
    [
      'Basic without a colon',
      `Basic ${base64('alice')}`,
      {},
      'credentials are not base64 of NAME:PASSWORD in UTF-8',
    ],
    ['Digest', DIGEST, { username: 'alice', uri: '/a', nc: '00000001' }, undefined],
    ['Digest without nc', DIGEST.replace(/, nc=\d+/, ''), {}, 'nc is missing or malformed'],
    ['Digest with SHA-1', DIGEST.replace('SHA-256', 'SHA'), {}, 'algorithm was not offered: use '],
    [
      'client-first-message of SCRAM',
      `SCRAM-SHA-256 ${formatInfo('SCRAM-SHA-256', { data: base64('n,,n=alice,r=abc') })}`,
      { 'client-first-message': 'n,,n=alice,r=abc' },
      undefined,
    ],
    [
      'SCRAM with channel binding',
      `SCRAM-SHA-256 ${formatInfo('SCRAM-SHA-256', { data: base64('p=tls-exporter,,n=a,r=b') })}`,
      {},
      'not a client-first-message that is supported',
    ],
    [
      'HOBA',
      `HOBA result="${encoded('k')}.${encoded('c')}.${encoded('n')}.AAAA"`,
      { kid: encoded('k') },
      undefined,
    ],
    ['HOBA in three parts', 'HOBA result="a.b.c"', {}, 'result is missing or malformed'],
    ['Concealed', CONCEALED, { s: '2055' }, undefined],
    [
      'Concealed with the id of another key',
      CONCEALED.replace(/k=[\w-]+/, 'k=AAAA'),
      { k: 'AAAA' },
      'k is not the id of a',
    ],
    [
      'Concealed with a key of another algorithm',
      CONCEALED.replace('s=2055', 's=1027'),
      { s: '1027' },
      'a is no key for s',
    ],
    [
      'Concealed with quotes',
      'Concealed k="AAAA", a=AAAA, s=2055, v=AAAA, p=AAAA',
      {},
      'a parameter is missing',
    ],
    [
      'PrivateToken',
      `PrivateToken token="${encodePadded(
        Buffer.concat([
          tokenInput(BLIND_RSA, Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)),
          Buffer.alloc(256),
        ]),
      )}"`,
      { token_type: '2 (blind-rsa-2048)', nonce: '01'.repeat(32), authenticator: '256 octets' },
      undefined,
    ],
    ['PrivateToken that is cut off', 'PrivateToken token="AAIA"', {}, 'no token of a type'],
    ['vapid', VAPID, { aud: 'https://push.example', 'header.alg': 'ES256' }, undefined],
    ['NTLM', `Negotiate ${base64('NTLMSSP\0')}`, {}, 'NTLM: the client has no ticket'],
    [
      'Mutual without an algorithm',
      'Mutual version=1, realm="r", kc1="AA"',
      {},
      'algorithm is missing, or not as it was asked for',
    ],
    ['Digest with another qop', DIGEST.replace('qop=auth', 'qop=all'), {}, 'use auth or auth-int'],
    [
      'a client-first-message of SCRAM with sid',
      `SCRAM-SHA-256 ${formatInfo('SCRAM-SHA-256', { sid: 'a', data: base64('n,,n=a,r=b') })}`,
      { 'client-final-message': 'n,,n=a,r=b' },
      'client-final-message',
    ],
    ['PrivateToken that is no base64url', 'PrivateToken token="A*"', {}, 'base64url'],
    ['vapid without a JWT', VAPID.replace(/t=[^,]+/, 't=abc'), {}, 'the JWT in t is malformed'],
    [
      'vapid with a changed claim',
      VAPID.replace(/\.[^.]+\./, '.e30.'),
      {},
      'the key in k has not signed the JWT in t',
    ],
    ['Negotiate that is no base64', 'Negotiate YQ', {}, 'base64'],
    ['an unknown scheme', 'Authorization: Hawk id="a"', { id: 'a' }, undefined],
    ['a parameter twice', 'Authorization: Digest a=1, a=2', {}, 'it is malformed'],
  ])('an explanation has the parts and the reason: %s', (_title, text, parts, reason) => {
    const found = told(text);
    expect(found.parts).toMatchObject(parts);
    expect(found.reason).toEqual(reason && expect.stringContaining(reason));
  });

  test('GNAP has the checks of its token, then the checks of its signature (RFC 9635 section 7.3)', () => {
    const cnf = { jwk: privateKey.export({ format: 'jwk' }) };
    const bound = signEs256({ typ: 'gnap-at+jwt', kid: 'k1' }, { ...CLAIMS, cnf }, privateKey);
    const { checks } = only(`GNAP ${bound}`);
    const signature = checks.filter(({ section }) => section === 'RFC 9635 section 7.3.1');
    expect(signature.map(({ result }) => result)).toEqual(['open', 'open']);
    expect(checks.at(-1)?.check).toBe('The token has the scopes that this request needs.');
    const { checks: expired } = only(`GNAP ${token({ exp: NOW - 1 })}`);
    expect(expired.at(-2)?.result).toBe('not reached');
  });

  test('the parameters of each scheme have a note and its section', () => {
    const shown = [
      CONCEALED,
      'HOBA result="a.b.c"',
      'Mutual version=1, algorithm=x, validation=host, auth-scope="a", realm="r", user="u", kc1="AA"',
      'PrivateToken token="AAIA"',
      `GNAP ${token()}`,
    ];
    for (const text of shown) {
      const { parts } = only(`Authorization: ${text}`);
      const own = parts.slice(
        0,
        Object.keys(parseCredentials(text)?.params ?? { token68: '' }).length,
      );
      expect(own.filter(({ section }) => section === undefined)).toEqual([]);
    }
  });

  test('the checksum shows that an API key has a wrong digit', () => {
    const { key } = newApiKey((bytes) => Buffer.alloc(bytes, 7));
    expect(told(key)).toMatchObject({ what: 'API key', parts: { id: '07'.repeat(8) } });
    const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    expect(told(`X-API-Key: ${mistyped}`).reason).toBe('not an API key');
  });
});

describe('tokens and proofs', () => {
  test.each<[string, () => string, string | undefined]>([
    ['a good token', token, undefined],
    ['an expired token', () => token({ exp: NOW - 1 }), 'expired at'],
    ['a token of tomorrow', () => token({ nbf: NOW + 86_400 }), 'not valid yet'],
    ['a token without jti', () => token({ jti: undefined }), 'claim jti is missing or malformed'],
    [
      'alg none',
      () => `${encoded({ typ: 'at+jwt', alg: 'none' })}.${encoded({})}.`,
      'alg is not on',
    ],
    [
      'HS256',
      () => `${encoded({ typ: 'JWT', alg: 'HS256' })}.${encoded({})}.AAAA`,
      'alg is not on',
    ],
    ['a header that is no JSON', () => `AAAA.${encoded({})}.AAAA`, 'header is not a JSON object'],
    ['a good proof', proof, undefined],
    ['an old proof', () => proof({ iat: NOW - 3600 }), 'iat is 3600 s from the time here'],
    [
      'a changed proof',
      () => proof().replace(/\.[^.]*$/, `.${'A'.repeat(86)}`),
      'signature is wrong',
    ],
  ])('%s', (_title, text, reason) => {
    const expected = reason && expect.stringContaining(reason);
    expect(told(text()).reason).toEqual(expected);
    expect(told(`Authorization: Bearer ${text()}`).what).toBe('Bearer credentials');
  });

  test('times are shown in words, and checks that only the server can make get the result `open`', () => {
    const { parts, checks } = only(token());
    expect(parts.find(({ name }) => name === 'exp')?.value).toMatch(/^20.*Z \(in 60 s\)$/);
    const open = checks.filter(({ result }) => result === 'open');
    expect(open.map(({ reason }) => reason)).toContain(
      'The server compares it with https://as.example.',
    );
    expect(checks.filter(({ result }) => result === 'right')).toHaveLength(3);
  });

  describe('with the keys of an issuer, the signature of an access token is checked (RFC 7515 section 5.2)', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const resultsBy = (text: string, key: ReturnType<KeyOf>) => {
      const asked: unknown[] = [];
      const [one] = explain(text, clock, (issuer, kid, { alg }) => {
        asked.push([issuer, kid, alg]);
        return key;
      });
      const results = one?.checks.slice(0, 5).map(({ result }) => result);
      return { asked, results };
    };
    const NAMED = [['https://as.example', 'k1', 'ES256']];

    test('the right key makes key, signature and issuer right', () => {
      expect(resultsBy(token(), createPublicKey(privateKey))).toEqual({
        asked: NAMED,
        results: ['right', 'right', 'right', 'right', 'right'],
      });
    });

    test('another key makes the signature wrong, and later checks are not reached', () => {
      expect(resultsBy(token(), publicKey)).toEqual({
        asked: NAMED,
        results: ['right', 'right', 'wrong', 'not reached', 'not reached'],
      });
    });

    test('a key that the issuer does not have makes the key wrong', () => {
      expect(resultsBy(token(), 'absent').results).toEqual([
        'right',
        'wrong',
        'not reached',
        'not reached',
        'not reached',
      ]);
    });

    test('a token of another issuer stays open', () => {
      expect(resultsBy(token(), undefined).results).toEqual([
        'right',
        'open',
        'open',
        'right',
        'open',
      ]);
    });
  });

  test('a JWT that was broken into lines is read', () => {
    expect(told(token().replaceAll('.', '.\r\n   ')).what).toBe('Access token');
  });

  test('a proof with its request is checked against method, address and token', () => {
    const bound = token({ cnf: { jkt: KEY.jkt } });
    const request = (first: string, sent: string, shown = bound) =>
      `${first} HTTP/1.1\r\nHost: api.example\r\nAuthorization: DPoP ${shown}\r\nDPoP: ${sent}\r\n\r\n`;
    const reasonOf = (text: string) =>
      explain(text, clock)
        .find(({ what }) => what === 'DPoP proof')
        ?.checks.find(({ result }) => result === 'wrong')?.reason;
    const right = proof({ accessToken: bound });
    expect(reasonOf(request('GET /a', right))).toBeUndefined();
    expect(reasonOf(request('POST /a', right))).toBe('htm is another method than POST');
    expect(reasonOf(request('GET /b', right))).toContain('htu is another URI');
    expect(reasonOf(request('GET /a', right, token()))).toBe('ath is the hash of another token');
    const foreign = token({ cnf: { jkt: createDpopKey().jkt } });
    const shown = request('GET /a', proof({ accessToken: foreign }), foreign);
    expect(reasonOf(shown)).toBe('the token is bound to another key');
  });

  test.each([
    ['its audience', { aud: 'http://api.example/a' }, 'http://api.example/a', undefined],
    ['its audience is right', {}, 'http://api.example/a', 'than https://api.example/a'],
    ['its proof', { aud: 'other' }, 'http://api.example/a', undefined],
    ['no URL of another host', { aud: 'other' }, 'http://b.example/a', 'than https://api.example'],
  ])("the scheme of a request's URL is taken from %s", (_title, claims, url, reason) => {
    const bound = token({ ...claims, cnf: { jkt: KEY.jkt } });
    const sent = proof({ accessToken: bound, url });
    const text = `GET /a HTTP/1.1\nHost: api.example\nAuthorization: DPoP ${bound}\nDPoP: ${sent}\n`;
    const found = explain(text, clock).find(({ what }) => what === 'DPoP proof');
    const wrong = found?.checks.find(({ result }) => result === 'wrong');
    expect(wrong?.reason).toEqual(reason && expect.stringContaining(reason));
  });

  test('the claims by which tokens are revoked have a note', () => {
    const { parts } = only(token({ sub_gen: 1, grant_id: 'g' }));
    const noted = parts.filter(({ note }) => note !== undefined).map(({ name }) => name);
    expect(noted).toEqual(expect.arrayContaining(['epoch', 'client_gen', 'sub_gen', 'grant_id']));
  });

  test.each([
    ['in JSON', () => JSON.stringify({ access_token: token(), token_type: 'Bearer' })],
    ['of GNAP', () => JSON.stringify({ access_token: [{ value: token() }] })],
    [
      'in a whole answer',
      () => `HTTP/1.1 200 OK\r\n\r\n${JSON.stringify({ access_token: token() })}`,
    ],
    [
      'in a form',
      () => `POST /token HTTP/1.1\r\nHost: a.example\r\n\r\nscope=a&subject_token=${token()}`,
    ],
  ])('a token %s is explained', (_title, text) => {
    expect(explain(text(), clock)[0]?.what).toBe('Access token');
  });

  test('a key of 16384 bits and a key with its private part are refused', () => {
    const large = { kty: 'RSA', e: 'AQAB', n: Buffer.alloc(2048, 255).toString('base64url') };
    const header = (jwk: object, alg: string) => encoded({ typ: 'dpop+jwt', alg, jwk });
    const claims = encoded({ jti: 'a', htm: 'GET', htu: URL_OF, iat: NOW });
    expect(told(`${header(large, 'RS256')}.${claims}.AAAA`).reason).toBe(
      'jwk is not a key for alg',
    );
    const own = privateKey.export({ format: 'jwk' });
    expect(told(`${header(own, 'ES256')}.${claims}.AAAA`).reason).toBe('jwk holds a private key');
  });

  test('JSON that is nested deeper than 16 levels is not read', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const jwt = (levels: number) =>
      `${encoded({ alg: 'ES256' })}.${Buffer.from(nested(levels)).toString('base64url')}.AAAA`;
    expect(told(jwt(15)).parts).toHaveProperty('a');
    expect(told(jwt(3000)).parts).not.toHaveProperty('a');
  });
});

describe('challenges and other fields', () => {
  test('each challenge of a list is explained separately, and a missing parameter is named', () => {
    const all = explain(
      'WWW-Authenticate: Basic realm="a", Digest realm="a", nonce="n", DPoP',
      clock,
    );
    expect(all.map(({ what }) => what)).toEqual([
      'Basic challenge',
      'Digest challenge',
      'DPoP challenge',
    ]);
    expect(all[1]?.checks.at(-1)).toMatchObject({ result: 'wrong', reason: 'qop is missing' });
  });

  test('the challenge of a PrivateToken is decoded (RFC 9577 section 2.1.1)', () => {
    const challenge = encodeChallenge({
      type: BLIND_RSA,
      issuer: 'issuer.example',
      context: Buffer.alloc(0),
      origins: ['api.example'],
    });
    const text = `PrivateToken challenge="${encodePadded(challenge)}"`;
    expect(parseChallenges(text)).toHaveLength(1);
    expect(told(text).parts).toMatchObject({
      issuer_name: 'issuer.example',
      redemption_context: 'none',
      origin_info: 'api.example',
    });
  });

  test('Authentication-Info has the notes of the scheme that its parameters show', () => {
    const { parts } = only('Authentication-Info: rspauth="00", qop=auth');
    expect(parts[0]).toMatchObject({ name: 'rspauth', section: 'RFC 7616 section 3.5' });
    const ofScram = told(`Authentication-Info: sid=a, data=${base64('v=abc')}`);
    expect(ofScram).toMatchObject({ parts: { data: base64('v=abc') }, reason: undefined });
    expect(told('Authentication-Info: Basic').reason).toBe('it is malformed');
  });

  test.each<[string, string | undefined]>([
    ['Cache-Status: origin; hit; ttl=30, edge; fwd=stale; collapsed', undefined],
    ['edge; fwd=stale; fwd-status=304', undefined],
    ['Cache-Status: edge; hit; fwd=miss', 'the cache edge says hit and fwd'],
    ['Cache-Status: edge', 'the cache edge says neither hit nor fwd'],
    ['Cache-Status: edge; fwd=magic', 'fwd=magic is no registered reason'],
    ['Cache-Status: edge;', 'it is malformed'],
  ])('%s (RFC 9211)', (text, reason) => expect(told(text).reason).toBe(reason));

  test('an If field is explained by its lists, each for its resource (RFC 4918 section 10.4)', () => {
    const { parts } = only('<https://a.example/b> (<urn:uuid:1> ["x"]) (Not <DAV:no-lock>)');
    expect(parts).toMatchObject([
      {
        value: 'has the lock urn:uuid:1, and has the entity tag "x"',
        note: 'The list is about https://a.example/b.',
      },
      { value: 'is without the lock DAV:no-lock' },
    ]);
    expect(told('If: (<urn:uuid:1>) <https://a.example/> (["x"])').reason).toBe(
      'it is malformed, or has more than 256 conditions',
    );
  });

  test('a signature is explained with its request (RFC 9421)', () => {
    const message = {
      method: 'GET',
      targetUri: URL_OF,
      requestTarget: '/a',
      lines: () => [],
    };
    const fields = signatureFields(message, {
      label: 'sig1',
      identifiers: [{ type: 'string', value: '@method', params: new Map() }],
      params: new Map([
        ['created', { type: 'integer', value: NOW }],
        ['keyid', { type: 'string', value: 'k1' }],
      ]),
      alg: 'ES256',
      key: privateKey,
    });
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = `GET /a HTTP/1.1\r\nHost: api.example\r\n${lines.join('')}\r\n`;
    expect(told(text)).toMatchObject({
      what: 'HTTP signature sig1',
      parts: { '"@method"': 'GET', keyid: 'k1' },
      reason: undefined,
    });
    expect(told(text.replace('"@method"', '"x-missing"')).reason).toBe(
      'the message has no x-missing',
    );
    expect(told(text.replace(/signature: sig1/i, 'Signature: sig2')).reason).toBe(
      'signature has no octets for sig1',
    );
  });
});

describe('attacks', () => {
  const refusalOf = (text: string) => {
    try {
      explain(text, clock);
      return undefined;
    } catch (error) {
      return (error as Error).name;
    }
  };

  test.each([
    '',
    'hello',
    'Foo: bar',
    'Signature-Input: a=()',
    'GET / HTTP/1.1\nHost: a.example',
    'HTTP/1.1 401 Unauthorized',
    '{"access_token":"opaque"}',
    'a'.repeat(16_385),
  ])('%.30s is unreadable', (text) => expect(refusalOf(text)).toBe('Unreadable'));

  test('members of JSON that have the names of methods are text, too', () => {
    const odd = { toString: 1, valueOf: 1, toJSON: 1 };
    for (const typ of ['dpop+jwt', 'at+jwt', odd]) {
      const claims = { iss: odd, aud: odd, scope: odd, htm: odd, htu: odd, exp: odd };
      const jwt = `${encoded({ typ, alg: 'ES256', jwk: odd, kid: 'k' })}.${encoded(claims)}.AAAA`;
      expect(only(jwt).parts).toContainEqual(expect.objectContaining({ name: 'scope' }));
    }
  });

  const labels = (made: (n: number) => string) =>
    Array.from({ length: 8 }, (_, n) => made(n)).join(', ');

  test('a long field is read only once, even if eight signatures cover it repeatedly', () => {
    const request = parseRawRequest(
      Buffer.from(
        [
          'GET / HTTP/1.1',
          'Host: a.example',
          `Signature-Input: ${labels((n) => `s${n}=(${'"priority";sf '.repeat(63)}"priority")`)}`,
          `Signature: ${labels((n) => `s${n}=:AA==:`)}`,
          '',
        ].join('\n'),
      ),
      undefined,
    );
    let read = 0;
    const lines = (name: string) => {
      if (name === 'priority') read += 1;
      return name === 'priority' ? [`k=1, ${'a, '.repeat(5000)}b`] : request.message.lines(name);
    };
    const counted = { ...request, message: { ...request.message, lines } };
    const { signatures } = explainSignatures(counted, new Map(), NOW);
    expect(signatures).toHaveLength(8);
    const values = new Set(signatures.flatMap(({ covers }) => covers.map(({ value }) => value)));
    expect(values.size).toBe(2);
    expect(read).toBeLessThanOrEqual(9);
  });

  test('the answer to 16 KB has at most 70,000 characters in its parts', () => {
    const worst = [
      `Authorization: Digest ${Array.from({ length: 2500 }, (_, at) => `a${at}=1`).join(', ')}`,
      `${encoded({ alg: 'ES256' })}.${encoded({ a: 'x'.repeat(11_000) })}.AAAA`,
      `GET /?${'q'.repeat(6000)} HTTP/1.1\nHost: a\nSignature: a=:AA:\nSignature-Input: a=(${Array.from({ length: 60 }, (_, at) => `"@target-uri";a${at}`).join(' ')} ${Array.from({ length: 4 }, () => '"@query"').join(' ')})`,
      `Authorization: Basic a\n`.repeat(600),
    ];
    for (const text of worst) {
      const parts = explain(text.slice(0, 16_384), clock).flatMap((one) => one.parts);
      const characters = parts.map(({ name, value }) => name.length + value.length);
      expect(characters.reduce((sum, one) => sum + one, 0)).toBeLessThan(70_000);
      expect(parts.length).toBeLessThanOrEqual(16 * 65);
    }
  });

  test('any text is explained, or refused as unreadable', () => {
    const names = ['Authorization', 'WWW-Authenticate', 'DPoP', 'Cache-Status', 'If', 'X-API-Key'];
    const schemes = [
      'Basic',
      'Digest',
      'DPoP',
      'HOBA',
      'Mutual',
      'Negotiate',
      'PrivateToken',
      'vapid',
    ];
    const json = fc.json().map((text) => Buffer.from(text).toString('base64url'));
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.tuple(fc.constantFrom(...names), fc.string()).map(([name, value]) => `${name}: ${value}`),
      fc.tuple(fc.constantFrom(...schemes), fc.string()).map((both) => both.join(' ')),
      fc.tuple(json, json).map((both) => `${both.join('.')}.AAAA`),
      fc
        .string()
        .map((text) => `GET /${text} HTTP/1.1\nHost: a.example\nSignature-Input: a=(${text})`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect([undefined, 'Unreadable']).toContain(refusalOf(text));
      }),
    );
  });
});

test('a whole answer is explained by its fields, without its first line and its content', () => {
  const answer =
    'HTTP/1.1 401 Unauthorized\r\nDate: today\r\nWWW-Authenticate: Basic realm="a"\r\n\r\nno: field\r\n';
  const found = explain(answer, clock);
  expect(found.map(({ what }) => what)).toEqual(['Basic challenge', 'Other fields']);
});

test.each(['biwsbj1hLHI9YQ==', '"biwsbj1hLHI9YQ=="', 'biwsbj1hLHI9YQ'])(
  'a text that is only base64 is decoded if it encodes text: %s (RFC 4648)',
  (text) => {
    expect(explain(text, clock)[0]?.parts).toEqual([{ name: 'text', value: 'n,,n=a,r=a' }]);
  },
);

test('a word that could be base64 of anything is not explained', () => {
  expect(() => explain('test', clock)).toThrow('kind of text is unknown');
  expect(() => explain('AAAA', clock)).toThrow('kind of text is unknown');
});

test('RFC 7804 section 5.1: credentials with sid have no count, so no check of SCRAM mentions a count', () => {
  const data = Buffer.from('c=biws,r=a,p=YWE=').toString('base64');
  const checks = (sid: string) =>
    explain(`SCRAM-SHA-256 ${sid}data="${data}"`, clock)[0]?.checks.map(({ check }) => check) ?? [];
  expect(checks('sid="a", ').join()).not.toContain('count');
  expect(checks('').join()).toContain('the counter before it is new');
});

describe('whole messages', () => {
  const BASIC = `Basic ${base64('alice:secret')}`;
  const whats = (text: string) => explain(text, clock).map(({ what }) => what);

  test.each([
    ['CONNECT api.example:443 HTTP/1.1\nHost: api.example:443'],
    ['CONNECT api.example:443 HTTP/1.1'],
    ['OPTIONS * HTTP/1.1\nHost: api.example'],
  ])('%j has an address (RFC 9112 section 3.3)', (head) => {
    expect(whats(`${head}\nProxy-Authorization: ${BASIC}`)[0]).toBe('Basic credentials');
  });

  test.each([
    ['GET /a HTTP/1.1', 'the request has no Host'],
    ['GET http:// HTTP/1.1\nHost: a', 'http:// is no URL'],
    ['CONNECT :: HTTP/1.1\nHost: a', 'https://:: is no URL'],
  ])('the fields of %j are explained without an address', (head, reason) => {
    const digest = 'Digest username="a", realm="r", nonce="n", uri="/a"';
    const text = `${head}\nAuthorization: ${digest}\nDPoP: ${proof()}\nSignature-Input: a=("@authority")\n`;
    const [request, ...fields] = explain(text, clock);
    expect(request).toMatchObject({ what: 'Request', checks: [{ result: 'wrong', reason }] });
    expect(fields.map(({ what }) => what)).toEqual([
      'Digest credentials',
      'DPoP proof',
      'Other fields',
    ]);
  });

  test('fields that are not explained are named, and fields of a signature are explained', () => {
    const text = `GET / HTTP/1.1\nHost: a.example\nAuthorization: ${BASIC}\nAccept: */*\nAccept: a/b\n`;
    expect(explain(text, clock).at(-1)).toMatchObject({
      what: 'Other fields',
      parts: [{ name: 'not explained here', value: 'host, accept' }],
    });
  });

  test('a field after many other fields is explained', () => {
    const many = Array.from({ length: 20 }, (_, at) => `X-${at}: a\n`).join('');
    expect(whats(`GET / HTTP/1.1\nHost: a\n${many}Authorization: ${BASIC}`)[0]).toBe(
      'Basic credentials',
    );
  });

  test('the output of curl -v is explained message by message', () => {
    const printed = [
      '* Connected to a.example',
      '> GET / HTTP/1.1',
      '> Host: a.example',
      `> Authorization: ${BASIC}`,
      '> ',
      '* Request completely sent off',
      '< HTTP/1.1 401 Unauthorized',
      '< WWW-Authenticate: Basic realm="a"',
      '<',
      '{ [5 bytes data]',
      `{"access_token":"${token()}"}* Connection #0 to host a.example left intact`,
    ];
    expect(whats(printed.join('\n'))).toEqual([
      'Basic credentials',
      'Other fields',
      'Basic challenge',
      'Access token',
    ]);
  });

  test.each([
    ['GET / HTTP/1.1\nHost: a', 'it has no credentials'],
    ['HTTP/1.1 401 Unauthorized', 'it has no credentials'],
    ['Signature-Input: a=()', 'for a signature, paste the whole request'],
    ['curl https://a.example', 'the output of curl -v'],
  ])('%j gives an error that says what is missing', (text, reason) => {
    expect(() => explain(text, clock)).toThrow(reason);
  });
});
