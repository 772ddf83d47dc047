import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { formatChallenge } from '#shared/http/auth/challenge.ts';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
} from '#shared/http/auth/digest-algorithms.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { PROXY, type Verdict } from '../../scheme.ts';
import {
  answer,
  challengeOf,
  digestOn,
  twoDigestProcesses,
  exchange,
  PASSWORD,
  REALM,
  requestWith,
  submit,
} from './digest.fixture.ts';
import type { OfferOptions } from './offer.ts';

const ALGORITHMS = Object.keys(DIGEST_ALGORITHMS) as DigestAlgorithmName[];

let processes: Awaited<ReturnType<typeof twoDigestProcesses>>;
beforeAll(async () => {
  processes = await twoDigestProcesses();
});
const setup = (more: Partial<OfferOptions> = {}) =>
  digestOn(processes.stores, new ManualClock(), more);

/** Returns the verdict's Authentication-Info; `content` is the answer's content, which a seal needs. */
function infoOf(verdict: Verdict, content = '') {
  if (verdict.kind !== 'granted') throw new Error(`not granted: ${JSON.stringify(verdict)}`);
  const { proof, seal } = verdict;
  return seal ? seal.proof(createHash(seal.hash).update(content).digest()).info : proof?.info;
}

describe('RFC 7616 section 3.3: challenges', () => {
  test('the challenge has the parameters of the RFC', async () => {
    const { scheme } = setup({ domain: ['https://rs.example/a/', 'https://rs.example/b/'] });
    const [challenge, another] = await scheme.challenge(requestWith());
    expect(another).toBeUndefined();
    expect(formatChallenge(challenge ?? { scheme: '' })).toMatch(
      /^Digest realm="people", domain="https:\/\/rs.example\/a\/ https:\/\/rs.example\/b\/", nonce="[\w.-]+", opaque="[\w-]+", algorithm=SHA-256, qop="auth", charset=UTF-8$/,
    );
  });

  test('section 3.7: there is one challenge for each algorithm, in the configured order, each with its own nonce', async () => {
    const { scheme } = setup({ algorithms: ['SHA-512-256', 'SHA-256', 'MD5'] });
    const challenges = await scheme.challenge(requestWith());
    expect(challenges.map(({ params }) => params?.['algorithm'])).toEqual([
      'SHA-512-256',
      'SHA-256',
      'MD5',
    ]);
    expect(new Set(challenges.map(({ params }) => params?.['nonce'])).size).toBe(3);
  });

  test('every challenge has its own nonce, and all processes have the same opaque', async () => {
    const clock = new ManualClock();
    const here = await challengeOf(digestOn(processes.stores, clock).scheme, requestWith());
    const there = await challengeOf(digestOn(processes.elsewhere, clock).scheme, requestWith());
    expect(here['nonce']).not.toBe(there['nonce']);
    expect(here['opaque']).toBe(there['opaque']);
  });

  test('section 3.4.4: the challenge asks for a hash of the name if configured', async () => {
    const challenge = await challengeOf(setup({ userhash: true }).scheme, requestWith());
    expect(challenge['userhash']).toBe('true');
  });

  test('auth-int is not offered at an endpoint that does not get the content', async () => {
    const { scheme } = setup({ qop: ['auth', 'auth-int'] });
    const { content: _, ...elsewhere } = requestWith();
    expect(await challengeOf(scheme, requestWith())).toMatchObject({ qop: 'auth,auth-int' });
    expect(await challengeOf(scheme, elsewhere)).toMatchObject({ qop: 'auth' });
    expect(setup({ qop: ['auth-int'] }).scheme.challenge(elsewhere)).toEqual([]);
  });
});

