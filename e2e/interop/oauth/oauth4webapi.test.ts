import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import type { AuthorizationServer, DPoPHandle } from 'oauth4webapi';
import { dpopProver } from '../../setup/dpop-prover.ts';
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import { addKeyClient } from './key-client.ts';

/** oauth4webapi as a client and as a resource server. Both servers require nonces. */
const INSECURE = { [oauth.allowInsecureRequests]: true };

let pair: Pair;
let machine: { id: string; secret: string };
let as: AuthorizationServer;

beforeAll(async () => {
  pair = await startPair({
    settings: ({ resource }) => ({
      tokens: { nonce: true },
      spaces: (['ES256', 'RS256', 'EdDSA'] as const).map((alg) => ({
        url: `${resource}/${alg}/`,
        realm: alg,
        schemes: ['Bearer', 'DPoP'],
        scopes: { safe: ['read'], unsafe: ['write'] },
        alg,
        nonce: true,
      })),
    }),
  });
  machine = await pair.addClient('read write');
  const issuer = new URL(pair.issuer);
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE });
  as = await oauth.processDiscoveryResponse(issuer, found);
});
afterAll(() => pair[Symbol.asyncDispose]());

const space = (alg = 'ES256') => `${pair.resource}/${alg}/`;
const asMachine = () =>
  [as, { client_id: machine.id }, oauth.ClientSecretBasic(machine.secret)] as const;

/** Repeats the attempt once if the server requires a nonce (RFC 9449 section 8). */
async function again<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return attempt();
  }
}

async function getToken(
  options: { resource?: string; scope?: string; DPoP?: DPoPHandle } = {},
): Promise<string> {
  const { resource = space(), scope = 'read write', DPoP } = options;
  const parameters = { resource, scope };
  const { access_token } = await again(async () => {
    const extra = { ...INSECURE, ...(DPoP && { DPoP }) };
    const answer = await oauth.clientCredentialsGrantRequest(...asMachine(), parameters, extra);
    return oauth.processClientCredentialsResponse(as, { client_id: machine.id }, answer);
  });
  return access_token;
}

const newKey = async (alg = 'ES256') => oauth.DPoP({}, await oauth.generateKeyPair(alg));

const send = (token: string, url: string, method = 'GET', DPoP?: DPoPHandle, body?: string) =>
  again(() =>
    oauth.protectedResourceRequest(token, method, new URL(url), undefined, body, {
      ...INSECURE,
      ...(DPoP && { DPoP }),
    }),
  );

/** Returns the challenges in a promise's rejection. */
async function challengesOf(promise: Promise<unknown>) {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
  return error;
}

describe('resource discovery (RFC 9728)', () => {
  test('section 5: leads from a refusal to the metadata, the issuer, a token and the resource', async () => {
    const url = `${space()}found.txt`;
    const { status, cause } = await challengesOf(send('none', url));
    expect(status).toBe(401);
    expect(cause.map(({ scheme }) => scheme)).toEqual(['bearer', 'dpop']);
    const [bearer] = cause;
    const metadataUrl = bearer?.parameters['resource_metadata'] ?? '';
    expect(metadataUrl).toBe(`${pair.resource}/.well-known/oauth-protected-resource/ES256/`);
    expect(bearer?.parameters['scope']).toBe('read');

    const metadata = await oauth.processResourceDiscoveryResponse(
      new URL(space()),
      await fetch(metadataUrl),
    );
    expect(metadata).toMatchObject({
      resource: space(),
      authorization_servers: [pair.issuer],
      scopes_supported: ['read', 'write'],
      bearer_methods_supported: ['header'],
      dpop_bound_access_tokens_required: false,
    });
    const token = await getToken({ resource: metadata.resource });
    expect((await send(token, url, 'PUT', undefined, 'found')).status).toBe(201);
  });

  test('section 3.1: works from the identifier of the resource', async () => {
    const identifier = new URL(space('RS256'));
    const answer = await oauth.resourceDiscoveryRequest(identifier, INSECURE);
    const metadata = await oauth.processResourceDiscoveryResponse(identifier, answer);
    expect(metadata.resource).toBe(space('RS256'));
  });

  test('section 3.3: there is no metadata for another identifier', async () => {
    for (const path of ['ES256/a', 'es256/', '', 'ES256/../RS256/']) {
      const url = `${pair.resource}/.well-known/oauth-protected-resource/${path}`;
      const { status } = await fetch(url);
      // The URL parser resolves the dots before the request.
      expect([path, status]).toEqual([path, path.endsWith('RS256/') ? 200 : 404]);
    }
  });
});

