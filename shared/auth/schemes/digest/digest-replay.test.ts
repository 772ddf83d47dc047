import { beforeAll, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { setPassword } from '#shared/people/people.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { refuse as refuseSpace } from '#shared/refusals/spaces.ts';
import { judge } from '../../judge/judge.ts';
import { spaceOf } from '../../judge/judge.fixture.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import {
  answer,
  challengeOf,
  digestOn,
  twoDigestProcesses,
  exchange,
  PASSWORD,
  requestWith,
  submit,
} from './digest.fixture.ts';
import type { DigestOptions } from './digest.ts';
import { digestResponse } from './response.ts';

let processes: Awaited<ReturnType<typeof twoDigestProcesses>>;
beforeAll(async () => {
  processes = await twoDigestProcesses();
});
const setup = (more: Partial<DigestOptions> = {}) =>
  digestOn(processes.stores, new ManualClock(), more);

const REFUSED = { kind: 'refused', ...refuse('digest-response') };
const REPLAYED = { kind: 'refused', ...refuse('digest-used') };
const GRANTED = { kind: 'granted' };

describe('RFC 7616 section 5.5: replay', () => {
  test('a repeated request gets 401 without stale, and uses up no attempt', async () => {
    const { scheme, did } = setup();
    const request = requestWith();
    const params = answer(await challengeOf(scheme, request), request);
    expect(await submit(scheme, request, params)).toMatchObject(GRANTED);
    expect(await submit(scheme, request, params)).toEqual(REPLAYED);
    expect(did).not.toContain('failed');
  });

  test('one of ten requests at the same time with the same nc, on two processes, is accepted', async () => {
    const clock = new ManualClock();
    const here = digestOn(processes.stores, clock).scheme;
    const there = digestOn(processes.elsewhere, clock).scheme;
    const request = requestWith();
    const params = answer(await challengeOf(here, request), request);
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        submit(index % 2 === 0 ? here : there, request, params),
      ),
    );
    expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(1);
  });

  test('section 3.4: nonce counts may arrive in any order within the window, and each is accepted once', async () => {
    const { scheme } = setup();
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    const send = (nc: number) => submit(scheme, request, answer(challenge, request, { nc }));
    const parallel = await Promise.all([5, 3, 9, 1, 2, 128, 4].map(send));
    expect(parallel.every(({ kind }) => kind === 'granted')).toBe(true);
    for (const nc of [5, 1, 128]) expect(await send(nc)).toEqual(REPLAYED);
    expect(await send(0xffff_ffff)).toMatchObject(GRANTED);
    for (const nc of [6, 129, 0xffff_ffff - 128]) expect(await send(nc)).toEqual(REPLAYED);
    expect(await send(0xffff_ffff - 127)).toMatchObject(GRANTED);
  });

  test('a client without the password cannot use up a nonce count', async () => {
    const { scheme, did } = setup();
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    const wrong = answer(challenge, request, { password: 'wrong', nc: 0xffff_ffff });
    expect(await submit(scheme, request, wrong)).toEqual(REFUSED);
    expect(did).not.toContain('use');
    expect(await submit(scheme, request, answer(challenge, request))).toMatchObject(GRANTED);
  });

  test('rspauth of an answer cannot be used as a response', async () => {
    const { scheme } = setup();
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    const params = answer(challenge, request);
    const verdict = await submit(scheme, request, params);
    const rspauth = verdict.kind === 'granted' ? verdict.proof?.info?.['rspauth'] : undefined;
    expect(rspauth).toMatch(/^[0-9a-f]{64}$/);
    const reflected = { ...params, response: rspauth };
    expect(await submit(scheme, request, reflected)).toEqual(REFUSED);
  });
});

