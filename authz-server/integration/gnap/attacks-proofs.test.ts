import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { signedBy, type SignedFields, type TestKey, testKey } from '#shared/gnap/client.fixture.ts';
import { GENERATE } from '#shared/jose/jws.fixture.ts';
import { ask as askExactly } from '#shared/server/wire/ask.fixture.ts';
import {
  ask,
  BOTH,
  decide,
  deliver,
  errorOf,
  given,
  gnap,
  idOf,
  open,
  ORDER,
  refOf,
  refusedWith,
  reopen,
  send,
  tenTimes,
  tokenOf,
} from './attacks.fixture.ts';
import { READ, REDIRECT } from './gnap.fixture.ts';

describe('RFC 9635 section 7.1: the key that a client sends', () => {
  const { jwk } = testKey('k1', 'ES256').byValue;
  const rsa = testKey('k1', 'RS256').byValue.jwk;
  const small = GENERATE.EdDSA().publicKey.export({ format: 'jwk' });

  test.each<[string, unknown]>([
    ['a private key', { proof: 'httpsig', jwk: { ...jwk, d: 'AAAA' } }],
    ['a private key of RSA', { proof: 'httpsig', jwk: { ...rsa, d: 'AAAA', p: 'A', q: 'A' } }],
    ['a factor of RSA alone', { proof: 'httpsig', jwk: { ...rsa, dp: 'AAAA' } }],
    [
      'a symmetric key',
      { proof: 'httpsig', jwk: { kty: 'oct', k: 'AAAA', kid: 'k', alg: 'HS256' } },
    ],
    ['a public key with a symmetric one in it', { proof: 'httpsig', jwk: { ...jwk, k: 'AAAA' } }],
    ['alg none', { proof: 'httpsig', jwk: { ...jwk, alg: 'none' } }],
    ['alg HS256', { proof: 'httpsig', jwk: { ...jwk, alg: 'HS256' } }],
    ['alg of another key type', { proof: 'httpsig', jwk: { ...jwk, alg: 'EdDSA' } }],
    ['no alg', { proof: 'httpsig', jwk: { ...jwk, alg: undefined } }],
    ['no kid', { proof: 'httpsig', jwk: { ...jwk, kid: undefined } }],
    ['an empty kid', { proof: 'httpsig', jwk: { ...jwk, kid: '' } }],
    ['a number as kid', { proof: 'httpsig', jwk: { ...jwk, kid: 1 } }],
    ['a kid of 300 characters', { proof: 'httpsig', jwk: { ...jwk, kid: 'k'.repeat(300) } }],
    ['a key for encryption', { proof: 'httpsig', jwk: { ...jwk, use: 'enc' } }],
    ['a key that only signs', { proof: 'httpsig', jwk: { ...jwk, key_ops: ['sign'] } }],
    ['a point that is not on the curve', { proof: 'httpsig', jwk: { ...jwk, x: 'AAAA' } }],
    [
      'a short key of Ed25519',
      { proof: 'httpsig', jwk: { ...small, kid: 'k', alg: 'EdDSA', x: 'AA' } },
    ],
    ['a short modulus', { proof: 'httpsig', jwk: { ...rsa, n: String(rsa['n']).slice(0, 80) } }],
    ['the exponent 1', { proof: 'httpsig', jwk: { ...rsa, e: 'AQ' } }],
    ['a huge exponent', { proof: 'httpsig', jwk: { ...rsa, e: 'A'.repeat(2).repeat(200) } }],
    ['two formats', { proof: 'httpsig', jwk, cert: 'MIIC' }],
    ['a certificate for httpsig', { proof: 'httpsig', cert: 'MIIC' }],
    ['the thumbprint of a certificate for httpsig', { proof: 'httpsig', 'cert#S256': 'a' }],
    ['a JWK for mtls', { proof: 'mtls', jwk }],
    ['the proof jwsd', { proof: 'jwsd', jwk }],
    ['the proof jws', { proof: 'jws', jwk }],
    ['no proof', { jwk }],
    ['a list as proof', { proof: ['httpsig'], jwk }],
    [
      'hmac as proof',
      { proof: { method: 'httpsig', alg: 'hmac-sha256', 'content-digest-alg': 'sha-256' }, jwk },
    ],
    [
      'a proof of another algorithm',
      { proof: { method: 'httpsig', alg: 'ed25519', 'content-digest-alg': 'sha-256' }, jwk },
    ],
    [
      'a proof with md5',
      { proof: { method: 'httpsig', alg: 'ecdsa-p256-sha256', 'content-digest-alg': 'md5' }, jwk },
    ],
    ['a proof without a digest', { proof: { method: 'httpsig', alg: 'ecdsa-p256-sha256' }, jwk }],
    ['a list as key', [{ proof: 'httpsig', jwk }]],
    ['a list as JWK', { proof: 'httpsig', jwk: [jwk] }],
    ['a reference', 'https://keys.example/1'],
    ['null', null],
    ['nothing', undefined],
  ])('a request with this key is refused: %s', async (_, key) => {
    const told = await send('/gnap', { json: { ...READ, client: { key } } });
    expect(told.status).toBe(400);
    expect(['invalid_client', 'invalid_request']).toContain(errorOf(told));
  });

  test('a key identifies the same client, however its numbers are written', async () => {
    const key = testKey('machine', 'ES256');
    await gnap.register(key);
    expect((await ask(READ, key)).status).toBe(200);
    const { jwk: own } = key.byValue;
    const written: Readonly<Record<string, unknown>>[] = [
      { x: `${String(own['x'])}=` },
      { x: `${String(own['x'])}\n` },
      { x: Buffer.from(String(own['x']), 'base64url').toString('base64') },
      { x: ` ${String(own['x'])}` },
    ];
    for (const more of written) {
      const client = { key: { proof: 'httpsig', jwk: { ...own, ...more } } };
      // An unknown client would be told that the request needs a person.
      const code = errorOf(await send('/gnap', { json: { ...READ, client } }, key));
      expect([more, code]).not.toEqual([more, 'request_denied']);
    }
  });

  test('members that the key does not use are not in its tokens', async () => {
    const { jwk: own } = gnap.key.byValue;
    const junk = { y: 'junk', n: { junk: true }, e: ['junk'], use: 'sig', x5c: ['junk'] };
    const client = { key: { proof: 'httpsig', jwk: { ...own, ...junk } } };
    const asked = await send('/gnap', { json: { ...READ, client, interact: REDIRECT } });
    const browser = await gnap.flow.signedIn('alice');
    const ref = refOf(await decide(browser, await open(asked, browser)));
    const token = tokenOf(await gnap.proceed(asked, ref));
    expect(decodeJwt(token)).toMatchObject({ cnf: { jwk: own } });
    expect(JSON.stringify(decodeJwt(token))).not.toContain('junk');
  });
});