describe('DPoP, with nonces required by both servers (RFC 9449 sections 8 and 9)', () => {
  test.each(['ES256', 'RS256', 'EdDSA', 'Ed25519'])('works with a key of %s', async (alg) => {
    const DPoP = await newKey(alg === 'EdDSA' ? 'Ed25519' : alg);
    const token = await getToken({ DPoP });
    expect((await send(token, `${space()}${alg}.txt`, 'PUT', DPoP, alg)).status).toBe(201);
    const read = await send(token, `${space()}${alg}.txt`, 'GET', DPoP);
    expect(await read.text()).toBe(alg);
    expect(read.headers.get('dpop-nonce')).not.toBeNull();
  });

  test('section 9: a request without a nonce gets 401 use_dpop_nonce, and succeeds with the nonce', async () => {
    const DPoP = await newKey();
    const token = await getToken({ DPoP });
    const attempt = () =>
      oauth.protectedResourceRequest(token, 'GET', new URL(space()), undefined, undefined, {
        ...INSECURE,
        DPoP,
      });
    const error = await challengesOf(attempt());
    expect(oauth.isDPoPNonceError(error)).toBe(true);
    expect(error.response.headers.get('dpop-nonce')).not.toBeNull();
    expect((await attempt()).status).toBe(200);
  });

  test('a nonce of one server is refused at the other', async () => {
    const prover = await dpopProver();
    const atIssuer = async (nonce?: string) => {
      const url = `${pair.issuer}/token`;
      const dpop = await prover.proof({ method: 'POST', url, nonce });
      const authorization = `Basic ${btoa(`${machine.id}:${machine.secret}`)}`;
      const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'read' });
      return fetch(url, { method: 'POST', headers: { authorization, dpop }, body });
    };
    const issuerNonce = (await atIssuer()).headers.get('dpop-nonce') ?? '';
    const granted = await atIssuer(issuerNonce);
    const { access_token: accessToken } = (await granted.json()) as { access_token: string };

    const atResource = async (nonce: string) => {
      const dpop = await prover.proof({ method: 'GET', url: space(), accessToken, nonce });
      const authorization = `DPoP ${accessToken}`;
      return fetch(space(), { headers: { authorization, dpop } });
    };
    const refused = await atResource(issuerNonce);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('error="use_dpop_nonce"');
    const resourceNonce = refused.headers.get('dpop-nonce') ?? '';
    expect((await atResource(resourceNonce)).status).toBe(200);
    expect((await atIssuer(resourceNonce)).status).toBe(400);
    const otherSpace = await fetch(space('RS256'), {
      headers: { authorization: `DPoP ${accessToken}`, dpop: 'none' },
    });
    expect(otherSpace.headers.get('dpop-nonce')).not.toBe(resourceNonce);
  });

  test('section 7.2: a bound token as Bearer, and an unbound token with a proof, are refused', async () => {
    const DPoP = await newKey();
    const bound = await challengesOf(send(await getToken({ DPoP }), space()));
    expect(bound.status).toBe(401);
    const unbound = await challengesOf(send(await getToken(), space(), 'GET', DPoP));
    expect(unbound.status).toBe(401);
  });
});

