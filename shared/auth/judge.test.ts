import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseChallenges, type Challenge } from '#shared/http/auth/challenge.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import { issuerAndVerifier, memoryReplay, prover, requestOf, SPACE } from './auth.fixture.ts';
import { judge } from './judge.ts';
import { ORIGIN, PROXY, type Outcome, type ProtectionSpace, type Scheme } from './scheme.ts';
import { bearer } from './schemes/bearer.ts';
import { dpop } from './schemes/dpop.ts';

function spaceOf(schemes: readonly Scheme[], more: Partial<ProtectionSpace> = {}): ProtectionSpace {
  return {
    at: ORIGIN,
    realm: 'documents',
    schemes,
    scopes: (method) => SPACE.scopes(method),
    ...more,
  };
}

/** A scheme that takes `good` and says otherwise what it is told to. */
function schemeOf(name: string, more: Partial<Scheme> = {}): Scheme {
  return {
    name,
    challenge: () => [{ scheme: name, params: { realm: 'documents' } }],
    authenticate: ({ token68 }) =>
      token68 === 'good'
        ? { kind: 'granted', principal: { kind: 'anonymous' } }
        : { kind: 'refused', reason: `not good for ${name}` },
    ...more,
  };
}
const ask = (...challenges: string[]) => ({ 'WWW-Authenticate': challenges });
const authorization = (...values: string[]) =>
  requestOf(values.map((value) => ['Authorization', value] as const));
const TWO = spaceOf([schemeOf('One'), schemeOf('Two')]);
const BOTH = ask('One realm="documents"', 'Two realm="documents"');

describe('RFC 9110 section 11.6.1: challenges', () => {
  test('no credentials: 401 with the challenge of every scheme', async () => {
    expect(await judge(TWO, requestOf())).toEqual({
      kind: 'answer',
      status: 401,
      fields: BOTH,
      reason: 'no credentials',
    });
  });

  test('credentials of a scheme that is not here: the same', async () => {
    const outcome = await judge(TWO, authorization('Basic dXNlcjpwYXNz'));
    expect(outcome).toMatchObject({ status: 401, fields: BOTH });
  });

  test('refused: the scheme puts its own challenge in place of its usual one only', async () => {
    const challenges: Challenge[] = [{ scheme: 'Two', params: { error: 'x' } }];
    const refusing = schemeOf('Two', {
      authenticate: () => ({ kind: 'refused', reason: 'why', challenges, fields: { 'X-N': '1' } }),
    });
    const space = spaceOf([schemeOf('One'), refusing, schemeOf('Three')]);
    expect(await judge(space, authorization('Two x'))).toEqual({
      kind: 'answer',
      status: 401,
      scheme: 'Two',
      reason: 'why',
      fields: {
        ...ask('One realm="documents"', 'Two error="x"', 'Three realm="documents"'),
        'X-N': '1',
      },
    });
  });

  test('a scheme that cannot challenge now is left out, and the reason says so', async () => {
    const dumb = schemeOf('Two', {
      challenge: () => Promise.reject(new StoreUnavailable('no nonces')),
    });
    const outcome = await judge(spaceOf([schemeOf('One'), dumb]), requestOf());
    expect(outcome).toMatchObject({ status: 401, fields: ask('One realm="documents"') });
    expect(outcome).toMatchObject({ reason: expect.stringContaining('no nonces') });
  });

  test('one that throws at once is no different', async () => {
    const dumb = schemeOf('Two', {
      challenge() {
        throw new StoreUnavailable('no nonces');
      },
    });
    const outcome = await judge(spaceOf([schemeOf('One'), dumb]), requestOf());
    expect(outcome).toMatchObject({ status: 401, fields: ask('One realm="documents"') });
  });

  test('none left is 503', async () => {
    const dumb = schemeOf('One', { challenge: () => Promise.reject(new Error('no nonces')) });
    expect(await judge(spaceOf([dumb]), requestOf())).toMatchObject({
      status: 503,
      fields: { 'Retry-After': '1' },
    });
  });

  test('section 11.7: a proxy asks with 407 and its own fields', async () => {
    const space = spaceOf([schemeOf('One')], { at: PROXY });
    expect(await judge(space, authorization('One good'))).toMatchObject({
      status: 407,
      fields: { 'Proxy-Authenticate': ['One realm="documents"'] },
    });
    const request = requestOf([['Proxy-Authorization', 'One good']]);
    expect(await judge(space, request)).toMatchObject({ kind: 'pass', scheme: 'One' });
  });
});