describe('RFC 9635 section 7.3: the proof of the key', () => {
  const ALL = ['@method', '@target-uri', 'content-digest', 'authorization'];

  test.each([
    ['"@method"', { covered: ['@target-uri', 'content-digest'] }],
    ['"@target-uri"', { covered: ['@method', 'content-digest'] }],
    ['"content-digest"', { covered: ['@method', '@target-uri'] }],
    ['tag', { params: { tag: undefined } }],
    ['created', { params: { created: undefined } }],
    ['keyid', { params: { keyid: undefined } }],
  ])('a signature without %s is refused', async (_, asked) => {
    const json = { client: { key: gnap.key.byValue }, ...READ, interact: REDIRECT };
    expect(await send('/gnap', { json, ...asked })).toMatchObject(refusedWith('invalid_client'));
  });

  test.each(['/gnap', '/gnap/continue'])(
    'at %s a signature that does not cover the token is refused',
    async (path) => {
      const { told } = await given();
      const token = told.body.continue.access_token.value;
      const json = { client: { key: gnap.key.byValue }, ...READ, interact: REDIRECT };
      const covered = ALL.filter((name) => name !== 'authorization');
      gnap.flow.clock.advance(5);
      const asked = { token, json: path === '/gnap' ? json : {}, covered };
      expect(await send(path, asked)).toMatchObject(refusedWith('invalid_client'));
    },
  );

  test.each([
    ['another tag', { tag: 'gnap-rotate' }],
    ['created too early', { created: 1_000_000_000 }],
    ['created too late', { created: 4_000_000_000 }],
    ['an end in the past', { expires: 1_000_000_000 }],
    ['the parameter alg', { alg: 'ed25519' }],
    ['another keyid', { keyid: 'k2' }],
  ])('a signature with %s is refused', async (_, params) => {
    const json = { client: { key: gnap.key.byValue }, ...READ, interact: REDIRECT };
    expect(await send('/gnap', { json, params })).toMatchObject(refusedWith('invalid_client'));
  });

  test('a request for another key than the one that signs is refused', async () => {
    const machine = testKey('k1');
    const { client_id } = await gnap.register(machine);
    for (const client of [{ key: machine.byValue }, client_id]) {
      const json = { ...READ, client };
      expect(await send('/gnap', { json })).toMatchObject(refusedWith('invalid_client'));
      expect(await send('/gnap', { json }, machine)).toMatchObject({ status: 200 });
    }
  });

  test('a registered key of signatures is not proved by a certificate with its thumbprint', async () => {
    await reopen({ trustedProxies: ['127.0.0.0/8'] });
    const machine = testKey('k1');
    await gnap.register(machine);
    const key = { proof: 'mtls', 'cert#S256': idOf(machine).replace('gnap-', '') };
    const content = JSON.stringify({ ...READ, client: { key } });
    const fields = { 'content-type': 'application/json', 'client-cert': ':AAAA:' };
    expect(await deliver('/gnap', { fields, content })).toMatchObject(
      refusedWith('invalid_client'),
    );
  });

  test('section 2.3: the identifier of an OAuth client, or of no client, is refused', async () => {
    for (const client of ['app', 'tv', 'web', 'gnap-', '__proto__', `gnap-${'a'.repeat(43)}`]) {
      const told = await send('/gnap', { json: { ...READ, client } });
      expect(told).toMatchObject(refusedWith('invalid_client'));
    }
  });

  test('if only registered clients may ask for grants, an unknown key is refused', async () => {
    await reopen({ gnap: {} });
    expect(await ask({ ...READ, interact: REDIRECT })).toMatchObject(refusedWith('invalid_client'));
  });

  test('an unknown client that a person has allowed is not a registered client', async () => {
    await reopen({ gnap: { clients: 'registered' } });
    const { byValue: key } = gnap.key;
    // The store has such a record if the configuration formerly allowed any client.
    await gnap.register(gnap.key, {
      gnap: { key, unknown: true },
      grant_types: ['authorization_code'],
    });
    expect(await ask({ ...READ, interact: REDIRECT })).toMatchObject(refusedWith('invalid_client'));
  });

  test.each([
    ['another path', { url: 'https://evil.example/gnap' }],
    ['the same path with a query', { url: 'http://localhost:3000/gnap?a' }],
  ])('a signature for %s is refused', async (_, { url }) => {
    const json = { client: { key: gnap.key.byValue }, ...READ, interact: REDIRECT };
    expect(await send('/gnap', { json, url })).toMatchObject(refusedWith('invalid_client'));
  });

  test('section 7.3.1: the content is the one whose digest is signed', async () => {
    const json = { client: { key: gnap.key.byValue }, ...READ, interact: REDIRECT };
    const url = `${gnap.issuer}/gnap`;
    const { fields } = signedBy(gnap.key, { method: 'POST', url, json }, gnap.now());
    const more = JSON.stringify({ ...json, ...BOTH });
    for (const content of [more, `${JSON.stringify(json)} `, '{}']) {
      expect(await deliver('/gnap', { fields, content })).toMatchObject({ status: 400 });
    }
    const { 'content-digest': _, ...undigested } = fields;
    expect(await deliver('/gnap', { fields: undigested, content: more })).toMatchObject(
      refusedWith('invalid_client'),
    );
  });

  test('RFC 9112 section 3.2.2: a signed target in absolute-form is valid at the issuer', async () => {
    const signed = (url: string) =>
      signedBy(
        gnap.key,
        {
          method: 'POST',
          url,
          json: { client: { key: gnap.key.byValue }, ...READ, interact: REDIRECT },
        },
        gnap.now(),
      );
    const { port } = new URL(gnap.flow.authz.url);
    const sent = async (path: string, { fields, content }: SignedFields) => {
      const headers = { ...fields, host: new URL(gnap.issuer).host };
      const call = { headers, ...(content !== undefined && { body: content }) };
      return (await askExactly(Number(port), 'POST', path, call)).status;
    };
    expect(await sent('http://evil.example/gnap', signed('http://evil.example/gnap'))).not.toBe(
      200,
    );
    expect(await sent(`${gnap.issuer}/gnap`, signed(`${gnap.issuer}/gnap`))).toBe(200);
  });
});

