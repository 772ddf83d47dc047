import {
  createHash,
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  randomUUID,
} from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signJws } from '#shared/jose/jws.fixture.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { startStore, STORE_KINDS } from '../flows/flow.ts';
import { addKeyClient } from '../interop/oauth/key-client.ts';
import { rawHttp, statusOf } from '../parts/raw-http.ts';

/** Codes, tokens and proofs for one use, used again at another process, on both stores. */
type Members = Readonly<Record<string, unknown>>;

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const GRANT = { grant_type: 'client_credentials' };
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${btoa(`${id}:${secret}`)}`,
});

describe.each(STORE_KINDS)('replay across processes, %s', (kind) => {
  const own = new AsyncDisposableStack();
  let two: Pair;
  let client: { id: string; secret: string };
  const holder = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = holder.publicKey.export({ format: 'jwk' });

  beforeAll(async () => {
    const store = await startStore(kind, own);
    two = own.use(await startPair({ authz: 2, resource: 2, ...store }));
    client = await two.addClient();
  });
  afterAll(() => own.disposeAsync());

  const proof = (
    method: string,
    url: string,
    token?: string,
    different: Members = {},
    header: Members = {},
  ) => {
    const ath = token && createHash('sha256').update(token).digest('base64url');
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      jti: randomUUID(),
      htm: method,
      htu: url,
      iat,
      ...(ath && { ath }),
      ...different,
    };
    return signJws({ typ: 'dpop+jwt', alg: 'ES256', jwk, ...header }, claims, holder.privateKey);
  };
  const getToken = (dpop: string, server = 0) =>
    fetch(`${two.authz[server]?.url}/token`, {
      method: 'POST',
      headers: { ...basic(client.id, client.secret), dpop },
      body: new URLSearchParams(GRANT),
    });
  const bound = async () => {
    const answer = await getToken(proof('POST', `${two.issuer}/token`));
    return String(((await answer.json()) as { access_token?: string }).access_token);
  };
  const use = (token: string, dpop: string, server = 0) =>
    fetch(`${two.resources[server]?.url}/documents/`, {
      headers: { authorization: `DPoP ${token}`, dpop },
    });
  const count = (answers: readonly Response[], status: number) =>
    answers.filter((one) => one.status === status).length;

  test('RFC 9449 section 11.1: if a proof is used ten times at two resource servers, one use succeeds', async () => {
    const token = await bound();
    for (let round = 0; round < 5; round += 1) {
      const dpop = proof('GET', two.documents, token);
      const uses = Array.from({ length: 10 }, (_, index) => use(token, dpop, index % 2));
      const answers = await Promise.all(uses);
      expect([count(answers, 200), count(answers, 401)]).toEqual([1, 9]);
      expect(
        answers.every(({ status, headers }) => status === 200 || headers.has('www-authenticate')),
      ).toBe(true);
    }
  });

  test('RFC 9449 section 11.1: if a proof is used ten times at two authorization servers, one use succeeds', async () => {
    const dpop = proof('POST', `${two.issuer}/token`);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => getToken(dpop, index % 2)),
    );
    expect([count(answers, 200), count(answers, 400)]).toEqual([1, 9]);
  });

  test('RFC 7523 section 3: if a client assertion is used ten times at two servers, one use succeeds', async () => {
    const { id, privateJwk } = await addKeyClient(two);
    const key = createPrivateKey({
      key: { ...privateJwk },
      format: 'jwk',
    });
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: id, sub: id, aud: two.issuer, jti: randomUUID(), iat, exp: iat + 60 };
    const body = new URLSearchParams({
      ...GRANT,
      client_assertion_type: ASSERTION,
      client_assertion: signJws({ alg: 'ES256' }, claims, key),
    });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        fetch(`${two.authz[index % 2]?.url}/token`, { method: 'POST', body }),
      ),
    );
    expect([count(answers, 200), count(answers, 401)]).toEqual([1, 9]);
  });

  test('RFC 9449 section 4.3: a proof with any single fault gets 401', async () => {
    const token = await bound();
    const url = two.documents;
    const iat = Math.floor(Date.now() / 1000);
    const privateJwk = holder.privateKey.export({ format: 'jwk' });
    const hs256 = createHmac('sha256', 'x').update('').digest('base64url');
    const good = () => proof('GET', url, token);
    const wrong: Record<string, string> = {
      'another method': proof('POST', url, token),
      'another URL': proof('GET', `${url}a`, token),
      'the URL of the process': proof('GET', `https://127.0.0.1/documents/`, token),
      'another token': proof('GET', url, 'other'),
      'no token': proof('GET', url),
      old: proof('GET', url, token, { iat: iat - 300 }),
      'in the future': proof('GET', url, token, { iat: iat + 300 }),
      'no jti': proof('GET', url, token, { jti: undefined }),
      'an endless jti': proof('GET', url, token, { jti: 'x'.repeat(2000) }),
      'typ JWT': proof('GET', url, token, {}, { typ: 'JWT' }),
      'alg none': proof('GET', url, token, {}, { alg: 'none' }),
      'alg HS256': proof('GET', url, token, {}, { alg: 'HS256', jwk: { kty: 'oct', k: hs256 } }),
      'a private key': proof('GET', url, token, {}, { jwk: privateJwk }),
      'no key': proof('GET', url, token, {}, { jwk: undefined }),
      'another key': proof(
        'GET',
        url,
        token,
        {},
        { jwk: other.publicKey.export({ format: 'jwk' }) },
      ),
      'two proofs': `${good()}, ${good()}`,
      'no proof': '',
    };
    for (const [what, dpop] of Object.entries(wrong)) {
      const { status, headers } = await use(token, dpop);
      expect([what, status]).toEqual([what, 401]);
      expect(headers.get('www-authenticate')).toContain('DPoP realm="documents", error="invalid_');
    }
    expect((await use(token, good())).status).toBe(200);
  });

  test('RFC 9449 section 4.3: two DPoP fields get 400 at both servers', async () => {
    const token = await bound();
    const lines = [1, 2].map(() => `DPoP: ${proof('GET', two.documents, token)}\r\n`).join('');
    const request = `GET /documents/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: DPoP ${token}\r\n${lines}\r\n`;
    expect(statusOf(await rawHttp(two.resource, request))).toBe(400);
    const proofs = [1, 2].map(() => `DPoP: ${proof('POST', `${two.issuer}/token`)}\r\n`).join('');
    const { authorization } = basic(client.id, client.secret);
    const form = 'grant_type=client_credentials';
    const asking = `POST /token HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: ${authorization}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n${proofs}\r\n${form}`;
    expect(statusOf(await rawHttp(two.issuer, asking))).toBe(400);
  });
});
