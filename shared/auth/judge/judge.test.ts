import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import { requestOf } from './auth.fixture.ts';
import { authorization, schemeOf, spaceOf } from './judge.fixture.ts';
import { KeysUnavailable } from '../tokens/issuer-keys.ts';
import { judge } from './judge.ts';
import { ORIGIN, PROXY, type ProtectionSpace, type Scheme } from '../scheme.ts';

const ask = (...challenges: string[]) => ({ 'WWW-Authenticate': challenges });
const TWO = spaceOf([schemeOf('One'), schemeOf('Two')]);
const BOTH = ask('One realm="documents"', 'Two realm="documents"');

describe('RFC 9110 section 11.6.1: challenges', () => {
  test('a request without credentials gets 401 with the challenge of every scheme', async () => {
    expect(await judge(TWO, requestOf())).toEqual({
      kind: 'answer',
      status: 401,
      fields: BOTH,
      ...refuse('no-credentials'),
    });
  });

  test('credentials of a scheme that the space does not have get 401 with the challenge of every scheme', async () => {
    const outcome = await judge(TWO, authorization('Basic dXNlcjpwYXNz'));
    expect(outcome).toMatchObject({ status: 401, fields: BOTH, ...refuse('other-scheme') });
  });

  test.each(['Bearer a b', 'basic a:b'])(
    'RFC 6750 section 3.1: the scheme refuses %j, which has no valid token',
    async (value) => {
      const [name = ''] = value.split(' ');
      const outcome = await judge(spaceOf([schemeOf(name)]), authorization(value));
      expect(outcome).toMatchObject({ status: 401, scheme: name, reason: `not good for ${name}` });
    },
  );

  test('a refusal replaces only the challenge of its own scheme', async () => {
    const challenges: Challenge[] = [{ scheme: 'Two', params: { error: 'x' } }];
    const refusing = schemeOf('Two', {
      authenticate: () => ({
        kind: 'refused',
        refusal: 'other-scheme',
        reason: 'why',
        challenges,
        fields: { 'X-N': '1' },
      }),
    });
    const space = spaceOf([schemeOf('One'), refusing, schemeOf('Three')]);
    expect(await judge(space, authorization('Two x'))).toEqual({
      kind: 'answer',
      status: 401,
      scheme: 'Two',
      refusal: 'other-scheme',
      reason: 'why',
      fields: {
        ...ask('One realm="documents"', 'Two error="x"', 'Three realm="documents"'),
        'X-N': '1',
      },
    });
  });

  test('the answer omits a scheme that cannot challenge at the moment, and the reason says so', async () => {
    const dumb = schemeOf('Two', {
      challenge: () => Promise.reject(new StoreUnavailable('no nonces')),
    });
    const outcome = await judge(spaceOf([schemeOf('One'), dumb]), requestOf());
    expect(outcome).toMatchObject({ status: 401, fields: ask('One realm="documents"') });
    expect(outcome).toMatchObject({ reason: expect.stringContaining('no nonces') });
  });

  test('the answer omits a scheme whose challenge throws synchronously, too', async () => {
    const dumb = schemeOf('Two', {
      challenge() {
        throw new StoreUnavailable('no nonces');
      },
    });
    const outcome = await judge(spaceOf([schemeOf('One'), dumb]), requestOf());
    expect(outcome).toMatchObject({ status: 401, fields: ask('One realm="documents"') });
  });

  test('the answer is 503 if no scheme can challenge', async () => {
    const dumb = schemeOf('One', { challenge: () => Promise.reject(new Error('no nonces')) });
    expect(await judge(spaceOf([dumb]), requestOf())).toMatchObject({
      status: 503,
      fields: { 'Retry-After': '1' },
    });
  });

  test('section 10.2.3: the 503 for missing keys of an issuer has Retry-After', async () => {
    const waiting = schemeOf('Two', { challenge: () => Promise.reject(new KeysUnavailable(7)) });
    expect(await judge(spaceOf([waiting]), requestOf())).toMatchObject({
      status: 503,
      fields: { 'Retry-After': '7' },
    });
    expect(await judge(spaceOf([schemeOf('One'), waiting]), requestOf())).toMatchObject({
      status: 401,
      fields: ask('One realm="documents"'),
    });
  });

  test('section 15.5.2: a 401 without any challenge becomes 403', async () => {
    const silent = schemeOf('One', { challenge: () => [] });
    for (const [at, answer] of [
      [ORIGIN, 'Authorization'],
      [PROXY, 'Proxy-Authorization'],
    ] as const) {
      const space = spaceOf([silent], { at });
      for (const fields of [
        [],
        [[answer, 'One bad']],
        [[answer, 'Basic x']],
        [[answer, '=']],
      ] as const) {
        const outcome = await judge(space, requestOf(fields));
        expect(outcome).toMatchObject({ kind: 'answer', status: 403, fields: {} });
        expect(outcome).not.toHaveProperty(['fields', at.ask]);
      }
    }
    const hiding = spaceOf([silent], { hide: 'forbidden' });
    expect(await judge(hiding, requestOf())).toMatchObject({ status: 404, fields: {} });
  });

  test('a space with an unannounced scheme and a scheme that cannot challenge at the moment gives 503', async () => {
    const silent = schemeOf('One', { challenge: () => [] });
    const dumb = schemeOf('Two', { challenge: () => Promise.reject(new Error('no nonces')) });
    expect(await judge(spaceOf([silent, dumb]), requestOf())).toMatchObject({ status: 503 });
  });

  test('section 5.3: if a scheme finds the request malformed while it makes its challenge, the answer is 400', async () => {
    const strict = schemeOf('Two', {
      challenge(request) {
        request.field('x-forwarded-proto');
        return [];
      },
    });
    const twice = requestOf([
      ['X-Forwarded-Proto', 'https'],
      ['X-Forwarded-Proto', 'http'],
    ]);
    const outcome = await judge(spaceOf([schemeOf('One'), strict]), twice);
    expect(outcome).toMatchObject({ kind: 'answer', status: 400, fields: {} });
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
  test.each(['One good', 'oNE good', 'ONE   good'])('%j is accepted', async (value) => {
    expect(await judge(TWO, authorization(value))).toEqual({
      kind: 'pass',
      scheme: 'One',
      principal: { kind: 'anonymous', scopes: new Set() },
      fields: {},
    });
  });

  test.each([
    ['two lines', ['One good', 'Two good']],
    ['the same line twice', ['One good', 'One good']],
    ['two lines, one of an unknown scheme', ['One good', 'Basic x']],
    ['two lines, one of them malformed', ['One good', '=']],
    ['two malformed lines', [',,,', '=']],
    ['two lines that a proxy has joined (section 5.3)', ['One good, Two good']],
    ['two lines, one of them only a scheme name', ['One good, Two']],
  ])('%s: 400, and neither is checked', async (_, values) => {
    expect(await judge(TWO, authorization(...values))).toMatchObject({
      kind: 'answer',
      status: 400,
      fields: BOTH,
    });
  });

  test.each(['', ' ', 'One a="1", a="2"', 'One go od', 'One\tgood', '=', 'ö x', ',,,', 'One a="b'])(
    'malformed credentials get 401 with challenges: %j',
    async (value) => {
      expect(await judge(TWO, authorization(value))).toMatchObject({ status: 401, fields: BOTH });
    },
  );

  test('malformed credentials never pass as absent, not even beside a cookie', async () => {
    const session = schemeOf('Session', {
      yields: true,
      locate: () => ({ scheme: 'session', rest: 'good', token68: 'good' }),
    });
    const space = spaceOf([session, schemeOf('One')]);
    expect(await judge(space, authorization())).toMatchObject({ kind: 'pass' });
    for (const value of ['', '=', ',,,', 'One a="b']) {
      expect(await judge(space, authorization(value))).toMatchObject({ status: 401 });
    }
  });

  describe('RFC 6750 section 3.1: a malformed value of Basic or Bearer', () => {
    const opaque = spaceOf([schemeOf('Bearer'), schemeOf('Basic')]);
    const asked = ['Bearer realm="documents"', 'Basic realm="documents"'];

    test.each([
      'Basic %%%',
      'Bearer a b',
      'bearer  ö',
      'BASIC a:b',
      'Basic a="b" c',
      'Bearer a\tb',
    ])('%j gets a challenge: 401', async (value) => {
      for (const at of [ORIGIN, PROXY]) {
        const space = { ...opaque, at };
        const fields = [[at.answer, value] as const];
        const outcome = await judge(space, { ...requestOf(fields), at });
        expect(outcome).toMatchObject({ status: at.status, fields: { [at.ask]: asked } });
      }
    });

    test.each(['Basic %%%, Basic a', 'Basic %%%; Bearer a', 'Bearer a b,', 'Basicx %%'])(
      '%j, which may be two sets of credentials, or none, gets 401',
      async (value) => {
        const refused = { status: 401, fields: { 'WWW-Authenticate': asked } };
        expect(await judge(opaque, authorization(value))).toMatchObject(refused);
      },
    );

    test('a malformed value beside other credentials gets 400, and in a space without the scheme 401', async () => {
      const two = authorization('Basic %%%', 'Bearer good');
      expect(await judge(opaque, two)).toMatchObject({ status: 400 });
      expect(await judge(TWO, authorization('Basic %%%'))).toMatchObject({ status: 401 });
    });
  });

  test('RFC 9577: credentials that must be alone are refused beside credentials of another scheme', async () => {
    const alone = schemeOf('Two', { alone: true });
    const elsewhere = schemeOf('Three', {
      locate: (request) =>
        request.target.includes('key') ? { scheme: 'three', rest: 'good' } : undefined,
    });
    const space = spaceOf([schemeOf('One'), alone, elsewhere]);
    expect(await judge(space, authorization('Two good'))).toMatchObject({ kind: 'pass' });
    for (const values of [
      ['Two good', 'One good'],
      ['Basic x', 'Two good'],
      ['Two good', 'Two good'],
    ]) {
      expect(await judge(space, authorization(...values))).toMatchObject({ status: 400 });
    }
    const request = requestOf([['Authorization', 'Two good']], { target: '/documents/a?key' });
    expect(await judge(space, request)).toMatchObject({ kind: 'answer', status: 400 });
  });

  test('credentials outside Authorization are accepted alone, and are 400 beside other credentials', async () => {
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

  test('any text in Authorization gets 401', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), async (text) => {
        const outcome = await judge(TWO, authorization(text));
        return outcome.kind === 'answer' && outcome.status === 401;
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

  test('the verdict `continued` gives 401 with only this challenge', async () => {
    const challenge = { scheme: 'One', params: { data: 'leg 2' } };
    expect(await outcomeOf(() => ({ kind: 'continued', challenge }))).toEqual({
      kind: 'answer',
      detail: 'The exchange goes on: answer the challenge.',
      status: 401,
      scheme: 'One',
      ...refuse('continued'),
      fields: ask('One data="leg 2"'),
    });
  });

  test('RFC 6750 section 3.1: the verdict `malformed` gives 400', async () => {
    expect(
      await outcomeOf(() => ({
        kind: 'refused',
        as: 'malformed',
        refusal: 'other-scheme',
        reason: 'x',
      })),
    ).toMatchObject({
      status: 400,
      fields: BOTH,
    });
  });

  test('the verdict `forbidden` gives 403 with the challenges of the verdict only', async () => {
    const challenges = [{ scheme: 'One', params: { error: 'insufficient_scope' } }];
    const forbidden = {
      kind: 'refused',
      as: 'forbidden',
      refusal: 'other-scheme',
      reason: 'x',
      challenges,
    } as const;
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
    const verdict = {
      kind: 'unavailable',
      refusal: 'other-scheme',
      reason: 'x',
      status,
      retryAfter,
    } as const;
    expect(await outcomeOf(() => verdict)).toEqual({
      kind: 'answer',
      status,
      scheme: 'One',
      refusal: 'other-scheme',
      reason: 'x',
      fields: { 'Retry-After': field },
    });
    const fields = { RateLimit: '"api-key";r=0;t=3' };
    expect(await outcomeOf(() => ({ ...verdict, fields }))).toMatchObject({ fields });
  });

  test('a store that fails gives 503, a malformed field 400, and a defect is thrown', async () => {
    const failing = async (error: Error) =>
      outcomeOf(() => {
        throw error;
      });
    expect(await failing(new StoreUnavailable('down'))).toMatchObject({
      status: 503,
      fields: { 'Retry-After': '1' },
      reason: 'down',
    });
    expect(await failing(new BadRequest('twice'))).toMatchObject({ status: 400 });
    expect(await failing(new HttpError(413, 'long', { Connection: 'close' }))).toMatchObject({
      status: 413,
      fields: { Connection: 'close' },
    });
    await expect(failing(new TypeError('defect'))).rejects.toThrow('defect');
  });

  test('the verdict `http-1.1` resets the stream, without a challenge (RFC 9113 section 7)', async () => {
    const verdict = {
      kind: 'refused',
      as: 'http-1.1',
      refusal: 'other-scheme',
      reason: 'leg 2 over HTTP/2',
    } as const;
    expect(await outcomeOf(() => verdict)).toEqual({
      kind: 'answer',
      status: 421,
      scheme: 'One',
      refusal: 'other-scheme',
      reason: 'leg 2 over HTTP/2',
      fields: {},
      http11: true,
    });
  });

  test.each([
    [ORIGIN, 'Authorization', 'Authentication-Info', 'WWW-Authenticate'],
    [PROXY, 'Proxy-Authorization', 'Proxy-Authentication-Info', 'Proxy-Authenticate'],
  ] as const)(
    'RFC 4559 section 5, RFC 7616 section 3.5: the last token and a proof over the content, at %j',
    async (at, answer, info, question) => {
      const sealing = schemeOf('One', {
        authenticate: () => ({
          kind: 'granted',
          principal: { kind: 'anonymous' },
          proof: { ask: { scheme: 'One', token68: 'b2s=' } },
          seal: {
            hash: 'sha256',
            proof: (digest) => ({ info: { rspauth: digest.toString('hex') } }),
          },
        }),
      });
      const outcome = await judge(spaceOf([sealing], { at }), requestOf([[answer, 'One x']]));
      if (outcome.kind !== 'pass') throw new Error(outcome.reason);
      expect(outcome.fields).toEqual({ [question]: ['One b2s='] });
      expect(outcome.seal?.hash).toBe('sha256');
      expect(outcome.seal?.proof(Buffer.from('ab', 'hex'))).toEqual({ [info]: 'rspauth="ab"' });
    },
  );

  test('RFC 9110 section 11.6.3: a proof becomes Authentication-Info fields', async () => {
    const principal = { kind: 'anonymous' } as const;
    const proof = { info: { nextnonce: 'n"1', rspauth: 'ab' }, fields: { 'X-N': '1' } };
    expect(await outcomeOf(() => ({ kind: 'granted', principal, proof }))).toMatchObject({
      kind: 'pass',
      fields: { 'Authentication-Info': String.raw`nextnonce="n\"1", rspauth="ab"`, 'X-N': '1' },
    });
  });
});

describe('scopes of a principal', () => {
  const principalOf = async (scopes: string[] | undefined, more?: Partial<ProtectionSpace>) => {
    const scheme = schemeOf('One', {
      authenticate: () => ({
        kind: 'granted',
        principal: {
          kind: 'person',
          realm: 'documents',
          name: 'alice',
          ...(scopes && { scopes: new Set(scopes) }),
        },
      }),
    });
    const outcome = await judge(spaceOf([scheme], more), authorization('One x'));
    return outcome.kind === 'pass' ? [...(outcome.principal.scopes ?? ['absent'])] : outcome.reason;
  };
  const granted: ProtectionSpace['granted'] = (principal) =>
    new Set(principal.kind === 'person' ? [`of-${principal.name}`] : ['of-others']);

  test.each([
    ['a scheme that knows none', undefined, { granted }, ['of-alice']],
    ['a scheme that knows none, in a space that gives none', undefined, {}, []],
    ['a scheme that knows some', ['own'], { granted }, ['own']],
    ['a scheme that found none', [], { granted }, []],
  ])('the principal has the scopes of %s', async (_, scopes, more, expected) => {
    expect(await principalOf(scopes, more)).toEqual(expected);
  });
});

describe('RFC 9729 section 6.4: a space that hides everything', () => {
  const silent = schemeOf('One', { challenge: () => [] });
  const hidden = spaceOf([silent], { hide: 'everything' });

  test.each([[[]], [['One bad']], [['Basic x']], [['=']], [['One good', 'One good']]])(
    'with %j the space looks absent',
    async (values) => {
      const outcome = await judge(hidden, authorization(...values));
      expect(outcome).toMatchObject({ kind: 'absent', reason: expect.any(String) });
    },
  );

  test('a space that hides everything looks absent, too, if the store fails or the exchange would continue', async () => {
    const verdicts: Scheme['authenticate'][] = [
      () => Promise.reject(new StoreUnavailable('down')),
      () => ({ kind: 'continued', challenge: { scheme: 'One' } }),
      () => ({
        kind: 'unavailable',
        refusal: 'other-scheme',
        reason: 'x',
        status: 429,
        retryAfter: 1,
      }),
    ];
    for (const authenticate of verdicts) {
      const space = spaceOf([{ ...silent, authenticate }], { hide: 'everything' });
      expect(await judge(space, authorization('One x'))).toMatchObject({ kind: 'absent' });
    }
  });

  test('a space that hides everything admits a principal with good credentials', async () => {
    expect(await judge(hidden, authorization('One good'))).toMatchObject({ kind: 'pass' });
  });
});
