import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { createProver } from './dpop.ts';
import type { Message } from '#shared/client/send.ts';
import { scripted } from './oauth.fixture.ts';
import { type GetAccess, sendProtected } from './protected-request.ts';
import { metadataUrl } from '#shared/auth/tokens/protected-resource.ts';

const SPACE = 'https://api.example/documents/';
const A = `${SPACE}a`;
const metadata = {
  [`GET ${metadataUrl(SPACE)}`]: { body: { resource: SPACE, authorization_servers: [] } },
};
const unauthorized = {
  status: 401,
  fields: { 'www-authenticate': `DPoP resource_metadata="${metadataUrl(SPACE)}"` },
};
const asksForNonce = {
  status: 401,
  fields: { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': 'n1' },
};
const redirect = (status: number, location: string) => ({ status, fields: { location } });

const getAccess: GetAccess = async ({ resource }) => ({
  accessToken: `token for ${resource}`,
  prover: await createProver(new ManualClock(), systemRandom),
  resource,
});

const jwt = (claims: object) =>
  ['{"alg":"none"}', JSON.stringify(claims), ''].map(base64url).join('.');
const base64url = (text: string) => Buffer.from(text).toString('base64url');

const withToken = (sent: readonly Message[]) =>
  sent.filter(
    ({ fields }) => fields?.['authorization'] !== undefined || fields?.['dpop'] !== undefined,
  );

test('an unprotected resource answers at once, without a token', async () => {
  const { send, sent } = scripted({ [`GET ${A}`]: { body: 'open' } });
  const answer = await sendProtected(send, { method: 'GET', url: A }, getAccess);
  expect(answer.body.toString()).toBe('open');
  expect(withToken(sent)).toEqual([]);
});

test('RFC 9449 section 7.1: the request is repeated with the token and a proof', async () => {
  const { send, sent } = scripted({ ...metadata, [`PUT ${A}`]: [unauthorized, { status: 201 }] });
  const message = { method: 'PUT', url: A, fields: { 'if-match': '*' }, body: 'x' };
  expect((await sendProtected(send, message, getAccess)).status).toBe(201);
  const [last] = withToken(sent);
  expect(last).toMatchObject({
    body: 'x',
    fields: { 'if-match': '*', authorization: `DPoP token for ${SPACE}` },
  });
  expect(decodeJwt(last?.fields?.['dpop'] ?? '')).toMatchObject({ htm: 'PUT', htu: A });
  expect(withToken(sent)).toHaveLength(1);
});

test('section 9: the request is repeated once with a nonce, and not for a server that always asks again', async () => {
  const { send, sent } = scripted({ ...metadata, [`GET ${A}`]: [unauthorized, asksForNonce, {}] });
  expect((await sendProtected(send, { method: 'GET', url: A }, getAccess)).status).toBe(200);
  const nonces = withToken(sent).map(({ fields }) => decodeJwt(fields?.['dpop'] ?? '')['nonce']);
  expect(nonces).toEqual([undefined, 'n1']);

  const stubborn = scripted({ ...metadata, [`GET ${A}`]: [unauthorized, asksForNonce] });
  expect((await sendProtected(stubborn.send, { method: 'GET', url: A }, getAccess)).status).toBe(
    401,
  );
  expect(withToken(stubborn.sent)).toHaveLength(2);
});

test('a refused token ends with the answer, not with a loop', async () => {
  const { send, sent } = scripted({ ...metadata, [`GET ${A}`]: unauthorized });
  expect((await sendProtected(send, { method: 'GET', url: A }, getAccess)).status).toBe(401);
  expect(withToken(sent)).toHaveLength(1);
});

describe('RFC 6750 section 2.1: an unbound token is sent as Bearer', () => {
  const sendBearer = async (
    accessToken: string,
    table: object = { [`PUT ${A}`]: unauthorized },
  ) => {
    const { send, sent } = scripted({ ...metadata, ...table });
    const answering = sendProtected(
      send,
      { method: 'PUT', url: A, fields: { 'if-match': '*' }, body: 'x' },
      async ({ resource }) => ({ accessToken, resource }),
    );
    return { answering, sent };
  };

  test('the request is sent without a proof, but otherwise complete', async () => {
    const token = jwt({ aud: SPACE });
    const table = { [`PUT ${A}`]: [unauthorized, { status: 201 }] };
    const { answering, sent } = await sendBearer(token, table);
    expect((await answering).status).toBe(201);
    expect(sent.at(-1)).toEqual({
      method: 'PUT',
      url: A,
      body: 'x',
      fields: { 'if-match': '*', authorization: `Bearer ${token}` },
    });
  });

  test.each([
    ['for another resource', jwt({ aud: 'https://api.example/other/' })],
    ['for the origin', jwt({ aud: 'https://api.example/' })],
    ['for this and another', jwt({ aud: [SPACE, 'https://bank.example/'] })],
    ['for nobody', jwt({})],
    ['of unknown audience', 'opaque'],
  ])('RFC 8707 section 3: a token %s is not sent', async (_, token) => {
    const { answering, sent } = await sendBearer(token);
    await expect(answering).rejects.toThrow(`not for ${SPACE} alone: it is not sent`);
    expect(withToken(sent)).toEqual([]);
  });

  test('a bound token is not sent as Bearer, because some servers would accept it (RFC 9449 section 7.2)', async () => {
    const { answering, sent } = await sendBearer(jwt({ aud: SPACE, cnf: { jkt: 'x' } }));
    await expect(answering).rejects.toThrow('bound to a key');
    expect(withToken(sent)).toEqual([]);
  });

  test('a nonce that the server then asks for is not used', async () => {
    const table = { [`PUT ${A}`]: [unauthorized, asksForNonce] };
    const { answering, sent } = await sendBearer(jwt({ aud: SPACE }), table);
    expect((await answering).status).toBe(401);
    expect(withToken(sent)).toHaveLength(1);
  });

  test.each([
    ['out of the audience', 'https://api.example/elsewhere'],
    ['to another origin', 'https://evil.example/documents/a'],
  ])('the token is not sent after a redirect %s', async (_, out) => {
    const table = {
      [`PUT ${A}`]: [unauthorized, redirect(307, out)],
      [`PUT ${out}`]: { body: 'out' },
    };
    const { answering, sent } = await sendBearer(jwt({ aud: SPACE }), table);
    await answering;
    expect(withToken(sent).map(({ url }) => url)).toEqual([A]);
  });
});

describe('redirects of a request with a token', () => {
  test.each([
    ['another origin', 'https://evil.example/documents/a'],
    ['another port', 'https://api.example:8443/documents/a'],
    ['http', 'http://api.example/documents/a'],
    ['another origin without a scheme', '//evil.example/documents/a'],
    ['a user', 'https://user@api.example/documents/a'],
    ['no URL', 'https://'],
  ])(
    'a redirect to %s is returned, and neither token nor request is sent there',
    async (_, location) => {
      const { send, sent } = scripted({
        ...metadata,
        [`GET ${A}`]: [unauthorized, redirect(307, location)],
      });
      const answer = await sendProtected(send, { method: 'GET', url: A }, getAccess);
      expect(answer.status).toBe(307);
      expect(sent.every(({ url }) => new URL(url).origin === 'https://api.example')).toBe(true);
    },
  );

  test('within the audience the token is sent with a new proof for the new URL', async () => {
    const table = {
      ...metadata,
      [`GET ${A}`]: [unauthorized, redirect(302, 'b#x')],
      [`GET ${SPACE}b`]: { body: 'b' },
    };
    const { send, sent } = scripted(table);
    expect((await sendProtected(send, { method: 'GET', url: A }, getAccess)).body.toString()).toBe(
      'b',
    );
    expect(decodeJwt(withToken(sent)[1]?.fields?.['dpop'] ?? '')).toMatchObject({
      htu: `${SPACE}b`,
    });
  });

  test('at the origin but outside of the audience the request is sent without the token', async () => {
    const out = 'https://api.example/elsewhere';
    const table = {
      ...metadata,
      [`GET ${A}`]: [unauthorized, redirect(302, out)],
      [`GET ${out}`]: { body: 'out' },
    };
    const { send, sent } = scripted(table);
    expect((await sendProtected(send, { method: 'GET', url: A }, getAccess)).body.toString()).toBe(
      'out',
    );
    expect(withToken(sent).map(({ url }) => url)).toEqual([A]);
  });

  test('a 302 after PUT is returned, and a 308 keeps method and body', async () => {
    const moved = scripted({ [`PUT ${A}`]: redirect(302, `${A}/`) });
    const message = { method: 'PUT', url: A, body: 'x' };
    expect((await sendProtected(moved.send, message, getAccess)).status).toBe(302);
    const kept = scripted({ [`PUT ${A}`]: redirect(308, `${A}/`), [`PUT ${A}/`]: { status: 204 } });
    expect((await sendProtected(kept.send, message, getAccess)).status).toBe(204);
    expect(kept.sent[1]).toMatchObject({ method: 'PUT', body: 'x' });
  });

  test('endless redirects stop after six requests', async () => {
    const { send, sent } = scripted({ [`GET ${A}`]: redirect(302, A) });
    await expect(sendProtected(send, { method: 'GET', url: A }, getAccess)).rejects.toThrow(
      'redirects',
    );
    expect(sent).toHaveLength(6);
  });
});
