import { generateKeyPairSync, hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { BadSignature, type SignedRequest } from '#shared/signatures/message.ts';
import { input, withFields } from '#shared/signatures/message.fixture.ts';
import { signatureFields } from '#shared/signatures/signed-request.ts';
import { readKey as read, type SignatureKey } from './key.ts';
import { prove } from './prove.ts';

const readKey = (value: unknown) => read(value) as SignatureKey;
const NOW = 1_618_884_473;
const CONTENT = '{"access_token":{"access":["read"]}}';
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEY = readKey({
  proof: 'httpsig',
  jwk: { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' },
});

/** Creates a memory of used signatures for one test. */
function memory() {
  const seen = new Set<string>();
  const unique = async (_namespace: string, key: string) => {
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  };
  return { seen, replay: { unique } };
}

type Fields = Readonly<Record<string, string | readonly string[]>>;

const digestField = (content: string, algorithm: 'sha256' | 'sha512' = 'sha256') =>
  `${algorithm.replace('sha', 'sha-')}=:${hash(algorithm, content, 'base64')}:`;

const messageOf = (fields: Fields, more: Partial<SignedRequest> = {}): SignedRequest => ({
  method: 'POST',
  targetUri: 'https://as.example/gnap',
  requestTarget: '/gnap',
  ...withFields(fields),
  ...more,
});

const FIELDS = { 'Content-Digest': digestField(CONTENT), Authorization: 'GNAP token' };
const COVERED = '"@method" "@target-uri" "content-digest" "authorization"';
const PARAMS = `;created=${NOW};keyid="k1";tag="gnap"`;

/** Returns the fields of a request that covers these components, signed with the key. */
function signed(covered = COVERED, params = PARAMS, fields: Fields = FIELDS, key = privateKey) {
  const message = messageOf(fields);
  const signing = { label: 'sig1', ...input(`(${covered})${params}`), alg: 'ES256' as const, key };
  return { ...fields, ...signatureFields(message, signing) };
}

interface Sent {
  readonly content?: string | undefined;
  readonly hasToken?: boolean;
  readonly once?: boolean;
  readonly more?: Partial<SignedRequest>;
  readonly known?: ReturnType<typeof memory>;
  readonly now?: number;
}

const send = (
  fields: Fields,
  { content = CONTENT, hasToken = true, once = true, more, known = memory(), now = NOW }: Sent = {},
  key = KEY,
) =>
  prove(
    {
      message: messageOf(fields, more),
      hasToken,
      contentDigest: (name: string) => hash(name, content, 'buffer'),
      fromProxy: false,
    },
    key,
    { replay: known.replay, now, once },
  );

const refusedFor = (reason: RegExp) =>
  expect.objectContaining({ name: 'BadSignature', message: expect.stringMatching(reason) });

describe('the examples of RFC 9635', () => {
  const GNAP_RSA = readKey({
    proof: 'httpsig',
    jwk: {
      kty: 'RSA',
      e: 'AQAB',
      kid: 'gnap-rsa',
      alg: 'PS512',
      n: 'hYOJ-XOKISdMMShn_G4W9m20mT0VWtQBsmBBkI2cmRt4Ai8BfYdHsFzAtYKOjpBR1RpKpJmVKxIGNy0g6Z3ad2XYsh8KowlyVy8IkZ8NMwSrcUIBZGYXjHpwjzvfGvXH_5KJlnR3_uRUp4Z4Ujk2bCaKegDn11V2vxE41hqaPUnhRZxe0jRETddzsE3mu1SK8dTCROjwUl14mUNo8iTrTm4n0qDadz8BkPo-uv4BC0bunS0K3bA_3UgVp7zBlQFoFnLTO2uWp_muLEWGl67gBq9MO3brKXfGhi3kOzywzwPTuq-cVQDyEN7aL0SxCb3Hc4IdqDaMg8qHUyObpPitDQ',
    },
  });
  const params = `created=${NOW};keyid="gnap-rsa";nonce="NAOEJF12ER2";tag="gnap"`;
  const section72 = {
    Authorization: 'GNAP 80UPRY5NM33OMUKMKSKU',
    'Signature-Input': `sig1=("@method" "@target-uri" "authorization");${params}`,
    Signature:
      'sig1=:FQ+EjWqc38uLFByKa5y+c4WyYYwCTGUhidWKfr5L1Cha8FiPEwDxG7nWttpBLS/B6VLfkZJogPbclySs9MDIsAIJwHnzlcJjwXWR2lfvm2z3X7EkJHmZp4SmyKOS34luAiKR1xwf32NYFolHmZf/SbHZJuWvQuS4U33C+BbsXz8MflFH1DhtH/C1E5i244gSbdLCPxzABc/Q0NHVSLo1qaouYIvnxXB8OT3K7mwWjsLh1GC5vFThb3XQ363r6f0OPRa4qWHhubR/d/J/lNOjbBdjq9AJ69oqNJ+A2XT+ZCrVasEJE0OBvDauQoiywhb8BMB7+PEINsPk5/8UvaNxbw==:',
  };
  const more = {
    method: 'GET',
    targetUri: 'https://resource.example.com/stuff',
    requestTarget: '/stuff',
  };

  test('section 7.2: the example of a used token is accepted with PS512', async () => {
    await expect(send(section72, { content: '', more }, GNAP_RSA)).resolves.toBeUndefined();
  });

  test("section 7.2: the same signature is refused with RS256, which the RFC's text names", async () => {
    const { algorithm } = readKey({
      proof: 'httpsig',
      jwk: {
        ...GNAP_RSA.key.export({ format: 'jwk' }),
        kid: 'gnap-rsa',
        alg: 'RS256',
      },
    });
    const sent = send(section72, { content: '', more }, { ...GNAP_RSA, algorithm });
    await expect(sent).rejects.toThrow(BadSignature);
  });

  test('section 7.3.1: the example of a grant request has a right signature, but its printed content has another digest', async () => {
    const fields = {
      'Content-Type': 'application/json',
      'Content-Length': '988',
      'Content-Digest': 'sha-256=:q2XBmzRDCREcS2nWo/6LYwYyjrlN1bRfv+HKLbeGAGg=:',
      'Signature-Input': `sig1=("@method" "@target-uri" "content-digest" "content-length" "content-type");${params}`,
      Signature:
        'sig1=:c2uwTa6ok3iHZsaRKl1ediKlgd5cCAYztbym68XgX8gSOgK0Bt+zLJ19oGjSAHDjJxX2gXP2iR6lh9bLMTfPzbFVn4Eh+5UlceP+0Z5mES7v0R1+eHeOqBl0YlYKaSQ11YT7n+cwPnCSdv/6+62m5zwXEEftnBeA1ECorfTuPtau/yrTYEvD9A/JqR2h9VzAE17kSlSSsDHYA6ohsFqcRJavX29duPZDfYgkZa76u7hJ23yVxoUpu2J+7VUdedN/72N3u3/z2dC8vQXbzCPTOiLru12lb6vnBZoDbUGsRR/zHPauxhj9T+218o5+tgwYXw17othJSxIIOZ9PkIgz4g==:',
    };
    const endpoint = { targetUri: 'https://server.example.com/gnap' };
    const sent = send(fields, { hasToken: false, more: endpoint }, GNAP_RSA);
    await expect(sent).rejects.toEqual(refusedFor(/another content/));
  });
});

describe('RFC 9635 section 7.3.1: what a signature must cover', () => {
  test('a signature may cover the components in any order, and additional ones', async () => {
    await expect(send(signed())).resolves.toBeUndefined();
    const turned = '"authorization" "content-digest" "@authority" "@target-uri" "@method"';
    await expect(send(signed(turned))).resolves.toBeUndefined();
  });

  test('a digest is not needed without content, nor Authorization without a token', async () => {
    const sent = send(signed('"@method" "@target-uri"', PARAMS, {}), {
      content: '',
      hasToken: false,
    });
    await expect(sent).resolves.toBeUndefined();
  });

  test('content without any digest is refused', async () => {
    const sent = send(signed('"@method" "@target-uri"', PARAMS, {}), { hasToken: false });
    await expect(sent).rejects.toEqual(refusedFor(/content-digest is missing/));
  });

  test.each([
    ['"@target-uri" "content-digest" "authorization"', /"@method" is not covered/],
    ['"@method" "content-digest" "authorization"', /"@target-uri" is not covered/],
    ['"@method" "@target-uri" "authorization"', /"content-digest" is not covered/],
    ['"@method" "@target-uri" "content-digest"', /"authorization" is not covered/],
    ['"@method" "@target-uri" "content-digest";sf "authorization"', /"content-digest" is not/],
    ['"@method" "@target-uri" "content-digest" "authorization";bs', /"authorization" is not/],
    ['"@method" "@path" "@authority" "content-digest" "authorization"', /"@target-uri" is not/],
  ])('a signature that covers %s is refused', async (covered, reason) => {
    await expect(send(signed(covered))).rejects.toEqual(refusedFor(reason));
  });

  test.each([
    [`;keyid="k1";tag="gnap"`, /created is missing/],
    [`;created=${NOW};tag="gnap"`, /keyid is missing/],
    [`;created=${NOW};keyid="k1"`, /no signature with tag gnap/],
    [`;created=${NOW};keyid="k1";tag="GNAP"`, /no signature with tag gnap/],
    [`;created=${NOW};keyid="k1";tag="gnap-rotate"`, /no signature with tag gnap/],
    [`;created=${NOW};keyid="k2";tag="gnap"`, /keyid is not the kid/],
    [`;created=${NOW};keyid="k1";tag="gnap";alg="ecdsa-p256-sha256"`, /alg is not allowed/],
    [`;created=${NOW - 61};keyid="k1";tag="gnap"`, /created differs/],
    [`;created=${NOW + 61};keyid="k1";tag="gnap"`, /created differs/],
    [`;created=${NOW};expires=${NOW};keyid="k1";tag="gnap"`, /expired/],
  ])('a signature with the parameters %s is refused', async (params, reason) => {
    await expect(send(signed(COVERED, params))).rejects.toEqual(refusedFor(reason));
  });

  test('a signature of another key, method, address, token or content is refused', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const fields = signed();
    const wrong = refusedFor(/not of this message and key/);
    await expect(send(signed(COVERED, PARAMS, FIELDS, other))).rejects.toEqual(wrong);
    await expect(send(fields, { more: { method: 'PATCH' } })).rejects.toEqual(wrong);
    const elsewhere = { targetUri: 'https://as.example/gnap/' };
    await expect(send(fields, { more: elsewhere })).rejects.toEqual(wrong);
    await expect(send({ ...fields, Authorization: 'GNAP other' })).rejects.toEqual(wrong);
    await expect(send({ ...fields, 'Content-Digest': digestField('{}') })).rejects.toEqual(wrong);
    await expect(send(fields, { content: '{}' })).rejects.toEqual(refusedFor(/another content/));
  });

  test('the digest must use the algorithm of the key', async () => {
    const key = { ...KEY, digest: 'sha-512' } as const;
    const long = { ...FIELDS, 'Content-Digest': digestField(CONTENT, 'sha512') };
    await expect(send(signed(COVERED, PARAMS, long), {}, key)).resolves.toBeUndefined();
    await expect(send(signed(), {}, key)).rejects.toEqual(refusedFor(/no sha-512/));
  });
});

describe('RFC 9635 section 7.3.1: replay', () => {
  test('only one of several equal requests is accepted, even if ten come at once', async () => {
    const known = memory();
    const fields = signed();
    const sent = await Promise.allSettled(
      Array.from({ length: 10 }, () => send(fields, { known })),
    );
    expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('the second valid ECDSA signature of the same request is a replay', async () => {
    const known = memory();
    const fields = signed();
    await send(fields, { known });
    const octets = Buffer.from(fields.Signature.slice('sig1=:'.length, -1), 'base64');
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    const s = BigInt(`0x${octets.subarray(32).toString('hex')}`);
    const second = Buffer.concat([
      octets.subarray(0, 32),
      Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex'),
    ]);
    const again = { ...fields, Signature: `sig1=:${second.toString('base64')}:` };
    await expect(send(again)).resolves.toBeUndefined();
    await expect(send(again, { known })).rejects.toEqual(refusedFor(/used before/));
  });

  test('a safe request may be repeated, but not with the same nonce, whatever else it has', async () => {
    const known = memory();
    const plain = signed();
    await send(plain, { known, once: false });
    await expect(send(plain, { known, once: false })).resolves.toBeUndefined();
    const nonce = `${PARAMS};nonce="n1"`;
    await send(signed(COVERED, nonce), { known, once: false });
    const other = signed(`${COVERED} "@authority"`, nonce);
    await expect(send(other, { known, once: false })).rejects.toEqual(refusedFor(/used before/));
  });

  test('a refused request is not remembered', async () => {
    const known = memory();
    const fields = signed(COVERED, `${PARAMS};nonce="n1"`);
    const forged = { ...fields, Signature: `sig1=:${Buffer.alloc(64).toString('base64')}:` };
    await expect(send(forged, { known })).rejects.toThrow(BadSignature);
    await expect(send(fields, { known, content: '{}' })).rejects.toThrow(BadSignature);
    expect(known.seen.size).toBe(0);
    await expect(send(fields, { known })).resolves.toBeUndefined();
  });

  test('two keys may use the same nonce', async () => {
    const known = memory();
    await send(signed(), { known });
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' };
    const fields = signed(COVERED, PARAMS, FIELDS, pair.privateKey);
    await expect(
      send(fields, { known }, readKey({ proof: 'httpsig', jwk })),
    ).resolves.toBeUndefined();
  });
});
