import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import type { ClientAuth, Configuration, DPoPHandle } from 'openid-client';
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import { addKeyClient } from './key-client.ts';

/** openid-client with the pair. Both servers require nonces. */
let pair: Pair;
let machine: { id: string; secret: string };

beforeAll(async () => {
  pair = await startPair({
    settings: ({ resource }) => ({
      tokens: { nonce: true },
      spaces: [
        {
          url: `${resource}/documents/`,
          realm: 'documents',
          schemes: ['Bearer', 'DPoP'],
          scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
          nonce: true,
        },
      ],
    }),
  });
  machine = await pair.addClient();
});
afterAll(() => pair[Symbol.asyncDispose]());

const discover = (
  id: string,
  authentication: ClientAuth,
  algorithm: 'oidc' | 'oauth2' = 'oauth2',
): Promise<Configuration> =>
  client.discovery(new URL(pair.issuer), id, undefined, authentication, {
    algorithm,
    execute: [client.allowInsecureRequests],
  });
const asMachine = () => discover(machine.id, client.ClientSecretBasic(machine.secret));

const send = (
  config: Configuration,
  token: string,
  path: string,
  method = 'GET',
  options: { body?: string; DPoP?: DPoPHandle } = {},
) =>
  client.fetchProtectedResource(
    config,
    token,
    new URL(path, pair.documents),
    method,
    options.body,
    undefined,
    options.DPoP && { DPoP: options.DPoP },
  );

/** The status in the rejection of a request for a token or a resource. */
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'not refused',
    (error: { status?: number; error?: string; cause?: unknown }) => ({
      status: error.status,
      error: error.error,
      challenges: Array.isArray(error.cause)
        ? error.cause.map(({ scheme, parameters: { error: code } }) => `${scheme} ${code}`)
        : undefined,
    }),
  );

describe('openid-client, discovery', () => {
  test.each(['oidc', 'oauth2'] as const)(
    'RFC 8414, OpenID Connect Discovery: works by %s',
    async (way) => {
      const config = await discover(machine.id, client.ClientSecretBasic(machine.secret), way);
      expect(config.serverMetadata()).toMatchObject({
        issuer: pair.issuer,
        token_endpoint: `${pair.issuer}/token`,
        jwks_uri: `${pair.issuer}/jwks`,
        introspection_endpoint: `${pair.issuer}/token/introspection`,
        revocation_endpoint: `${pair.issuer}/token/revocation`,
        grant_types_supported: expect.arrayContaining(['client_credentials']),
      });
    },
  );
});

describe('openid-client, client authentication (RFC 6749 section 2.3)', () => {
  test('works by client_secret_basic, with the default scopes and resource', async () => {
    const config = await asMachine();
    const token = await client.clientCredentialsGrant(config);
    expect(token).toMatchObject({ token_type: 'bearer', expires_in: 600 });
    expect(token.scope?.split(' ').toSorted()).toEqual(['documents:read', 'documents:write']);
    const answer = await send(config, token.access_token, '');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ members: [] });
  });

  test('works by client_secret_post', async () => {
    const args = ['--name', 'Post', '--grant', 'client_credentials'];
    const more = ['--scope', 'documents:read', '--auth', 'client_secret_post'];
    const { client_id, client_secret } = await pair.cli('client', 'add', ...args, ...more);
    const id = String(client_id);
    const right = await discover(id, client.ClientSecretPost(String(client_secret)));
    expect(await client.clientCredentialsGrant(right)).toHaveProperty('access_token');
    // RFC 9110 section 15.5.2: a 401 has a challenge, even for a secret in the form.
    const wrong = await discover(id, client.ClientSecretPost('guess'));
    expect(await refusal(client.clientCredentialsGrant(wrong))).toMatchObject({
      status: 401,
      challenges: ['basic invalid_client'],
    });
  });

  test.each(['ES256', 'RS256', 'PS256', 'EdDSA'])(
    'works by private_key_jwt with %s',
    async (alg) => {
      const { id, privateKey } = await addKeyClient(pair, alg);
      const config = await discover(id, client.PrivateKeyJwt(privateKey));
      const token = await client.clientCredentialsGrant(config);
      expect((await send(config, token.access_token, '')).status).toBe(200);
      const { privateKey: foreign } = await addKeyClient(pair, alg);
      const thief = await discover(id, client.PrivateKeyJwt(foreign));
      expect(await refusal(client.clientCredentialsGrant(thief))).toMatchObject({ status: 401 });
    },
  );

  test('fails with invalid_client and a challenge after a wrong secret (RFC 6749 section 5.2)', async () => {
    const config = await discover(machine.id, client.ClientSecretBasic('guess'));
    expect(await refusal(client.clientCredentialsGrant(config))).toMatchObject({
      status: 401,
      challenges: ['basic invalid_client'],
    });
  });
});