describe('unknown names and wrong passwords cannot be distinguished', () => {
  const masked = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(/nonce=\\"[\w.-]+\\"/g, 'nonce'));

  test.each([
    ['auth', { qop: ['auth'] as const }, 'auth'],
    ['auth-int', { qop: ['auth-int'] as const }, 'auth-int'],
    ['userhash', { userhash: true }, 'auth'],
  ])('%s: the answer and the work are the same', async (_, more, qop) => {
    const outcomes = [];
    for (const name of ['alice', 'nobody']) {
      const { scheme, did } = setup(more);
      const request = requestWith({ method: 'POST' }, 'content');
      const challenge = await challengeOf(scheme, request);
      const params = answer(challenge, request, { name, password: 'wrong', qop });
      const line = Object.entries(params).map(([key, value]) => `${key}="${value}"`);
      const sent = requestOf([['Authorization', `Digest ${line.join(', ')}`]], {
        method: 'POST',
        ...(request.content && { content: request.content }),
      });
      const outcome = await judge(spaceOf([scheme]), sent);
      outcomes.push({ outcome: masked(outcome), did, read: request.read });
    }
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]).toMatchObject({ outcome: { status: 401 } });
    expect(outcomes[0]?.did).toEqual(['begin', 'verifier', 'failed']);
  });

  test('the substitute secret of an unknown person admits no client', async () => {
    const zeros = digestOn(processes.stores, new ManualClock(), {
      random: (bytes) => Buffer.alloc(bytes),
    });
    const request = requestWith();
    const challenge = await challengeOf(zeros.scheme, request);
    const params = answer(challenge, request, { name: 'nobody' });
    const { uri = '', nonce = '', nc = '', cnonce = '' } = params;
    const signed = { method: 'GET', uri, nonce, nc, cnonce, qop: 'auth' } as const;
    const response = digestResponse('SHA-256', '0'.repeat(64), signed);
    expect(await submit(zeros.scheme, request, { ...params, response })).toEqual(REFUSED);
  });
});

describe('throttling and outages', () => {
  test('too many attempts get 429, and the secret is not read', async () => {
    const clock = new ManualClock();
    const limits = { spend: async () => ({ ok: false, retryAfter: 7 }) as const };
    const { scheme, did } = digestOn({ ...processes.stores, limits }, clock);
    expect(await exchange(scheme, requestWith())).toEqual({
      kind: 'unavailable',
      status: 429,
      retryAfter: 7,
      ...refuseSpace('too-many-attempts'),
    });
    expect(did).toEqual(['begin']);
  });

  test('guessing with a stale nonce is throttled, too', async () => {
    const { scheme, clock, nonces, did } = setup();
    const request = requestWith();
    const challenge = await challengeOf(scheme, request);
    clock.advance(nonces.lifetime);
    const guess = answer(challenge, request, { password: 'guess' });
    await submit(scheme, request, guess);
    expect(did).toEqual(['begin', 'verifier', 'failed']);
  });

  test('if the store cannot store nonce counts, the answer is 503', async () => {
    const useCounts = { use: () => Promise.reject(new StoreUnavailable('down')) };
    const { scheme } = digestOn({ ...processes.stores, useCounts }, new ManualClock());
    await expect(exchange(scheme, requestWith())).rejects.toThrow(StoreUnavailable);
  });

  test('the content is read only after the checks of the nonce and the limits', async () => {
    const { scheme } = setup({ qop: ['auth-int'] });
    const request = requestWith({ method: 'POST' }, 'content');
    await exchange(scheme, request, { qop: 'auth-int', content: 'content' }, { nonce: 'n' });
    const limits = { spend: async () => ({ ok: false, retryAfter: 7 }) as const };
    const throttled = digestOn({ ...processes.stores, limits }, new ManualClock(), {
      qop: ['auth-int'],
    });
    await exchange(throttled.scheme, request, { qop: 'auth-int', content: 'content' });
    expect(request.read).toEqual([]);
  });
});

test('a new password is required from the next request on, in every process', async () => {
  const clock = new ManualClock();
  const request = requestWith();
  const there = digestOn(processes.elsewhere, clock).scheme;
  const challenge = await challengeOf(there, request);
  expect(await submit(there, request, answer(challenge, request))).toMatchObject(GRANTED);
  const password = 'another long password';
  await setPassword(processes.store, 'alice', password);
  const old = answer(challenge, request, { nc: 2 });
  expect(await submit(there, request, old)).toEqual(REFUSED);
  const renewed = answer(challenge, request, { nc: 3, password });
  expect(await submit(there, request, renewed)).toMatchObject(GRANTED);
  await setPassword(processes.store, 'alice', PASSWORD);
});
