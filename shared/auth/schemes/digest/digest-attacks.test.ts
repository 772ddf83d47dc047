import { beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ManualClock } from '#shared/base/clock.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { judge } from '../../judge/judge.ts';
import { spaceOf } from '../../judge/judge.fixture.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import {
  answer,
  challengeOf,
  digestOn,
  twoDigestProcesses,
  exchange,
  requestWith,
  submit,
} from './digest.fixture.ts';
import type { OfferOptions } from './offer.ts';

let processes: Awaited<ReturnType<typeof twoDigestProcesses>>;
beforeAll(async () => {
  processes = await twoDigestProcesses();
});
const setup = (more: Partial<OfferOptions> = {}) =>
  digestOn(processes.stores, new ManualClock(), more);

const REFUSED = { kind: 'refused', ...refuse('digest-response') };

describe('RFC 7616 section 3.4: a wrong response', () => {
  test.each([
    ['a response of another password', { password: 'wrong' }],
    ['a response of another name', { name: 'jäsøn', password: 'wrong' }],
    ['a response for another method', { hashed: { method: 'DELETE' } }],
    ['a response for no method, as in rspauth', { hashed: { method: '' } }],
  ])('%s is refused', async (_, client) => {
    expect(await exchange(setup().scheme, requestWith(), client)).toEqual(REFUSED);
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['a response of zeros', { response: '0'.repeat(64) }],
    ['a response of the length of MD5', { response: '0'.repeat(32) }],
    ['an nc that differs from the hashed nc', { nc: '00000002' }],
    ['a cnonce that differs from the hashed cnonce', { cnonce: 'other' }],
    ["another person's name", { username: 'bob' }],
    ['an empty name', { username: '' }],
    ['a name with NUL', { 'username*': "UTF-8''alice%00" }],
    ['a name with CR LF', { 'username*': "UTF-8''alice%0D%0ASet-Cookie%3A%20a" }],
    ['a name with a colon', { username: 'alice:people' }],
    ['a name in capital letters', { username: 'ALICE' }],
    ['a name of 60,000 characters', { username: 'a'.repeat(60_000) }],
    ['a name of another alias', { username: 'kerberos:alice@EXAMPLE.COM' }],
  ])('%s is refused', async (_, changes) => {
    const extended = 'username*' in changes && { username: undefined };
    const sent = { ...changes, ...extended };
    expect(await exchange(setup().scheme, requestWith(), {}, sent)).toEqual(REFUSED);
  });

  test('a response for other content with auth-int, or for omitted content (curl with POST), is refused', async () => {
    const { scheme } = setup({ qop: ['auth-int'] });
    for (const content of ['other', '']) {
      const request = requestWith({ method: 'POST' }, 'some content');
      expect(await exchange(scheme, request, { qop: 'auth-int', content })).toEqual(REFUSED);
    }
  });
});

describe('RFC 7616 section 3.4: only offered algorithms and values of qop are accepted', () => {
  test.each<[string, Partial<OfferOptions>, object, Readonly<Record<string, string | undefined>>]>([
    ['MD5 for SHA-256', {}, {}, { algorithm: 'MD5' }],
    ['no algorithm, which is MD5 (wget)', {}, {}, { algorithm: undefined, qop: undefined }],
    ['SHA-512, which is not registered (httpbin)', {}, {}, { algorithm: 'SHA-512' }],
    ['an unknown algorithm', {}, {}, { algorithm: 'ROT13' }],
    ['the algorithm constructor, a property of every object', {}, {}, { algorithm: 'constructor' }],
    ['SHA-256-sess for SHA-256', {}, {}, { algorithm: 'SHA-256-sess' }],
    ['the algorithm in small letters', {}, {}, { algorithm: 'sha-256' }],
    ['auth for auth-int', { qop: ['auth-int'] }, {}, {}],
    ['auth-int for auth', {}, { qop: 'auth-int' }, {}],
    ['an unknown qop', {}, {}, { qop: 'auth-conf' }],
    ['auth and auth-int at once', { qop: ['auth', 'auth-int'] }, {}, { qop: 'auth,auth-int' }],
    ['no qop for auth-int (Chromium)', { qop: ['auth-int'] }, {}, { qop: undefined }],
    ['no qop, nc and cnonce', {}, {}, { qop: undefined, nc: undefined, cnonce: undefined }],
    ['userhash, which was not offered,', {}, {}, { userhash: 'true', username: 'ab'.repeat(32) }],
  ])('%s is 401', async (_, more, client, changes) => {
    const { scheme, did } = setup(more);
    const verdict = await exchange(scheme, requestWith(), client, changes);
    expect(verdict).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/offered|no qop/),
    });
    expect(verdict).not.toHaveProperty('as');
    expect(did).toEqual([]);
  });

  test('auth-int is refused at an endpoint that does not get the content', async () => {
    const { scheme } = setup({ qop: ['auth', 'auth-int'] });
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    const { content: _, ...elsewhere } = request;
    const params = answer(challenge, request, { qop: 'auth-int' });
    expect(await submit(scheme, elsewhere, params)).toMatchObject({
      ...refuse('digest-qop', { offered: 'auth' }),
    });
  });
});

