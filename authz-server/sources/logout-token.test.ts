import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import { LogoutTokenError, verifyLogoutToken } from './logout-token.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const clock = new ManualClock();
const now = clock.now() / 1000;
const CLAIMS: JWTPayload = {
  iss: 'https://corp.example',
  aud: 'c',
  iat: now,
  exp: now + 120,
  jti: 'j',
  sub: 'x',
  sid: 's',
  events: { [EVENT]: {} },
};

let pair: Awaited<ReturnType<typeof generateKeyPair>>;
let keys: JSONWebKeySet;
beforeAll(async () => {
  pair = await generateKeyPair('ES256', { extractable: true });
  keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }] };
});

const signed = (payload: JWTPayload, typ: string | undefined = 'logout+jwt') =>
  new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', kid: 'k', ...(typ !== undefined && { typ }) })
    .sign(pair.privateKey);

const without = (name: string): JWTPayload =>
  Object.fromEntries(Object.entries(CLAIMS).filter(([one]) => one !== name));

const verify = async (token: string) =>
  verifyLogoutToken(token, keys, { issuer: 'https://corp.example', clientId: 'c', clock });

test.each(['logout+jwt', 'Logout+JWT', 'JWT'])(
  'a logout token with typ %s is accepted',
  async (typ) => {
    expect(await verify(await signed(CLAIMS, typ))).toEqual({ subject: 'x', sid: 's', jti: 'j' });
  },
);

test('a logout token without a session is for all sessions of the person', async () => {
  expect(await verify(await signed(without('sid')))).toEqual({ subject: 'x', jti: 'j' });
});

describe('a token is refused (OpenID Connect Back-Channel Logout 1.0 section 2.6)', () => {
  test.each<[string, JWTPayload]>([
    ['of another issuer', { ...CLAIMS, iss: 'https://evil.example' }],
    ['for another client', { ...CLAIMS, aud: 'other' }],
    ['with a nonce', { ...CLAIMS, nonce: 'n' }],
    ['without events', without('events')],
    ['with another event', { ...CLAIMS, events: { 'https://corp.example/event': {} } }],
    ['whose event is no object', { ...CLAIMS, events: { [EVENT]: true } }],
    ['whose events are a list', { ...CLAIMS, events: [EVENT] }],
    ['without a person', without('sub')],
    ['whose session is no text', { ...CLAIMS, sid: 1 }],
    ['without jti', without('jti')],
    ['without iat', without('iat')],
    ['of an hour ago', { ...CLAIMS, iat: now - 3600, exp: now + 120 }],
    ['of the future', { ...CLAIMS, iat: now + 120 }],
    ['that has expired', { ...CLAIMS, exp: now - 60 }],
  ])('%s', async (_, claims) => {
    await expect(verify(await signed(claims))).rejects.toThrow(LogoutTokenError);
  });

  test.each(['at+jwt', 'secevent+jwt', 'dpop+jwt'])('with typ %s', async (typ) => {
    await expect(verify(await signed(CLAIMS, typ))).rejects.toThrow(LogoutTokenError);
  });

  test('without a signature', async () => {
    await expect(verify(new UnsecuredJWT(CLAIMS).encode())).rejects.toThrow(LogoutTokenError);
  });

  test('signed with a secret', async () => {
    const token = await new SignJWT(CLAIMS)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode('c'.repeat(32)));
    await expect(verify(token)).rejects.toThrow(LogoutTokenError);
  });

  test('signed by another key', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const token = await new SignJWT(CLAIMS)
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .sign(privateKey);
    await expect(verify(token)).rejects.toThrow(LogoutTokenError);
  });
});