describe('a third-party resource server', () => {
  const asServer = async (url: string) => {
    const args = ['--name', 'RS', '--grant', 'client_credentials', '--introspects', url];
    const { client_id, client_secret } = await pair.cli('client', 'add', ...args);
    const client = { client_id: String(client_id) };
    return [as, client, oauth.ClientSecretBasic(String(client_secret))] as const;
  };

  test('RFC 7662: can introspect only tokens of its own audience', async () => {
    const server = await asServer(space('RS256'));
    const introspect = async (token: string) => {
      const answer = await oauth.introspectionRequest(...server, token, INSECURE);
      return oauth.processIntrospectionResponse(as, server[1], answer);
    };
    const own = await getToken({ resource: space('RS256'), scope: 'read' });
    expect(await introspect(own)).toMatchObject({
      active: true,
      client_id: machine.id,
      aud: space('RS256'),
      scope: 'read',
      iss: pair.issuer,
    });
    expect(await introspect(await getToken())).toEqual({ active: false });
    expect(await introspect('no token')).toEqual({ active: false });

    const revoked = await oauth.revocationRequest(...asMachine(), own, INSECURE);
    await oauth.processRevocationResponse(revoked);
    expect(await introspect(own)).toEqual({ active: false });
  });

  test('cannot revoke a token that it may introspect (RFC 7009 section 2.1)', async () => {
    const server = await asServer(space());
    const token = await getToken();
    const answer = await oauth.revocationRequest(...server, token, INSECURE);
    expect(answer.status).toBe(400);
    expect((await send(token, space())).status).toBe(200);
  });

  test.each(['ES256', 'RS256', 'EdDSA'])('RFC 9068 section 4: validates %s', async (alg) => {
    const token = await getToken({ resource: space(alg) });
    const request = () =>
      new Request(space(alg), { headers: { authorization: `Bearer ${token}` } });
    const claims = await oauth.validateJwtAccessToken(as, request(), space(alg), INSECURE);
    expect(claims).toMatchObject({ client_id: machine.id, sub: machine.id, iss: pair.issuer });
    const elsewhere = oauth.validateJwtAccessToken(as, request(), `${space(alg)}x`, INSECURE);
    await expect(elsewhere).rejects.toThrow('unexpected JWT "aud"');
  });

  test('RFC 9449 section 4.3: validates the proof of a bound token', async () => {
    const DPoP = await newKey();
    const token = await getToken({ DPoP });
    let request: Request | undefined;
    await oauth.protectedResourceRequest(token, 'GET', new URL(space()), undefined, undefined, {
      ...INSECURE,
      DPoP,
      [oauth.customFetch]: async (url, { method, headers }) => {
        request = new Request(url, { method, headers });
        return new Response();
      },
    });
    if (request === undefined) throw new Error('nothing was sent');
    const options = { ...INSECURE, requireDPoP: true };
    const claims = await oauth.validateJwtAccessToken(as, request, space(), options);
    expect(claims.cnf).toEqual({ jkt: await DPoP.calculateThumbprint() });
  });
});

describe('a client authenticates', () => {
  test('by private_key_jwt with the issuer as audience, and no other audience (draft-ietf-oauth-rfc7523bis section 4)', async () => {
    const { id, privateKey } = await addKeyClient(pair, 'ES256', 'read write');
    const client = { client_id: id };
    const request = (audience: string) =>
      oauth.clientCredentialsGrantRequest(
        as,
        client,
        oauth.PrivateKeyJwt(privateKey, {
          [oauth.modifyAssertion]: (_header, payload) => {
            payload['aud'] = audience;
          },
        }),
        {},
        INSECURE,
      );
    const expected = {
      [pair.issuer]: true,
      [`${pair.issuer}/token`]: false,
      'https://evil.example': false,
    };
    for (const [audience, ok] of Object.entries(expected)) {
      const { status } = await request(audience);
      expect([audience, status]).toEqual([audience, ok ? 200 : 401]);
    }
  });

  test('by client_secret_post', async () => {
    const authentication = oauth.ClientSecretPost(machine.secret);
    const client = { client_id: machine.id };
    const parameters = { resource: space() };
    const answer = await oauth.clientCredentialsGrantRequest(
      ...([as, client, authentication, parameters, INSECURE] as const),
    );
    expect(await oauth.processClientCredentialsResponse(as, client, answer)).toMatchObject({
      token_type: 'bearer',
    });
  });
});