describe('RFC 7616 section 3.4: the right password is accepted', () => {
  test.each(ALGORITHMS)('the right password is accepted with %s and auth', async (algorithm) => {
    const { scheme, did } = setup({ algorithms: [algorithm] });
    expect(await exchange(scheme, requestWith())).toMatchObject({
      kind: 'granted',
      principal: { kind: 'person', realm: REALM, name: 'alice' },
    });
    expect(did).toEqual(['begin', 'verifier', 'use', 'succeeded']);
  });

  test.each(ALGORITHMS)(
    'the right password is accepted with %s and auth-int',
    async (algorithm) => {
      const { scheme } = setup({ algorithms: [algorithm], qop: ['auth', 'auth-int'] });
      const request = requestWith({ method: 'POST' }, 'some content');
      const client = { qop: 'auth-int', content: 'some content' };
      expect(await exchange(scheme, request, client)).toMatchObject({ kind: 'granted' });
      expect(request.read).toEqual([DIGEST_ALGORITHMS[algorithm].crypto]);
    },
  );

  test('a request with auth is accepted without reading the content', async () => {
    const { scheme } = setup({ qop: ['auth', 'auth-int'] });
    const request = requestWith({ method: 'POST' }, 'some content');
    expect(await exchange(scheme, request)).toMatchObject({ kind: 'granted' });
    expect(request.read).toEqual([]);
  });

  test.each(['MD5', 'SHA-256', 'SHA-512-256'] as const)(
    'section 3.4.4: %s accepts a hash instead of the name',
    async (algorithm) => {
      const { scheme } = setup({ algorithms: [algorithm], userhash: true });
      const verdict = await exchange(scheme, requestWith(), { name: 'jäsøn' });
      expect(verdict).toMatchObject({ kind: 'granted', principal: { name: 'jäsøn' } });
    },
  );

  test('section 3.4.4: the name is accepted in clear text where the challenge asks for a hash', async () => {
    const { scheme } = setup({ userhash: true });
    const request = requestWith();
    const { userhash: _, ...challenge } = await challengeOf(scheme, request);
    expect(await submit(scheme, request, answer(challenge, request))).toMatchObject({
      kind: 'granted',
    });
  });

  test('section 4: a name is accepted in UTF-8, in username* and in ISO-8859-1', async () => {
    const { scheme } = setup();
    for (const changes of [
      {},
      { username: undefined, 'username*': "UTF-8''j%C3%A4s%C3%B8n" },
      { username: 'j\xe4s\xf8n' },
    ]) {
      const verdict = await exchange(scheme, requestWith(), { name: 'jäsøn' }, changes);
      expect(verdict).toMatchObject({ kind: 'granted', principal: { name: 'jäsøn' } });
    }
  });

  test('-sess is accepted from clients that keep their cnonce, and from clients that renew it', async () => {
    const { scheme } = setup({ algorithms: ['SHA-256-sess'] });
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    for (const client of [
      { nc: 1, cnonce: 'first' },
      { nc: 2, cnonce: 'first' },
      { nc: 3, cnonce: 'second' },
    ]) {
      const verdict = await submit(scheme, request, answer(challenge, request, client));
      expect(verdict).toMatchObject({ kind: 'granted' });
    }
  });

  test('section 3.8: a proxy accepts GET with a path (curl) and CONNECT', async () => {
    const { scheme } = setup();
    const get = requestWith({ at: PROXY, target: 'http://a.example/b?c' });
    const path = { hashed: { uri: '/b?c' } };
    expect(await exchange(scheme, get, path)).toMatchObject({ kind: 'granted' });
    expect(await exchange(scheme, get)).toMatchObject({ kind: 'granted' });
    const connect = requestWith({ at: PROXY, method: 'CONNECT', target: 'a.example:443' });
    expect(await exchange(scheme, connect)).toMatchObject({ kind: 'granted' });
  });

  test('a nonce of another process is accepted', async () => {
    const clock = new ManualClock();
    const request = requestWith();
    const challenge = await challengeOf(digestOn(processes.stores, clock).scheme, request);
    const there = digestOn(processes.elsewhere, clock).scheme;
    expect(await submit(there, request, answer(challenge, request))).toMatchObject({
      kind: 'granted',
    });
  });
});

