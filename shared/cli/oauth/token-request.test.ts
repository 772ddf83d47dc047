import { expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { createProver } from './dpop.ts';
import { formOf, scripted } from './oauth.fixture.ts';
import { requestToken, type ClientCredentialsRequest } from './token-request.ts';

const ISSUER = 'https://auth.example';
const METADATA = `GET ${ISSUER}/.well-known/oauth-authorization-server`;
const TOKEN = `POST ${ISSUER}/token`;
const metadata = { body: { issuer: ISSUER, token_endpoint: `${ISSUER}/token` } };
const granted = (token_type: string) => ({
  body: { access_token: 'at', token_type, expires_in: 600 },
});

const REQUEST: ClientCredentialsRequest = {
  issuer: ISSUER,
  client: { client_id: 'a:b', token_endpoint_auth_method: 'client_secret_basic' },
  secret: 'p q&ü',
};

test('RFC 6749 sections 2.3.1 and 4.4.2: identifier and secret are form-encoded in the Authorization field', async () => {
  const { send, sent } = scripted({ [METADATA]: metadata, [TOKEN]: granted('Bearer') });
  const answer = await requestToken(send, {
    ...REQUEST,
    scope: 'x y',
    resource: 'https://api.example/',
  });
  expect(answer).toMatchObject({ access_token: 'at', expires_in: 600 });
  const credentials = Buffer.from('a%3Ab:p+q%26%C3%BC').toString('base64');
  expect(sent[1]?.fields?.['authorization']).toBe(`Basic ${credentials}`);
  expect(formOf(sent[1])).toEqual({
    grant_type: 'client_credentials',
    scope: 'x y',
    resource: 'https://api.example/',
  });
});

test('client_secret_post: the body has the secret, and there is no Authorization field', async () => {
  const { send, sent } = scripted({ [METADATA]: metadata, [TOKEN]: granted('bearer') });
  const client = { client_id: 'a', token_endpoint_auth_method: 'client_secret_post' } as const;
  await requestToken(send, { ...REQUEST, client });
  expect(sent[1]?.fields).not.toHaveProperty('authorization');
  expect(formOf(sent[1])).toMatchObject({ client_id: 'a', client_secret: 'p q&ü' });
});

test('RFC 9449 section 8: if the server asks for a nonce, a second proof has it, once', async () => {
  const asking = { status: 400, fields: { 'dpop-nonce': 'n1' }, body: { error: 'use_dpop_nonce' } };
  const prover = await createProver(new ManualClock(), systemRandom);
  const { send, sent } = scripted({ [METADATA]: metadata, [TOKEN]: [asking, granted('DPoP')] });
  await requestToken(send, { ...REQUEST, prover });
  const proofs = sent.slice(1).map(({ fields }) => decodeJwt(fields?.['dpop'] ?? ''));
  expect(proofs.map(({ nonce }) => nonce)).toEqual([undefined, 'n1']);
  expect(proofs[0]?.jti).not.toBe(proofs[1]?.jti);

  const stubborn = scripted({ [METADATA]: metadata, [TOKEN]: asking });
  await expect(requestToken(stubborn.send, { ...REQUEST, prover })).rejects.toThrow(
    'use_dpop_nonce',
  );
  expect(stubborn.sent).toHaveLength(3);
});

test.each([
  [
    'RFC 8414 section 3.3: metadata of another issuer',
    { ...metadata, body: { ...metadata.body, issuer: 'https://evil.example' } },
    /another issuer/,
  ],
  [
    'a token endpoint in clear',
    { body: { issuer: ISSUER, token_endpoint: 'http://auth.example/token' } },
    /no token endpoint/,
  ],
  ['no token endpoint', { body: { issuer: ISSUER } }, /no token endpoint/],
  ['no metadata', { status: 404 }, /answers 404/],
  ['metadata that is no JSON', { body: '<html>' }, /JSON object/],
])('%s: the secret is not sent', async (_, reply, reason) => {
  const { send, sent } = scripted({ [METADATA]: reply });
  await expect(requestToken(send, REQUEST)).rejects.toThrow(reason);
  expect(sent).toHaveLength(1);
});

test.each([
  [
    'an OAuth error',
    { status: 401, body: { error: 'invalid_client', error_description: 'no' } },
    /401: invalid_client: no/,
  ],
  ['a bearer token for a proof', granted('Bearer'), /of type Bearer, not dpop/],
  ['no token', { body: { token_type: 'DPoP' } }, /cannot be used.*access_token/],
  ['an answer that is no JSON', { body: 'Bad Gateway' }, /JSON object/],
  ['a gateway without a server', { status: 502, body: 'Bad Gateway' }, /answers 502$/],
])('%s is a failure', async (_, reply, reason) => {
  const prover = await createProver(new ManualClock(), systemRandom);
  const { send } = scripted({ [METADATA]: metadata, [TOKEN]: reply });
  await expect(requestToken(send, { ...REQUEST, prover })).rejects.toThrow(reason);
});