describe('RFC 9110 section 11.6.2: credentials', () => {
  test.each(['One good', 'oNE good', 'ONE   good'])('%j passes', async (value) => {
    expect(await judge(TWO, authorization(value))).toEqual({
      kind: 'pass',
      scheme: 'One',
      principal: { kind: 'anonymous' },
      fields: {},
    });
  });

  test.each([
    ['two lines', ['One good', 'Two good']],
    ['the same line twice', ['One good', 'One good']],
    ['one of a scheme that is not here', ['One good', 'Basic x']],
  ])('%s: 400, and neither is looked at', async (_, values) => {
    expect(await judge(TWO, authorization(...values))).toMatchObject({
      kind: 'answer',
      status: 400,
      fields: BOTH,
    });
  });

  test.each([
    '',
    ' ',
    'One good, Two good',
    'One a="1", a="2"',
    'One go od',
    'One\tgood',
    '=',
    'ö x',
  ])('%j is malformed: 400', async (value) => {
    expect(await judge(TWO, authorization(value))).toMatchObject({ status: 400 });
  });

  test('credentials elsewhere count: alone they serve, beside others it is 400', async () => {
    const elsewhere = schemeOf('Two', {
      locate: (request) =>
        request.target.includes('key')
          ? { scheme: 'two', rest: 'good', token68: 'good' }
          : undefined,
    });
    const space = spaceOf([schemeOf('One'), elsewhere]);
    const target = '/documents/a?key';
    expect(await judge(space, requestOf([], { target }))).toMatchObject({ kind: 'pass' });
    for (const value of ['One good', 'Two good', 'Basic x']) {
      const request = requestOf([['Authorization', value]], { target });
      expect(await judge(space, request)).toMatchObject({ kind: 'answer', status: 400 });
    }
  });

  test('any text in the field ends in 400 or 401', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const outcome = await judge(TWO, authorization(text));
        return outcome.kind === 'answer' && [400, 401].includes(outcome.status);
      }),
    );
  });
});

describe('verdicts', () => {
  const outcomeOf = (authenticate: Scheme['authenticate'], more?: Partial<ProtectionSpace>) =>
    judge(
      spaceOf([schemeOf('One', { authenticate }), schemeOf('Two')], more),
      authorization('One x'),
    );

  test('continued: 401 with that challenge and no other', async () => {
    const challenge = { scheme: 'One', params: { data: 'leg 2' } };
    expect(await outcomeOf(() => ({ kind: 'continued', challenge }))).toEqual({
      kind: 'answer',
      status: 401,
      scheme: 'One',
      reason: 'continued',
      fields: ask('One data="leg 2"'),
    });
  });

  test('malformed: 400 (RFC 6750 section 3.1)', async () => {
    expect(
      await outcomeOf(() => ({ kind: 'refused', as: 'malformed', reason: 'x' })),
    ).toMatchObject({
      status: 400,
      fields: BOTH,
    });
  });

  test('forbidden: 403 with the challenges of the verdict only', async () => {
    const challenges = [{ scheme: 'One', params: { error: 'insufficient_scope' } }];
    const forbidden = { kind: 'refused', as: 'forbidden', reason: 'x', challenges } as const;
    expect(await outcomeOf(() => forbidden)).toMatchObject({
      status: 403,
      fields: ask('One error="insufficient_scope"'),
    });
    expect(await outcomeOf(() => forbidden, { hide: 'forbidden' })).toMatchObject({
      status: 404,
      fields: {},
    });
  });

  test.each([
    [429, 7.2, '8'],
    [503, 0, '1'],
  ] as const)('unavailable: %i with Retry-After', async (status, retryAfter, field) => {
    const verdict = { kind: 'unavailable', reason: 'x', status, retryAfter } as const;
    expect(await outcomeOf(() => verdict)).toEqual({
      kind: 'answer',
      status,
      scheme: 'One',
      reason: 'x',
      fields: { 'Retry-After': field },
    });
  });

  test('a store that fails is 503, a malformed field 400, a defect is thrown', async () => {
    const failing = (error: Error) =>
      outcomeOf(() => {
        throw error;
      });
    expect(await failing(new StoreUnavailable('down'))).toMatchObject({
      status: 503,
      fields: { 'Retry-After': '1' },
      reason: 'down',
    });
    expect(await failing(new BadRequest('twice'))).toMatchObject({ status: 400 });
    await expect(failing(new TypeError('defect'))).rejects.toThrow('defect');
  });

  test('RFC 9110 section 11.6.3: a proof becomes fields', async () => {
    const principal = { kind: 'anonymous' } as const;
    const proof = { info: { nextnonce: 'n"1', rspauth: 'ab' }, fields: { 'X-N': '1' } };
    expect(await outcomeOf(() => ({ kind: 'granted', principal, proof }))).toMatchObject({
      kind: 'pass',
      fields: { 'Authentication-Info': String.raw`nextnonce="n\"1", rspauth="ab"`, 'X-N': '1' },
    });
  });
});

