import { hash, X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { testKey } from '#shared/gnap/client.fixture.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { type GnapAnswer, type GnapFlow, openGnap, READ } from './gnap.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

const { raw } = new X509Certificate(selfSigned(['client'], systemClock, systemRandom).cert);
const THUMBPRINT = hash('sha256', raw, 'base64url');
const KEY = { proof: 'mtls', 'cert#S256': THUMBPRINT };
const PROXY = {
  trustedProxies: ['127.0.0.0/8'],
  gnap: { clients: 'registered', mtls: true },
};

const lineOf = (der: Buffer) => `:${der.toString('base64')}:`;

/** Sends a request as a proxy forwards it, with the certificates that the client has shown to the proxy. */
async function send(gnap: GnapFlow, path: string, shown: readonly string[], more: object = {}) {
  const { json, token } = more as { json?: unknown; token?: string };
  const response = await fetched(gnap.flow.authz.url + path, {
    method: 'POST',
    headers: [
      ...shown.map((line): [string, string] => ['Client-Cert', line]),
      ...(json === undefined ? [] : [['Content-Type', 'application/json'] as [string, string]]),
      ...(token === undefined ? [] : [['Authorization', `GNAP ${token}`] as [string, string]]),
    ],
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  return { status: response.status, body: (await response.json()) as GnapAnswer };
}

const ASKED = { json: { ...READ, client: { key: KEY } } };

async function registered(settings: object = PROXY): Promise<GnapFlow> {
  const gnap = await openGnap({ ...settings });
  await gnap.register(testKey(), {
    client_id: `gnap-${THUMBPRINT}`,
    gnap: { key: { proof: 'mtls', 'cert#S256': THUMBPRINT } },
  });
  return gnap;
}

describe('RFC 9635 section 7.3.2: mtls behind a trusted proxy (RFC 9440)', () => {
  test('the token is bound to the certificate (RFC 8705 section 3.1)', async () => {
    await using gnap = await registered();
    const given = await send(gnap, '/gnap', [lineOf(raw)], ASKED);
    expect(given.status).toBe(200);
    const { value, manage } = given.body.access_token;
    expect(decodeJwt(value)).toMatchObject({ cnf: { 'x5t#S256': THUMBPRINT } });
    const path = new URL(manage.uri).pathname;
    const token = manage.access_token.value;
    const stolen = await send(gnap, path, [], { token });
    expect(stolen.body.error.code).toBe('invalid_client');
    const rotated = await send(gnap, path, [lineOf(raw)], { token });
    expect(rotated.body.access_token.value).not.toBe(value);
  });

  test('section 7.3.2.1: the key of a certificate is not rotated', async () => {
    await using gnap = await registered();
    const given = await send(gnap, '/gnap', [lineOf(raw)], ASKED);
    const { manage } = given.body.access_token;
    const answer = await send(gnap, new URL(manage.uri).pathname, [lineOf(raw)], {
      token: manage.access_token.value,
      json: { key: KEY },
    });
    expect(answer.body.error.code).toBe('key_rotation_not_supported');
  });

  const other = new X509Certificate(selfSigned(['client'], systemClock, systemRandom).cert).raw;
  test.each<[string, readonly string[]]>([
    ['no certificate', []],
    ['another certificate', [lineOf(other)]],
    ['two certificates', [lineOf(raw), lineOf(raw)]],
    ['a list of two', [`${lineOf(other)}, ${lineOf(raw)}`]],
    ['no structured field', [raw.toString('base64')]],
  ])('a request with this client certificate is refused: %s', async (_what, shown) => {
    await using gnap = await registered();
    expect(await send(gnap, '/gnap', shown, ASKED)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_client' } },
    });
  });

  test.each([
    ['anybody else', { gnap: { mtls: true } }],
    ['a proxy that is trusted for other things', { trustedProxies: ['127.0.0.0/8'] }],
  ])('Client-Cert of %s is ignored', async (_what, settings) => {
    await using gnap = await registered(settings);
    const answer = await send(gnap, '/gnap', [lineOf(raw)], ASKED);
    expect(answer.body.error.code).toBe('invalid_client');
  });
});
