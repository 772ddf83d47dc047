import { describe, expect, test } from '@jest/globals';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { within } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import { issuerAndVerifier, requestOf, SPACE } from '../../judge/auth.fixture.ts';
import { bearer } from './bearer.ts';

const METADATA = 'https://rs.example/.well-known/oauth-protected-resource/documents/';
const PLAIN = {
  scheme: 'Bearer',
  params: { realm: 'documents', scope: 'documents:read', resource_metadata: METADATA },
};
const withError = (error: string) => ({
  scheme: 'Bearer',
  params: { ...PLAIN.params, error, error_description: expect.any(String) },
});

function setup() {
  const parties = issuerAndVerifier();
  const scheme = bearer({ space: SPACE, tokens: parties.tokens });
  const send = async (authorization: string, request = requestOf()) => {
    const credentials = parseCredentials(authorization);
    if (credentials === undefined) throw new Error('malformed');
    return scheme.authenticate(credentials, request);
  };
  return { ...parties, scheme, send };
}

describe('RFC 6750 section 3: the challenge', () => {
  test('the challenge has realm, scope and metadata (RFC 9728 section 5.1), and no error', async () => {
    expect(await setup().scheme.challenge(requestOf())).toEqual([PLAIN]);
  });

  test('the challenge names no metadata if the space has none', async () => {
    const { metadata: _, ...space } = SPACE;
    const scheme = bearer({ space, tokens: issuerAndVerifier().tokens });
    const [challenge] = await scheme.challenge(requestOf());
    expect(challenge?.params).toEqual({ realm: 'documents', scope: 'documents:read' });
  });

  test('the challenge names the scope that the method needs', async () => {
    const [challenge] = await setup().scheme.challenge(requestOf([], { method: 'PUT' }));
    expect(challenge?.params?.['scope']).toBe('documents:write');
  });

  test('section 3.1: the error insufficient_scope names the scopes', () => {
    const challenge = setup().scheme.insufficientScope?.(['a', 'b'], requestOf());
    expect(challenge?.params).toMatchObject({ error: 'insufficient_scope', scope: 'a b' });
  });
});

describe('RFC 6750 section 2.1: the Authorization field', () => {
  test('a valid token is granted', async () => {
    const { send, token } = setup();
    expect(await send(`Bearer ${token()}`)).toMatchObject({
      kind: 'granted',
      principal: { kind: 'application', id: 'machine' },
    });
  });

  test.each(['Bearer', 'Bearer  '])(
    'section 3.1: %j has no token, so the challenge has no error code',
    async (none) => {
      const verdict = await setup().send(none);
      expect(verdict).toMatchObject({
        kind: 'refused',
        ...within('access token', refuse('token-none')),
      });
      expect(verdict).not.toHaveProperty('challenges');
    },
  );

  test.each(['Bearer token="x"', 'Bearer a="1", b="2"'])(
    'section 3.1: the malformed value %j gets invalid_token',
    async (authorization) => {
      const verdict = await setup().send(authorization);
      expect(verdict).toMatchObject({ kind: 'refused', challenges: [withError('invalid_token')] });
      expect(verdict).not.toHaveProperty('as');
    },
  );

  test.each(['Bearer x', 'Bearer a.b.c', `Bearer ${'A'.repeat(20_000)}`])(
    'section 3.1: a value that is no access token (%#) gets invalid_token',
    async (authorization) => {
      expect(await setup().send(authorization)).toMatchObject({
        kind: 'refused',
        challenges: [withError('invalid_token')],
      });
    },
  );

  test('an ID token, an expired token and a token of another issuer all get invalid_token', async () => {
    const { send, token, now } = setup();
    const bad = {
      'typ is not at+jwt': token({}, { typ: 'JWT' }),
      'expired at ': token({ exp: now() - 60 }),
      'aud is another resource': token({ aud: 'https://rs.example/other/' }),
      'iss is another issuer': token({ iss: 'https://evil.example' }),
    };
    for (const [reason, one] of Object.entries(bad)) {
      const verdict = await send(`Bearer ${one}`);
      expect(verdict).toMatchObject({
        reason: expect.stringContaining(`access token: ${reason}`),
        challenges: [withError('invalid_token')],
      });
      expect(JSON.stringify({ ...verdict, reason: '' })).not.toContain(one);
    }
  });

  test('RFC 9449 section 7.2: a bound token as Bearer is refused', async () => {
    const { send, token } = setup();
    const bound = token({ cnf: { jkt: 'thumb' } });
    for (let use = 0; use < 2; use += 1) {
      expect(await send(`Bearer ${bound}`)).toMatchObject({
        kind: 'refused',
        ...within('access token', refuse('token-bound', { scheme: 'DPoP' })),
        challenges: [withError('invalid_token')],
      });
    }
  });

  test('a feed that does not answer gives 503, not 401', async () => {
    const { send, token, state } = setup();
    state.feedDown = true;
    expect(await send(`Bearer ${token()}`)).toMatchObject({ kind: 'unavailable', status: 503 });
  });
});

describe('RFC 6750 section 2.3: a token in the query', () => {
  test.each([
    '/documents/a?access_token=x',
    '/documents/a?p=q&access_token=x',
    '/documents/a?access%5Ftoken=x',
    '/documents/a?access_token',
    'https://rs.example/documents/a?access_token=x',
  ])('a token in the query is found: %s', (target) => {
    expect(setup().scheme.locate?.(requestOf([], { target }))).toBeDefined();
  });

  test.each(['/documents/access_token=x', '/documents/a?q=access_token', '/documents/a?', '*'])(
    'the query of %s has no token',
    (target) => expect(setup().scheme.locate?.(requestOf([], { target }))).toBeUndefined(),
  );

  test('a valid token in the query is refused, without an error code (section 3.1)', async () => {
    const { scheme, token } = setup();
    const request = requestOf([], { target: `/documents/a?access_token=${token()}` });
    const credentials = scheme.locate?.(request);
    if (credentials === undefined) throw new Error('not found');
    const verdict = await scheme.authenticate(credentials, request);
    expect(verdict).toEqual({
      kind: 'refused',
      ...refuse('token-in-query'),
    });
  });
});
