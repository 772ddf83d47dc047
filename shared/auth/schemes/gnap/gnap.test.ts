import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  type SignedFields,
  signedBy,
  testKey,
  type TestRequest,
} from '#shared/gnap/client.fixture.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { issuerAndVerifier, memoryReplay, requestOf, SPACE } from '../../judge/auth.fixture.ts';
import type { AuthRequest, Verdict } from '../../scheme.ts';
import { gnap } from './gnap.ts';

const OF_SPACE = 'https://rs.example/documents/';
const DOCUMENT = `${OF_SPACE}a`;
/** The order of the group of P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const JKT = 'a'.repeat(43);

/** The parts of a request that its signature does not determine. */
type Sent = Partial<Omit<AuthRequest, 'field' | 'lines'>>;

const contentOf = (text: string): NonNullable<AuthRequest['content']> => ({
  digest: async (name) => hash(name, text, 'buffer'),
});

function setup() {
  const parties = issuerAndVerifier();
  const { clock, tokens, now, token: issue } = parties;
  const replay = memoryReplay(clock);
  const scheme = gnap({
    space: { url: OF_SPACE, scopes: SPACE.scopes },
    grantEndpoint: 'https://as.example/gnap',
    mtls: true,
    tokens,
    replay,
    clock,
  });
  const key = testKey('k1', 'ES256');
  /** Returns a token that is bound to a key as the authorization server binds it. */
  const boundTo = ({ byValue: { jwk, proof } } = key, claims: object = {}) => {
    const cnf = { jwk, ...(proof !== 'httpsig' && { proof }) };
    return issue({ cnf, access: ['documents:read'], ...claims }, { typ: 'gnap-at+jwt' });
  };
  const bound = boundTo();
  const sign = (asked: Partial<TestRequest> = {}, by = key) =>
    signedBy(by, { method: 'GET', url: DOCUMENT, token: bound, ...asked }, now());
  /** Sends the fields of a request, with the token that the fields contain. */
  const deliver = async ({ fields, content = '' }: SignedFields, sent: Sent = {}) => {
    const rest = fields['authorization']?.split(' ')[1] ?? '';
    const request = requestOf(Object.entries(fields), { content: contentOf(content), ...sent });
    return scheme.authenticate({ scheme: 'gnap', rest, token68: rest }, request);
  };
  const send = (asked: Partial<TestRequest> = {}, sent: Sent = {}, by = key): Promise<Verdict> =>
    deliver(sign(asked, by), { method: asked.method ?? 'GET', ...sent });
  return { ...parties, issue, replay, scheme, key, bound, boundTo, sign, deliver, send };
}

const granted = { kind: 'granted', principal: { kind: 'application', id: 'machine' } };
const refused = (reason = /./) => ({ kind: 'refused', reason: expect.stringMatching(reason) });

const changed = (
  { fields, content }: SignedFields,
  more: Readonly<Record<string, string>>,
): SignedFields => ({ fields: { ...fields, ...more }, content });

/** Returns the second valid ECDSA signature, which can be computed from the first: s becomes n - s. */
function second(signed: SignedFields): SignedFields {
  const field = signed.fields['signature'] ?? '';
  const octets = Buffer.from(field.slice('sig1=:'.length, -1), 'base64');
  const s = BigInt(`0x${octets.subarray(32).toString('hex')}`);
  const other = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex');
  const whole = Buffer.concat([octets.subarray(0, 32), other]);
  return changed(signed, { signature: `sig1=:${whole.toString('base64')}:` });
}

/** Returns the fields of several signatures; a signature does not cover its label. */
function several(...all: readonly (readonly [label: string, signed: SignedFields])[]) {
  const [[, { fields, content }] = ['', { fields: {}, content: undefined }]] = all;
  const of = (name: string) =>
    all.map(([label, one]) => one.fields[name]?.replace('sig1', label)).join(', ');
  const more = { signature: of('signature'), 'signature-input': of('signature-input') };
  return { fields: { ...fields, ...more }, content };
}

