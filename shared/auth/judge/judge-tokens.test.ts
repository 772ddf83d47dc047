import { describe, expect, test } from '@jest/globals';
import { parseChallenges, type Challenge } from '#shared/http/auth/challenge.ts';
import { within } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import { issuerAndVerifier, memoryReplay, prover, requestOf, SPACE } from './auth.fixture.ts';
import { authorization, spaceOf } from './judge.fixture.ts';
import { judge } from './judge.ts';
import type { Outcome } from '../scheme.ts';
import { bearer } from '../schemes/bearer/bearer.ts';
import { oauthSchemes } from '../schemes/oauth-schemes.ts';

describe('a space with Bearer and DPoP', () => {
  function setup() {
    const parties = issuerAndVerifier();
    const { tokens, clock } = parties;
    const replay = memoryReplay(clock);
    const { dpop } = oauthSchemes({ tokens, proofs: replay, master: Buffer.alloc(32), clock });
    const space = spaceOf([bearer({ space: SPACE, tokens }), dpop({ ...SPACE, nonce: false })]);
    return { ...parties, replay, space, client: prover(parties.now) };
  }
  /** The challenges of an answer, by scheme, as a client reads them. */
  function challengesOf(outcome: Outcome): Record<string, Challenge['params']> {
    if (outcome.kind !== 'answer') throw new Error(outcome.kind);
    const lines = outcome.fields['WWW-Authenticate'] ?? [];
    const parsed = parseChallenges([lines].flat().join(', ')) ?? [];
    return Object.fromEntries(parsed.map(({ scheme, params }) => [scheme, params]));
  }

  test('RFC 6750 section 3.1: a challenge to a request without credentials has no error code', async () => {
    const challenges = challengesOf(await judge(setup().space, requestOf()));
    expect(Object.keys(challenges)).toEqual(['Bearer', 'DPoP']);
    expect(challenges['Bearer']).not.toHaveProperty('error');
    expect(challenges['DPoP']).not.toHaveProperty('error');
  });

  test('RFC 9449 section 7.2: the challenge of the scheme that was used has the error', async () => {
    const { space } = setup();
    const tried = challengesOf(await judge(space, authorization('Bearer x')));
    expect(tried['Bearer']).toMatchObject({ error: 'invalid_token' });
    expect(tried['DPoP']).not.toHaveProperty('error');
    const other = challengesOf(await judge(space, authorization('DPoP x')));
    expect(other['Bearer']).not.toHaveProperty('error');
    expect(other['DPoP']).toMatchObject({ error: 'invalid_dpop_proof' });
  });

  test('RFC 9449 section 7.2: a token with both schemes is 400', async () => {
    const { space, token } = setup();
    const request = authorization(`Bearer ${token()}`, `DPoP ${token()}`);
    expect(await judge(space, request)).toMatchObject({ status: 400 });
  });

  test('RFC 6750 section 2: a token in the field and in the query is 400, in the query alone 401', async () => {
    const { space, token } = setup();
    const target = `/documents/a?access_token=${token()}`;
    const field = ['Authorization', `Bearer ${token()}`] as const;
    expect(await judge(space, requestOf([field], { target }))).toMatchObject({ status: 400 });
    const alone = await judge(space, requestOf([], { target }));
    expect(alone).toMatchObject({ status: 401 });
    expect(challengesOf(alone)['Bearer']).not.toHaveProperty('error');
  });

  test('a token with a proof is accepted once', async () => {
    const { space, token, client } = setup();
    const bound = token({ cnf: { jkt: client.jkt } });
    const request = requestOf([
      ['Authorization', `DPoP ${bound}`],
      ['dpop', client.proof(bound)],
    ]);
    expect(await judge(space, request)).toMatchObject({ kind: 'pass', scheme: 'DPoP' });
    expect(await judge(space, request)).toMatchObject({ kind: 'answer', status: 401 });
  });

  test('missing keys, a failing replay store and a silent feed each give 503', async () => {
    const { space, token, client, clock, replay, state } = setup();
    const bound = token({ cnf: { jkt: client.jkt } });
    const attempt = () =>
      judge(
        space,
        requestOf([
          ['Authorization', `DPoP ${bound}`],
          ['DPoP', client.proof(bound)],
        ]),
      );
    const down = (reason: RegExp) => ({
      kind: 'answer',
      status: 503,
      fields: { 'Retry-After': '1' },
      refusal: 'unavailable',
      reason: expect.stringMatching(reason),
    });
    state.keysDown = true;
    expect(await attempt()).toEqual({ ...down(/keys of the issuer/), scheme: 'DPoP' });
    state.keysDown = false;
    clock.advance(1);
    replay.down = true;
    expect(await attempt()).toEqual(down(/replay is down/));
    replay.down = false;
    state.feedDown = true;
    expect(await attempt()).toEqual({ ...down(/feed is silent/), scheme: 'DPoP' });
    state.feedDown = false;
    expect(await attempt()).toMatchObject({ kind: 'pass' });
  });

  test('a token that is revoked after its use is refused by the next request', async () => {
    const { space, token, revocations } = setup();
    const request = authorization(`Bearer ${token()}`);
    expect(await judge(space, request)).toMatchObject({ kind: 'pass' });
    revocations.apply({ kind: 'token', id: 'j1' }, Infinity);
    const outcome = await judge(space, request);
    expect(outcome).toMatchObject({
      status: 401,
      ...within('access token', refuse('token-revoked', { by: 'token' })),
    });
    expect(challengesOf(outcome)['Bearer']).toMatchObject({ error: 'invalid_token' });
  });
});