describe('RFC 9729 section 6.4: a space that hides everything', () => {
  const silent = schemeOf('One', { challenge: () => [] });
  const hidden = spaceOf([silent], { hide: 'everything' });

  test.each([[[]], [['One bad']], [['Basic x']], [['=']], [['One good', 'One good']]])(
    'with %j there is nothing there',
    async (values) => {
      const outcome = await judge(hidden, authorization(...values));
      expect(outcome).toEqual({ kind: 'absent', reason: expect.any(String) });
    },
  );

  test('nor when the store fails or another leg would follow', async () => {
    const verdicts: Scheme['authenticate'][] = [
      () => Promise.reject(new StoreUnavailable('down')),
      () => ({ kind: 'continued', challenge: { scheme: 'One' } }),
      () => ({ kind: 'unavailable', reason: 'x', status: 429, retryAfter: 1 }),
    ];
    for (const authenticate of verdicts) {
      const space = spaceOf([{ ...silent, authenticate }], { hide: 'everything' });
      expect(await judge(space, authorization('One x'))).toMatchObject({ kind: 'absent' });
    }
  });

  test('who is let in passes', async () => {
    expect(await judge(hidden, authorization('One good'))).toMatchObject({ kind: 'pass' });
  });
});

describe('a space with Bearer and DPoP', () => {
  function setup() {
    const world = issuerAndVerifier();
    const { tokens, clock } = world;
    const replay = memoryReplay(clock);
    const space = spaceOf([
      bearer({ space: SPACE, tokens }),
      dpop({ space: SPACE, tokens, replay, clock, window: 60, keys: new Map() }),
    ]);
    return { ...world, replay, space, client: prover(world.now) };
  }
  /** The challenges of an answer, by scheme, as a client reads them. */
  function challengesOf(outcome: Outcome): Record<string, Challenge['params']> {
    if (outcome.kind !== 'answer') throw new Error(outcome.kind);
    const lines = outcome.fields['WWW-Authenticate'] ?? [];
    const parsed = parseChallenges([lines].flat().join(', ')) ?? [];
    return Object.fromEntries(parsed.map(({ scheme, params }) => [scheme, params]));
  }

  test('RFC 6750 section 3.1: no credentials, no error code', async () => {
    const challenges = challengesOf(await judge(setup().space, requestOf()));
    expect(Object.keys(challenges)).toEqual(['Bearer', 'DPoP']);
    expect(challenges['Bearer']).not.toHaveProperty('error');
    expect(challenges['DPoP']).not.toHaveProperty('error');
  });

  test('RFC 9449 section 7.2: the scheme that was tried gives the error', async () => {
    const { space } = setup();
    const tried = challengesOf(await judge(space, authorization('Bearer x')));
    expect(tried['Bearer']).toMatchObject({ error: 'invalid_token' });
    expect(tried['DPoP']).not.toHaveProperty('error');
    const other = challengesOf(await judge(space, authorization('DPoP x')));
    expect(other['Bearer']).not.toHaveProperty('error');
    expect(other['DPoP']).toMatchObject({ error: 'invalid_dpop_proof' });
  });

  test('RFC 9449 section 7.2: one token by both schemes is 400', async () => {
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

  test('the token and the proof of a client pass, once', async () => {
    const { space, token, client } = setup();
    const bound = token({ cnf: { jkt: client.jkt } });
    const request = requestOf([
      ['Authorization', `DPoP ${bound}`],
      ['dpop', client.proof(bound)],
    ]);
    expect(await judge(space, request)).toMatchObject({ kind: 'pass', scheme: 'DPoP' });
    expect(await judge(space, request)).toMatchObject({ kind: 'answer', status: 401 });
  });

  test('the keys away, the replay store down, the feed silent: 503 each', async () => {
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

  test('revoked after it passed: refused by the next request', async () => {
    const { space, token, revocations } = setup();
    const request = authorization(`Bearer ${token()}`);
    expect(await judge(space, request)).toMatchObject({ kind: 'pass' });
    revocations.apply({ kind: 'token', id: 'j1' }, Infinity);
    const outcome = await judge(space, request);
    expect(outcome).toMatchObject({ status: 401, reason: 'revoked by token' });
    expect(challengesOf(outcome)['Bearer']).toMatchObject({ error: 'invalid_token' });
  });
});