describe('RFC 7616 section 3.5: Authentication-Info', () => {
  const h = (text: string) => createHash('sha256').update(text).digest('hex');
  const ha1 = h(`alice:${REALM}:${PASSWORD}`);

  test('Authentication-Info has rspauth, qop, cnonce and nc, and no nextnonce while the nonce is new', async () => {
    const { scheme } = setup();
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    const verdict = await submit(scheme, request, answer(challenge, request, { nc: 10 }));
    const a2 = h(':/documents/a');
    expect(infoOf(verdict)).toEqual({
      qop: 'auth',
      rspauth: h(`${ha1}:${challenge['nonce']}:0000000a:MTIz:auth:${a2}`),
      cnonce: 'MTIz',
      nc: '0000000a',
    });
  });

  test('Authentication-Info with auth-int covers the content of the answer', async () => {
    const { scheme } = setup({ qop: ['auth-int'] });
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    const params = answer(challenge, request, { qop: 'auth-int' });
    const verdict = await submit(scheme, request, params);
    expect(verdict).not.toHaveProperty('proof');
    const a2 = h(`:/documents/a:${h('the answer')}`);
    expect(infoOf(verdict, 'the answer')).toEqual({
      qop: 'auth-int',
      rspauth: h(`${ha1}:${challenge['nonce']}:00000001:MTIz:auth-int:${a2}`),
      cnonce: 'MTIz',
      nc: '00000001',
    });
  });

  test('Authentication-Info has nextnonce in the last minute of a nonce; both nonces are valid then', async () => {
    const { scheme, clock } = setup();
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    clock.advance(120);
    const first = await submit(scheme, request, answer(challenge, request));
    const next = infoOf(first)?.['nextnonce'] ?? '';
    const renewed = answer({ ...challenge, nonce: next }, request);
    const old = answer(challenge, request, { nc: 2 });
    expect(await submit(scheme, request, renewed)).toMatchObject({ kind: 'granted' });
    expect(await submit(scheme, request, old)).toMatchObject({ kind: 'granted' });
  });

  test('Authentication-Info has no nextnonce with -sess, since A1 contains the first nonce', async () => {
    const { scheme, clock } = setup({ algorithms: ['SHA-256-sess'] });
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    clock.advance(120);
    const verdict = await submit(scheme, request, answer(challenge, request));
    expect(infoOf(verdict)).not.toHaveProperty('nextnonce');
  });
});

describe('RFC 7616 section 3.3: a stale nonce', () => {
  test('a stale nonce with the right response gets stale=true, and the new nonce works', async () => {
    const { scheme, clock, nonces, did } = setup();
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    clock.advance(nonces.lifetime);
    const verdict = await submit(scheme, request, answer(challenge, request));
    expect(verdict).toMatchObject({
      kind: 'refused',
      challenges: [{ scheme: 'Digest', params: { stale: 'true' } }],
    });
    expect(did).toEqual(['begin', 'verifier']);
    if (verdict.kind !== 'refused') throw new Error('it was granted');
    const renewed = answer(verdict.challenges?.[0]?.params ?? {}, request);
    expect(await submit(scheme, request, renewed)).toMatchObject({ kind: 'granted' });
  });

  test('a stale nonce with a wrong response gets no stale, and uses up an attempt', async () => {
    const { scheme, clock, nonces, did } = setup();
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    clock.advance(nonces.lifetime);
    const params = answer(challenge, request, { password: 'wrong' });
    const verdict = await submit(scheme, request, params);
    expect(verdict).toMatchObject({ kind: 'refused' });
    expect(verdict).not.toHaveProperty('challenges');
    expect(did).toEqual(['begin', 'verifier', 'failed']);
  });

  test('a nonce from before a change of the secret is unknown, not stale', async () => {
    const { scheme, did } = setup();
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    const params = answer({ ...challenge, nonce: '30000000.c2FsdA.bWFj' }, request);
    const verdict = await submit(scheme, request, params);
    expect(verdict).toEqual({ kind: 'refused', ...refuse('digest-nonce') });
    expect(did).toEqual([]);
  });
});