describe('resource indicators (RFC 8707)', () => {
  test('a known resource becomes the audience, and an unknown resource gets invalid_target', async () => {
    const config = await asMachine();
    const { access_token } = await client.clientCredentialsGrant(config, {
      resource: pair.documents,
      scope: 'documents:read',
    });
    expect(await client.tokenIntrospection(config, access_token)).toMatchObject({
      active: true,
      aud: pair.documents,
      scope: 'documents:read',
    });
    const elsewhere = { resource: 'https://elsewhere.example/' };
    expect(await refusal(client.clientCredentialsGrant(config, elsewhere))).toMatchObject({
      status: 400,
      error: 'invalid_target',
    });
  });

  test('a scope beyond the registered scopes gets invalid_scope (RFC 6749 section 5.2)', async () => {
    const wish = client.clientCredentialsGrant(await asMachine(), { scope: 'documents:admin' });
    expect(await refusal(wish)).toMatchObject({ status: 400, error: 'invalid_scope' });
  });
});

describe('DPoP with nonces of both servers (RFC 9449 sections 8 and 9)', () => {
  test('a bound token reads and writes, with another proof each time', async () => {
    const config = await asMachine();
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair());
    const token = await client.clientCredentialsGrant(config, undefined, { DPoP });
    expect(token.token_type).toBe('dpop');
    const { access_token } = token;
    const put = await send(config, access_token, 'a.txt', 'PUT', { body: 'bound', DPoP });
    expect(put.status).toBe(201);
    const read = await send(config, access_token, 'a.txt?x=1', 'GET', { DPoP });
    expect(await read.text()).toBe('bound');
  });

  test.each(['RS256', 'Ed25519'])('a bound token works with a key of %s', async (alg) => {
    const config = await asMachine();
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair(alg));
    const { access_token } = await client.clientCredentialsGrant(config, undefined, { DPoP });
    expect((await send(config, access_token, '', 'GET', { DPoP })).status).toBe(200);
  });

  test('a bound token is refused without the key, with another key, or as a Bearer token', async () => {
    const config = await asMachine();
    const handle = async () => client.getDPoPHandle(config, await client.randomDPoPKeyPair());
    const DPoP = await handle();
    const { access_token } = await client.clientCredentialsGrant(config, undefined, { DPoP });
    expect(await refusal(send(config, access_token, '', 'GET', { DPoP: await handle() }))).toEqual(
      expect.objectContaining({
        status: 401,
        challenges: expect.arrayContaining(['dpop invalid_token']),
      }),
    );
    expect(await refusal(send(config, access_token, ''))).toEqual(
      expect.objectContaining({
        status: 401,
        challenges: expect.arrayContaining(['bearer invalid_token']),
      }),
    );
    const { access_token: bearer } = await client.clientCredentialsGrant(config);
    expect(await refusal(send(config, bearer, '', 'GET', { DPoP }))).toMatchObject({ status: 401 });
  });
});

describe('revocation and introspection', () => {
  test('RFC 7009: a revoked token is refused from the next request on, and another token is accepted', async () => {
    const config = await asMachine();
    const { access_token } = await client.clientCredentialsGrant(config);
    const { access_token: other } = await client.clientCredentialsGrant(config);
    expect((await send(config, access_token, '')).status).toBe(200);
    await client.tokenRevocation(config, access_token);
    expect(await refusal(send(config, access_token, ''))).toMatchObject({ status: 401 });
    expect(await client.tokenIntrospection(config, access_token)).toEqual({ active: false });
    expect((await send(config, other, '')).status).toBe(200);
    await client.tokenRevocation(config, access_token); // RFC 7009 section 2.2: a second revocation is no error
  });

  test('RFC 7662 section 2.2: introspection of a bound token names its key', async () => {
    const config = await asMachine();
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair());
    const { access_token } = await client.clientCredentialsGrant(config, undefined, { DPoP });
    expect(await client.tokenIntrospection(config, access_token)).toMatchObject({
      active: true,
      token_type: 'DPoP',
      client_id: machine.id,
      iss: pair.issuer,
      cnf: { jkt: await DPoP.calculateThumbprint() },
    });
  });

  test('another client can neither introspect nor revoke it', async () => {
    const { access_token } = await client.clientCredentialsGrant(await asMachine());
    const stranger = await pair.addClient();
    const config = await discover(stranger.id, client.ClientSecretBasic(stranger.secret));
    expect(await client.tokenIntrospection(config, access_token)).toEqual({ active: false });
    expect(await refusal(client.tokenRevocation(config, access_token))).toMatchObject({
      status: 400,
      error: 'unauthorized_client',
    });
    expect((await send(config, access_token, '')).status).toBe(200);
  });
});