describe('RFC 9635 section 7.3.1: replay', () => {
  const fieldsOf = (key: TestKey, params: object = {}) =>
    signedBy(
      key,
      {
        method: 'POST',
        url: `${gnap.issuer}/gnap`,
        json: { client: { key: key.byValue }, ...READ, interact: REDIRECT },
        params: { ...params },
      },
      gnap.now(),
    );

  test('if ten equal requests come at the same time, one is answered', async () => {
    const signed = fieldsOf(gnap.key);
    const told = await tenTimes(() => deliver('/gnap', signed));
    expect(told.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(told.map(errorOf))).toEqual(new Set([undefined, 'invalid_client']));
  });

  test('the second valid signature of ECDSA is a replay', async () => {
    const key = testKey('k1', 'ES256');
    const signed = fieldsOf(key);
    expect((await deliver('/gnap', signed)).status).toBe(200);
    const field = signed.fields['signature'] ?? '';
    const octets = Buffer.from(field.slice('sig1=:'.length, -1), 'base64');
    const s = BigInt(`0x${octets.subarray(32).toString('hex')}`);
    const other = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex');
    const signature = `sig1=:${Buffer.concat([octets.subarray(0, 32), other]).toString('base64')}:`;
    const again = { ...signed, fields: { ...signed.fields, signature } };
    expect(await deliver('/gnap', again)).toMatchObject(refusedWith('invalid_client'));
  });

  test('a nonce can be used once, even if other parts of the request differ', async () => {
    const params = { nonce: 'the same' };
    expect((await deliver('/gnap', fieldsOf(gnap.key, params))).status).toBe(200);
    gnap.flow.clock.advance(1);
    expect(await deliver('/gnap', fieldsOf(gnap.key, params))).toMatchObject(
      refusedWith('invalid_client'),
    );
    expect((await deliver('/gnap', fieldsOf(testKey('k1'), params))).status).toBe(200);
  });

  test('a signature is remembered for as long as it would be accepted', async () => {
    const signed = fieldsOf(gnap.key, { created: gnap.now() + 60 });
    expect((await deliver('/gnap', signed)).status).toBe(200);
    for (let waited = 0; waited < 130; waited += 13) {
      expect((await deliver('/gnap', signed)).status).toBe(400);
      gnap.flow.clock.advance(13);
    }
  });
});