describe('RFC 7616 section 3.3: realm, opaque and nonce must be those of the server', () => {
  test.each<[string, Readonly<Record<string, string | undefined>>]>([
    ['another realm', { realm: 'others' }],
    ['a realm with quotes', { realm: 'people", stale="true' }],
    ['another opaque', { opaque: 'b3RoZXI' }],
    ['an empty nonce', { nonce: '' }],
    ['an unknown nonce', { nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093' }],
    ['a nonce with quotes', { nonce: '1."\\' }],
    ['a nonce of 60,000 characters', { nonce: '1'.repeat(60_000) }],
  ])('%s is 401 before any secret is read', async (_, changes) => {
    const { scheme, did } = setup();
    const verdict = await exchange(scheme, requestWith(), {}, changes);
    expect(verdict).toMatchObject({ kind: 'refused' });
    expect(verdict).not.toHaveProperty('as');
    expect(verdict).not.toHaveProperty('challenges');
    expect(did).toEqual([]);
  });

  test('section 3.4: opaque may be omitted, since the nonce already identifies the server', async () => {
    const verdict = await exchange(setup().scheme, requestWith(), {}, { opaque: undefined });
    expect(verdict).toMatchObject({ kind: 'granted' });
  });

  test('a nonce of another realm or algorithm is refused', async () => {
    const request = requestWith();
    const clock = new ManualClock();
    const two = digestOn(processes.stores, clock, {
      algorithms: ['SHA-256', 'SHA-512-256'],
    }).scheme;
    const others = digestOn(processes.stores, clock, { realm: 'others' }).scheme;
    const ours = await challengeOf(two, request, 'SHA-256');
    for (const { nonce } of [
      await challengeOf(two, request, 'SHA-512-256'),
      await challengeOf(others, request),
    ]) {
      const params = answer({ ...ours, nonce: nonce ?? '' }, request);
      expect(await submit(two, request, params)).toMatchObject({
        reason: expect.stringMatching(/^nonce is not ours/),
      });
    }
  });

  test('credentials for a forged challenge are refused', async () => {
    const request = requestWith();
    const { scheme } = setup();
    const challenge = { ...(await challengeOf(scheme, request)), nonce: 'chosen' };
    expect(await submit(scheme, request, answer(challenge, request))).toMatchObject({
      kind: 'refused',
    });
  });
});

describe('RFC 7616 section 3.4.6: credentials with another uri get 400', () => {
  test.each([
    ['another path', '/documents/b'],
    ['the query dropped', '/documents/a'],
    ['another origin', 'https://other.example/documents/a?b=c'],
  ])('the uri is refused: %s', async (_, uri) => {
    const { scheme, did } = setup();
    const request = requestWith({ target: '/documents/a?b=c' });
    expect(await exchange(scheme, request, { hashed: { uri } })).toEqual({
      kind: 'refused',
      as: 'malformed',
      ...refuse('digest-uri'),
    });
    expect(did).toEqual([]);
  });

  test('the response for one target is refused for another target', async () => {
    const { scheme } = setup();
    const request = requestWith();
    const params = answer(await challengeOf(scheme, request), request);
    const other = requestWith({ target: '/documents/b' });
    expect(await submit(scheme, other, { ...params, uri: '/documents/b' })).toEqual(REFUSED);
  });
});

describe('RFC 7616 section 3.4: malformed credentials are 400', () => {
  test.each([
    ['Digest', 'username'],
    ['Digest YWxpY2U6cGFzcw==', 'username'],
    ['Digest username="alice"', 'realm'],
    ['Digest username="alice", realm="r", uri="/", nonce="n"', 'response'],
    ['Digest unknown="parameter"', 'username'],
  ])('%s: the log names the fault', async (line, parameter) => {
    const { scheme, did } = setup();
    const credentials = parseCredentials(line);
    if (credentials === undefined) throw new Error('the line is no credentials');
    expect(await scheme.authenticate(credentials, requestWith())).toEqual({
      kind: 'refused',
      as: 'malformed',
      ...refuse('digest-form', { param: parameter }),
    });
    expect(did).toEqual([]);
  });

  test('credentials with a repeated parameter, or an unfinished quote, never reach the scheme', async () => {
    const { scheme } = setup();
    const request = requestWith();
    const right = Object.entries(answer(await challengeOf(scheme, request), request)).map(
      ([name, value]) => `${name}="${value}"`,
    );
    for (const more of ['username="bob"', 'RESPONSE="0"', 'nc="00000002']) {
      const value = `Digest ${[...right, more].join(', ')}`;
      const outcome = await judge(spaceOf([scheme]), requestOf([['Authorization', value]]));
      expect(outcome).toMatchObject({ kind: 'answer', status: 401 });
    }
  });

  test('random parameters always get a verdict that refuses the request', async () => {
    const { scheme } = setup({ qop: ['auth', 'auth-int'], userhash: true });
    const request = requestWith();
    const names = [...Object.keys(answer({ algorithm: 'MD5' }, request)), 'username*', 'userhash'];
    const params = fc.dictionary(fc.constantFrom(...names), fc.string({ unit: 'binary-ascii' }), {
      minKeys: 1,
    });
    await fc.assert(
      fc.asyncProperty(params, async (changes) => {
        const right = answer(await challengeOf(scheme, request), request, { password: 'wrong' });
        const credentials = { scheme: 'digest', rest: '', params: { ...right, ...changes } };
        expect(await scheme.authenticate(credentials, request)).toMatchObject({ kind: 'refused' });
      }),
    );
  });
});