describe('RFC 9635 section 9.1: the challenge', () => {
  const params = {
    as_uri: 'https://as.example/gnap',
    access: `${OF_SPACE} documents:read`,
    referrer: OF_SPACE,
  };

  test('the challenge names the grant endpoint, the access and the space', async () => {
    expect(await setup().scheme.challenge(requestOf())).toEqual([{ scheme: 'GNAP', params }]);
  });

  test('the challenge names the missing access if the token has too little', () => {
    const challenge = setup().scheme.insufficientScope?.(['a', 'b'], requestOf());
    expect(challenge?.params).toEqual({ ...params, access: `${OF_SPACE} a b` });
  });
});

describe('RFC 9635 section 7.2: the token and its key', () => {
  test.each(['ES256', 'RS256', 'EdDSA', 'Ed25519'] as const)(
    'a token that is bound to a key for %s is granted with its signature',
    async (alg) => {
      const { send, boundTo } = setup();
      const key = testKey('other', alg);
      expect(await send({ token: boundTo(key) }, {}, key)).toMatchObject(granted);
    },
  );

  test('the name of the scheme may be in lower case', async () => {
    expect(await setup().send({ scheme: 'gnap' })).toMatchObject(granted);
  });

  test('section 7.3.1: a signature with sha-256 is refused for a key that names sha-512', async () => {
    const { send, boundTo } = setup();
    const proof = { method: 'httpsig', alg: 'ed25519', 'content-digest-alg': 'sha-512' };
    const key = testKey('k5', 'Ed25519', proof);
    const asked = { method: 'POST', json: {}, token: boundTo(key) };
    const sha512 = `sha-512=:${hash('sha512', '{}', 'base64')}:`;
    const right = { ...asked, fields: { 'content-digest': sha512 } };
    expect(await send(asked, {}, key)).toMatchObject(refused(/sha-512/));
    expect(await send(right, {}, key)).toMatchObject(granted);
  });

  test.each([
    ['bound to no key', {}, 'gnap-at+jwt', /Bearer/],
    ['of OAuth, bound to no key', {}, 'at+jwt', /Bearer/],
    ['of OAuth, bound by DPoP', { cnf: { jkt: JKT } }, 'at+jwt', /DPoP/],
    ['bound as by DPoP', { cnf: { jkt: JKT } }, 'gnap-at+jwt', /cnf/],
    ['with an empty binding', { cnf: {} }, 'gnap-at+jwt', /cnf/],
    ['with null for a binding', { cnf: null }, 'gnap-at+jwt', /cnf/],
    ['with a list for a binding', { cnf: [] }, 'gnap-at+jwt', /cnf/],
    ['with a list for a key', { cnf: { jwk: [] } }, 'gnap-at+jwt', /cnf/],
    ['whose access is no list', { access: 'all' }, 'gnap-at+jwt', /access/],
    ['of another type', {}, 'JWT', /typ/],
    ['of a longer type', {}, 'gnap-at+jwt2', /typ/],
    ['that is an ID token', {}, 'JWT', /typ/],
  ])('a token %s is refused as GNAP', async (_, claims, typ, reason) => {
    const { send, issue } = setup();
    expect(await send({ token: issue(claims, { typ }) })).toMatchObject(refused(reason));
  });

  test.each<[string, string, (jwk: object) => object]>([
    ['of OAuth with a whole key', 'at+jwt', (jwk) => ({ jwk })],
    ['bound in both ways', 'gnap-at+jwt', (jwk) => ({ jwk, jkt: JKT })],
    ['bound to a private key', 'gnap-at+jwt', (jwk) => ({ jwk: { ...jwk, d: 'AAAA' } })],
    ['bound to a symmetric key', 'gnap-at+jwt', () => ({ jwk: { kty: 'oct', k: 'A', kid: 'k1' } })],
    ['bound to a key without kid', 'gnap-at+jwt', (jwk) => ({ jwk: { ...jwk, kid: undefined } })],
    ['bound to a key without alg', 'gnap-at+jwt', (jwk) => ({ jwk: { ...jwk, alg: undefined } })],
    ['bound to a key with alg none', 'gnap-at+jwt', (jwk) => ({ jwk: { ...jwk, alg: 'none' } })],
    ['bound to a key with HS256', 'gnap-at+jwt', (jwk) => ({ jwk: { ...jwk, alg: 'HS256' } })],
    ['bound to a key of another alg', 'gnap-at+jwt', (jwk) => ({ jwk: { ...jwk, alg: 'RS256' } })],
    ['with the proof jwsd', 'gnap-at+jwt', (jwk) => ({ jwk, proof: 'jwsd' })],
    ['with null for a proof', 'gnap-at+jwt', (jwk) => ({ jwk, proof: null })],
  ])('a token %s is refused, also with the signature of the key', async (_, typ, cnfOf) => {
    const { send, issue, key } = setup();
    const token = issue({ cnf: cnfOf({ ...key.byValue.jwk }) }, { typ });
    expect(await send({ token })).toMatchObject(refused());
  });

  test("a stolen token with the thief's key under the owner's kid is refused", async () => {
    const { send } = setup();
    expect(await send({}, {}, testKey('k1', 'ES256'))).toMatchObject(refused(/key proof/));
  });

  test("a stolen token with a signature that names the thief's key is refused", async () => {
    const { send, boundTo, bound } = setup();
    const thief = testKey('thief', 'ES256');
    expect(await send({ token: boundTo(thief) }, {}, thief)).toMatchObject(granted);
    expect(await send({ token: bound }, {}, thief)).toMatchObject(refused(/keyid/));
  });

  test('a valid signature with another keyid is refused', async () => {
    const { send } = setup();
    expect(await send({ params: { keyid: 'k2' } })).toMatchObject(refused(/keyid/));
  });

  test('a signature for one token is refused with another token of the same key', async () => {
    const { sign, deliver, boundTo } = setup();
    const authorization = `GNAP ${boundTo(undefined, { jti: 'j2', scope: 'more' })}`;
    expect(await deliver(changed(sign(), { authorization }))).toMatchObject(refused(/key proof/));
  });

  test.each([
    ['expired', { exp: 1_000_000_000 }],
    ['not yet valid', { nbf: 9_000_000_000 }],
    ['for another space', { aud: 'https://rs.example/other/' }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['of another epoch', { epoch: 'e0' }],
  ])('a token that is %s is refused', async (_, claims) => {
    const { send, boundTo } = setup();
    expect(await send({ token: boundTo(undefined, claims) })).toMatchObject(
      refused(/^access token: /),
    );
  });

  test.each([
    ['token', 'j1'],
    ['client', 'machine'],
    ['grant', 'g1'],
    ['person', 'machine'],
  ] as const)('a token is refused after the revocation of its %s', async (kind, id) => {
    const { send, boundTo, revocations } = setup();
    const token = boundTo(undefined, { grant_id: 'g1', sub_gen: 0 });
    expect(await send({ token })).toMatchObject({ kind: 'granted' });
    const generation = kind === 'client' || kind === 'person' ? { generation: 1 } : {};
    revocations.apply({ kind, id, ...generation } as Parameters<typeof revocations.apply>[0], 9e15);
    expect(await send({ token, params: { nonce: '2' } })).toMatchObject(refused(/revoked/));
  });

  test('section 5: the token of a continuation or of management is refused at resources', async () => {
    const { send } = setup();
    for (const token of ['A'.repeat(44), `${'A'.repeat(300)}.${'B'.repeat(43)}`, 'a.b.c.d']) {
      expect(await send({ token })).toMatchObject(refused(/^access token: /));
    }
  });

  test('credentials without a token68 are malformed', async () => {
    const { scheme } = setup();
    const credentials = { scheme: 'gnap', rest: 'a="b"', params: { a: 'b' } };
    expect(await scheme.authenticate(credentials, requestOf())).toMatchObject({
      kind: 'refused',
      as: 'malformed',
    });
  });
});

describe('RFC 9635 section 7.3.2: a token that is bound to a certificate', () => {
  const [own, other] = [Buffer.from('a certificate'), Buffer.from('another certificate')];
  const cnf = { 'x5t#S256': hash('sha256', own, 'base64url') };
  const lineOf = (der: Buffer) => `:${der.toString('base64')}:`;
  const peer = { ...requestOf().peer, trusted: true };

  test.each<[string, readonly string[], boolean, string]>([
    ['its certificate from a trusted proxy', [lineOf(own)], true, 'granted'],
    ['its certificate from anybody', [lineOf(own)], false, 'refused'],
    ['another certificate', [lineOf(other)], true, 'refused'],
    ['two certificates', [lineOf(own), lineOf(other)], true, 'refused'],
    ['a list of certificates', [`${lineOf(other)}, ${lineOf(own)}`], true, 'refused'],
    ['no certificate', [], true, 'refused'],
    ['an empty field', [''], true, 'refused'],
  ])(
    'a token that is bound to a certificate is checked with %s',
    async (_, lines, trusted, kind) => {
      const { scheme, issue, sign } = setup();
      const token = issue({ cnf }, { typ: 'gnap-at+jwt' });
      const shown = lines.map((line) => ['client-cert', line] as const);
      // The signature of a random key does not prove possession of the certificate.
      const fields = [...Object.entries(sign({ token }).fields), ...shown];
      const request = requestOf(fields, { peer: { ...peer, trusted } });
      const credentials = { scheme: 'gnap', rest: token, token68: token };
      expect(await scheme.authenticate(credentials, request)).toMatchObject({ kind });
    },
  );

  test('a token that is bound to a key needs its signature, even if the client has a certificate', async () => {
    const { scheme, bound } = setup();
    const fields = [['client-cert', lineOf(own)]] as const;
    const credentials = { scheme: 'gnap', rest: bound, token68: bound };
    const request = requestOf(fields, { peer });
    expect(await scheme.authenticate(credentials, request)).toMatchObject(refused(/^key proof: /));
  });
});

describe('RFC 9635 section 7.3.1: the signature covers the request', () => {
  const ALL = ['@method', '@target-uri', 'content-digest', 'authorization'];

  test.each(ALL)('a signature without %s is refused', async (name) => {
    const { send } = setup();
    const covered = ALL.filter((one) => one !== name);
    const asked = { method: 'POST', json: { a: 1 }, covered };
    expect(await send(asked)).toMatchObject(refused(/not covered/));
    expect(await send({ ...asked, covered: ALL })).toMatchObject(granted);
  });

  test.each([
    ['the path and the authority for the target', ['@method', '@path', '@authority']],
    ['the request target for the target', ['@method', '@request-target']],
    ['nothing', []],
    ['a field that is not there', ['@method', '@target-uri', 'x-absent']],
    ['a component twice', ['@method', '@target-uri', '@method']],
  ])('a signature that covers %s is refused', async (_, covered) => {
    const { sign, deliver } = setup();
    let signed: SignedFields;
    try {
      signed = sign({ covered: [...covered, 'authorization'] });
    } catch {
      // No client can sign this component, so an attacker claims that the usual signature covers it.
      const components = covered.map((name) => `"${name}"`).join(' ');
      const input = `sig1=(${components});created=1800000000;keyid="k1";tag="gnap"`;
      signed = changed(sign(), { 'signature-input': input });
    }
    expect(await deliver(signed)).toMatchObject(refused(/^key proof: /));
  });

  test('a component with a parameter does not replace the component without it', async () => {
    const { sign, deliver } = setup();
    const signed = sign();
    const input = signed.fields['signature-input']?.replace(
      '"authorization"',
      '"authorization";bs',
    );
    const claimed = changed(signed, { 'signature-input': input ?? '' });
    expect(await deliver(claimed)).toMatchObject(refused(/^key proof: /));
  });

  test.each([
    ['no tag', { tag: undefined }],
    ['another tag', { tag: 'gnap-rotate' }],
    ['a tag in capitals', { tag: 'GNAP' }],
    ['no created', { created: undefined }],
    ['created long ago', { created: 1_000_000_000 }],
    ['created in the far future', { created: 4_000_000_000 }],
    ['created as text', { created: 'now' }],
    ['an end in the past', { expires: 1_000_000_000 }],
    ['no keyid', { keyid: undefined }],
    ['a number for a keyid', { keyid: 1 }],
    ['the parameter alg', { alg: 'ecdsa-p256-sha256' }],
    ['the parameter alg of another algorithm', { alg: 'hmac-sha256' }],
  ])('a signature with %s is refused', async (_, params) => {
    expect(await setup().send({ params })).toMatchObject(refused(/^key proof: /));
  });

  test("`created` may differ from the server's clock by a minute at most", async () => {
    const { send, now } = setup();
    for (const [seconds, kind] of [
      [-60, 'granted'],
      [60, 'granted'],
      [-61, 'refused'],
      [61, 'refused'],
    ] as const) {
      const params = { created: now() + seconds, nonce: `${seconds}` };
      expect(await send({ params })).toMatchObject({ kind });
    }
  });

  test.each<[string, Sent]>([
    ['the method', { method: 'POST' }],
    ['GET to HEAD', { method: 'HEAD' }],
    ['the path', { target: '/documents/b' }],
    ['a query', { target: '/documents/a?x=1' }],
    ['an empty query', { target: '/documents/a?' }],
    ['the spelling of the path', { target: '/documents/%61' }],
    ['the origin', { origin: 'https://other.example' }],
    ['the scheme of the origin', { origin: 'http://rs.example' }],
  ])('a request is refused if what was signed differs in %s', async (_, sent) => {
    expect(await setup().send({}, sent)).toMatchObject(refused(/^key proof: /));
  });

  test('the content must equal the signed content', async () => {
    const { send } = setup();
    const asked = { method: 'POST', json: { amount: 1 } };
    for (const content of ['{"amount":2}', '{"amount":1} ', '']) {
      expect(await send(asked, { content: contentOf(content) })).toMatchObject(
        refused(/another content/),
      );
    }
    expect(await send(asked)).toMatchObject(granted);
  });

  test.each(['GET', 'POST', 'DELETE', 'QUERY'])(
    'content that is added to a %s signed without a digest is refused',
    async (method) => {
      const { send } = setup();
      const content = contentOf('{"amount":1000}');
      expect(await send({ method }, { content })).toMatchObject(refused(/content-digest/));
    },
  );

  test.each([
    ['md5', 'md5=:AAAAAAAAAAAAAAAAAAAAAA==:'],
    ['an empty field', ''],
    ['octets that are no octets', 'sha-256=abc'],
    ['sha-512 alone', `sha-512=:${hash('sha512', '{}', 'base64')}:`],
    ['one algorithm twice', `sha-256=:AAAA:, sha-256=:${hash('sha256', '{}', 'base64')}:`],
    ['a shortened digest', `sha-256=:${hash('sha256', '{}', 'base64').slice(0, 4)}:`],
  ])('a Content-Digest of %s is refused', async (_, value) => {
    const asked = { method: 'POST', json: {}, fields: { 'content-digest': value } };
    expect(await setup().send(asked)).toMatchObject(refused(/content-digest|malformed/));
  });
});

describe('RFC 9421 section 4: the fields of signatures', () => {
  test('two signatures with the tag gnap are refused, in either order', async () => {
    const { sign, deliver } = setup();
    const [good, bad] = [sign(), sign({ params: { nonce: '1' } }, testKey('k1', 'ES256'))];
    const both = [several(['a', good], ['b', bad]), several(['a', bad], ['b', good])];
    for (const one of both) expect(await deliver(one)).toMatchObject(refused(/two signatures/));
  });

  test('a second signature with another tag is ignored', async () => {
    const { sign, deliver } = setup();
    const other = sign({ params: { tag: 'other' } }, testKey('else', 'ES256'));
    expect(await deliver(several(['a', other], ['b', sign()]))).toMatchObject(granted);
  });

  test('a label that comes twice is refused', async () => {
    const { sign, deliver } = setup();
    const other = sign({ params: { tag: 'other' } });
    expect(await deliver(several(['a', other], ['a', sign()]))).toMatchObject(refused(/twice/));
    expect(await deliver(several(['a', sign()], ['a', other]))).toMatchObject(refused(/twice/));
  });

  test.each([
    ['no Signature', { signature: '' }],
    ['no Signature-Input', { 'signature-input': '' }],
    ['a Signature under another label', { signature: 'sig2=:AAAA:' }],
    ['an empty Signature', { signature: 'sig1=::' }],
    ['a Signature that is text', { signature: 'sig1="AAAA"' }],
    ['a Signature of zeros', { signature: `sig1=:${Buffer.alloc(64).toString('base64')}:` }],
    ['a Signature-Input that is no list', { 'signature-input': 'sig1="@method"' }],
    ['nine signatures', { 'signature-input': Array.from('abcdefghi', (a) => `${a}=()`).join() }],
  ])('a request with %s is refused', async (_, fields) => {
    const { sign, deliver } = setup();
    expect(await deliver(changed(sign(), fields))).toMatchObject(refused(/^key proof: /));
  });

  test('a request without any signature is refused', async () => {
    const { deliver, bound } = setup();
    const fields = { authorization: `GNAP ${bound}` };
    expect(await deliver({ fields, content: undefined })).toMatchObject(refused(/^key proof: /));
  });
});

describe('RFC 9635 section 7.3.1: replay', () => {
  const POST = { method: 'POST', json: { a: 1 } };

  test('one of ten equal unsafe requests at the same time is granted', async () => {
    const { sign, deliver } = setup();
    const signed = sign(POST);
    const sent = Array.from({ length: 10 }, () => deliver(signed, { method: 'POST' }));
    const verdicts = await Promise.all(sent);
    expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(1);
    expect(verdicts.filter(({ kind }) => kind === 'refused')).toHaveLength(9);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'MOVE', 'LOCK', 'BREW'])(
    'a replay of %s is refused',
    async (method) => {
      const { sign, deliver } = setup();
      const signed = sign({ method });
      expect(await deliver(signed, { method })).toMatchObject(granted);
      expect(await deliver(signed, { method })).toMatchObject(refused(/used before/));
    },
  );

  test('the store remembers a signature for as long as it could be accepted', async () => {
    const { sign, deliver, clock, now } = setup();
    const signed = sign({ ...POST, params: { created: now() + 60 } });
    expect(await deliver(signed, { method: 'POST' })).toMatchObject(granted);
    for (let waited = 0; waited < 130; waited += 10) {
      expect(await deliver(signed, { method: 'POST' })).toMatchObject(refused(/^key proof: /));
      clock.advance(10);
    }
  });

  test('a second valid ECDSA signature of the same request is a replay', async () => {
    const { sign, deliver } = setup();
    const signed = sign(POST);
    expect(await deliver(signed, { method: 'POST' })).toMatchObject(granted);
    expect(await deliver(second(signed), { method: 'POST' })).toMatchObject(refused(/used before/));
  });

  test('the same signature under another label is a replay', async () => {
    const { sign, deliver } = setup();
    const signed = sign(POST);
    expect(await deliver(signed, { method: 'POST' })).toMatchObject(granted);
    const again = several(['another', signed]);
    expect(await deliver(again, { method: 'POST' })).toMatchObject(refused(/used before/));
  });

  test('a safe request may be repeated, since clients need not send a nonce', async () => {
    const { sign, deliver } = setup();
    const signed = sign();
    expect(await deliver(signed)).toMatchObject(granted);
    expect(await deliver(signed)).toMatchObject(granted);
  });

  test('a safe request with a nonce may not be repeated, and its nonce may not be used again', async () => {
    const { sign, deliver, send } = setup();
    const signed = sign({ params: { nonce: 'n1' } });
    expect(await deliver(signed)).toMatchObject(granted);
    expect(await deliver(signed)).toMatchObject(refused(/used before/));
    const fields = { 'x-other': '1' };
    expect(await send({ params: { nonce: 'n1' }, fields })).toMatchObject(refused(/used before/));
  });

  test('two keys may use the same nonce', async () => {
    const { send, boundTo } = setup();
    const other = testKey('k2', 'ES256');
    expect(await send({ params: { nonce: 'n1' } })).toMatchObject(granted);
    const theirs = { token: boundTo(other), params: { nonce: 'n1' } };
    expect(await send(theirs, {}, other)).toMatchObject(granted);
  });

  // A handshake opens a connection that writes, but its signature covers only the method and the target.
  test('the replay of a WebSocket handshake is refused, although its method is GET', async () => {
    const { sign, deliver } = setup();
    const signed = sign();
    expect(await deliver(signed, { handshake: true })).toMatchObject(granted);
    expect(await deliver(signed, { handshake: true })).toMatchObject(refused(/used before/));
  });

  test('a forged signature does not use up the nonce of a true one', async () => {
    const { sign, deliver } = setup();
    const signed = sign({ ...POST, params: { nonce: 'n1' } });
    const forged = changed(signed, {
      signature: `sig1=:${Buffer.alloc(64, 1).toString('base64')}:`,
    });
    expect(await deliver(forged, { method: 'POST' })).toMatchObject(refused(/^key proof: /));
    const other = { method: 'POST', content: contentOf('{}') };
    expect(await deliver(signed, other)).toMatchObject(refused(/another content/));
    expect(await deliver(signed, { method: 'POST' })).toMatchObject(granted);
  });

  test('no request that must be unique is granted while the store is down', async () => {
    const { send, replay } = setup();
    replay.down = true;
    await expect(send(POST)).rejects.toThrow(StoreUnavailable);
    await expect(send({ params: { nonce: 'n1' } })).rejects.toThrow(StoreUnavailable);
  });

  test('no verdict is given while the feed is down', async () => {
    const { send, state } = setup();
    state.feedDown = true;
    expect(await send()).toMatchObject({ kind: 'unavailable', status: 503 });
  });
});

describe('requests without their content, as at /verify', () => {
  const without = ({ fields }: SignedFields) =>
    requestOf(Object.entries(fields).filter(([name]) => name !== 'content-type'));

  test.each(['GET', 'HEAD', 'DELETE'])('a %s without content is granted', async (method) => {
    const { sign, scheme, bound } = setup();
    const { content: _, ...request } = { ...without(sign({ method })), method };
    const credentials = { scheme: 'gnap', rest: bound, token68: bound };
    expect(await scheme.authenticate(credentials, request)).toMatchObject(granted);
  });

  test.each(['POST', 'PUT', 'PATCH', 'QUERY', 'OPTIONS', 'PROPFIND', 'LOCK', 'BREW'])(
    '%s without content is refused, with a digest and without',
    async (method) => {
      const { sign, scheme, bound } = setup();
      const credentials = { scheme: 'gnap', rest: bound, token68: bound };
      for (const json of [undefined, { a: 1 }]) {
        const signed = sign({ method, ...(json && { json }) });
        expect(
          await scheme.authenticate(credentials, { ...without(signed), method }),
        ).toMatchObject(refused(/not seen here/));
      }
    },
  );

  test('a GET with a digest of other content than none is refused', async () => {
    const { sign, scheme, bound } = setup();
    const credentials = { scheme: 'gnap', rest: bound, token68: bound };
    expect(await scheme.authenticate(credentials, without(sign({ json: {} })))).toMatchObject(
      refused(/another content/),
    );
  });
});

describe('RFC 9112 section 3.2.2: a target in absolute-form', () => {
  test.each([
    'https://rs.example/documents/a',
    'http://evil.example/documents/a',
    'HTTPS://EVIL.example:9/documents/a',
  ])('%s is verified with the configured origin', async (target) => {
    expect(await setup().send({}, { target })).toMatchObject(granted);
  });

  test.each([
    'https://evil.example/documents/a',
    'https://rs.example.evil.example/documents/a',
    'https://rs.example@evil.example/documents/a',
    'http://rs.example/documents/a',
  ])('a signature for %s is refused', async (target) => {
    const url = target.replace('rs.example@', '');
    expect(await setup().send({ url }, { target })).toMatchObject(refused(/^key proof: /));
  });
});
