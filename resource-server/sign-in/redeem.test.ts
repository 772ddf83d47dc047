import { describe, expect, test } from '@jest/globals';
import { issuerAndVerifier, ISSUER } from '#shared/auth/judge/auth.fixture.ts';
import type { Message } from '#shared/client/send.ts';
import { signInClientId, signInSecret } from '#shared/config/sign-in-clients.ts';
import { createRedeem } from './redeem.ts';

const SPACE = {
  url: 'https://rs.example/documents/',
  origin: 'https://rs.example',
  realm: 'documents',
  idle: 600,
};
const CLIENT = signInClientId(SPACE);
const MASTER = Buffer.alloc(32, 7);

/** An authorization server whose answers are correct except for `changes`. */
function setup(
  changes: {
    status?: number;
    answer?: object;
    access?: object;
    id?: object;
    idHeader?: object;
  } = {},
) {
  const { clock, now, published, tokens, token, revocations } = issuerAndVerifier();
  const visit = { state: 's', nonce: 'the nonce', verifier: 'v', path: '/', at: clock.now() };
  const person = { sub: 'a1', sub_gen: 0, grant_id: 'g1', client_id: CLIENT };
  const asked: Message[] = [];
  const idToken = token(
    { aud: CLIENT, sub: 'a1', nonce: visit.nonce, ...changes.id },
    { typ: 'JWT', ...changes.idHeader },
  );
  const redeem = createRedeem({
    issuer: ISSUER,
    async send(message) {
      asked.push(message);
      const answer = {
        access_token: token({ ...person, ...changes.access }),
        id_token: idToken,
        token_type: 'Bearer',
        ...changes.answer,
      };
      const body = Buffer.from(JSON.stringify(answer));
      return { status: changes.status ?? 200, fields: {}, body };
    },
    jwks: { key: (kid) => published.get(kid) },
    tokens,
    master: MASTER,
    clock,
    skew: 5,
  });
  return { redeem: () => redeem(SPACE, visit, 'the code'), asked, now, revocations };
}

describe('a code', () => {
  test('RFC 6749 section 4.1.3, RFC 7636 section 4.5: a code is redeemed with client authentication and the verifier', async () => {
    const { redeem, asked } = setup();
    expect(await redeem()).toMatchObject({ sub: 'a1', grant_id: 'g1', kid: 'k1', sub_gen: 0 });
    const [message] = asked;
    expect(message).toMatchObject({ method: 'POST', url: `${ISSUER}/token` });
    const basic = Buffer.from(`${CLIENT}:${signInSecret(MASTER, SPACE)}`).toString('base64');
    expect(message?.fields?.['authorization']).toBe(`Basic ${basic}`);
    expect(Object.fromEntries(new URLSearchParams(String(message?.body)))).toEqual({
      grant_type: 'authorization_code',
      code: 'the code',
      redirect_uri: 'https://rs.example/.countersign/callback',
      code_verifier: 'v',
    });
  });

  test.each<[string, Parameters<typeof setup>[0]]>([
    ['a refusal', { status: 400, answer: { error: 'invalid_grant' } }],
    ['no ID token', { answer: { id_token: undefined } }],
    ['no access token', { answer: { access_token: 1 } }],
    ['a bound token', { answer: { token_type: 'DPoP' } }],
    ['an access token for another resource', { access: { aud: 'https://rs.example/other/' } }],
    ['an expired access token', { access: { exp: 1 } }],
    ['an access token of an application', { access: { sub_gen: undefined } }],
    ['an access token without a grant', { access: { grant_id: undefined } }],
    ['two people', { access: { sub: 'b1' } }],
    ['another nonce', { id: { nonce: 'other' } }],
    ['no nonce', { id: { nonce: undefined } }],
    ['an ID token for another client', { id: { aud: 'other' } }],
    ['an ID token for several clients', { id: { aud: [CLIENT, 'other'] } }],
    ['an ID token of another issuer', { id: { iss: 'https://evil.example' } }],
    ['an expired ID token', { id: { exp: 1 } }],
    ['one by a key of nobody', { idHeader: { kid: 'other' } }],
    ['one without a signature', { idHeader: { alg: 'none' } }],
    ['an access token for an ID token', { answer: { id_token: 'x.y.z' } }],
  ])(
    'OpenID Connect Core 1.0 section 3.1.3.7: a code does not sign in with %s',
    async (_what, changes) => {
      await expect(setup(changes).redeem()).rejects.toThrow();
    },
  );

  test('a code does not sign in a person who was removed meanwhile', async () => {
    const { redeem, revocations } = setup();
    revocations.apply({ kind: 'grant', id: 'g1' }, Infinity);
    await expect(redeem()).rejects.toThrow('revoked by grant');
  });
});
