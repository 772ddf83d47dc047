import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import {
  authorizeDevice,
  type DeviceAuthorization,
  pollForToken,
  type Progress,
} from './device-login.ts';
import { createProver } from './dpop.ts';
import { NoAnswer, type Send } from '#shared/client/send.ts';
import { said as words } from '#shared/refusals/operations.ts';
import { formOf, scripted } from './oauth.fixture.ts';
import type { AuthorizationServer } from './server-metadata.ts';

const DEVICE = 'https://auth.example/device/auth';
const TOKEN = 'https://auth.example/token';
const SERVER: AuthorizationServer = {
  metadata: {
    issuer: 'https://auth.example',
    device_authorization_endpoint: DEVICE,
    token_endpoint: TOKEN,
  },
  endpoint: (name) => (name === 'token_endpoint' ? TOKEN : DEVICE),
};
const good = {
  device_code: 'dc',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://auth.example/device',
  verification_uri_complete: 'https://auth.example/device?user_code=BCDF-GHJK',
  expires_in: 600,
  interval: 7,
};
const error = (code: string, status = 400) => ({ status, body: { error: code } });
const granted = { body: { access_token: 'at', token_type: 'DPoP', expires_in: 600 } };

describe('authorizeDevice', () => {
  test('RFC 8628 section 3.1: sends client, scope and resource, if they are given', async () => {
    const { send, sent } = scripted({ [`POST ${DEVICE}`]: { body: good } });
    const form = { client: 'tv', scope: undefined, resource: 'https://api.example/' };
    const clock = new ManualClock();
    expect(await authorizeDevice(send, SERVER, form, clock)).toEqual({
      deviceCode: 'dc',
      userCode: 'BCDF-GHJK',
      verificationUri: good.verification_uri,
      verificationUriComplete: good.verification_uri_complete,
      expiresAt: clock.now() + 600_000,
      interval: 7,
    });
    expect(formOf(sent[0])).toEqual({ client_id: 'tv', resource: 'https://api.example/' });
    expect(sent[0]?.fields).not.toHaveProperty('dpop');
  });

  test.each([
    ['no interval', { interval: undefined }],
    ['an interval of 0', { interval: 0 }],
    ['an interval that is text', { interval: '7' }],
    ['a negative interval', { interval: -1 }],
  ])('section 3.2: with %s polls every 5 seconds', async (_, more) => {
    const { send } = scripted({ [`POST ${DEVICE}`]: { body: { ...good, ...more } } });
    const { interval } = await authorizeDevice(send, SERVER, { client: 'tv' }, new ManualClock());
    expect(interval).toBe(5);
  });

  test.each([
    ['an error', error('invalid_client', 401), 'invalid_client'],
    ['no device code', { body: { ...good, device_code: undefined } }, 'no code'],
    ['an empty user code', { body: { ...good, user_code: '' } }, 'no code'],
    ['a script as link', { body: { ...good, verification_uri: 'javascript:alert(1)' } }, 'no code'],
    [
      'a link in clear to another machine',
      { body: { ...good, verification_uri: 'http://evil.example/' } },
      'no code',
    ],
    ['an expiry that is no number', { body: { ...good, expires_in: '600' } }, 'no code'],
    ['no JSON', { body: '<html>' }, 'JSON object'],
  ])('%s is a failure', async (_, reply, reason) => {
    const { send } = scripted({ [`POST ${DEVICE}`]: reply });
    const asking = authorizeDevice(send, SERVER, { client: 'tv' }, new ManualClock());
    await expect(asking).rejects.toThrow(reason);
  });

  test('drops an unsafe complete link', async () => {
    const body = { ...good, verification_uri_complete: 'http://evil.example/?user_code=1' };
    const { send } = scripted({ [`POST ${DEVICE}`]: { body } });
    const code = await authorizeDevice(send, SERVER, { client: 'tv' }, new ManualClock());
    expect(code).not.toHaveProperty('verificationUriComplete');
  });
});

/** Polls a server with these answers in order; undefined: no answer. */
async function poll(
  replies: readonly (Parameters<typeof scripted>[0][string] | undefined)[],
  more: Partial<DeviceAuthorization> = {},
) {
  const clock = new ManualClock(0);
  const at: number[] = [];
  const said: string[] = [];
  const left: number[] = [];
  const send: Send = async (message) => {
    const reply = replies[Math.min(at.length, replies.length - 1)];
    at.push(clock.now() / 1000);
    if (reply === undefined) throw new NoAnswer(words('network-time'));
    return scripted({ [`POST ${TOKEN}`]: reply }).send(message);
  };
  const authorization = {
    deviceCode: 'dc',
    userCode: 'BCDF-GHJK',
    verificationUri: good.verification_uri,
    expiresAt: 600_000,
    interval: 5,
    ...more,
  };
  const wait = async (milliseconds: number) => clock.advance(milliseconds / 1000);
  const progress: Progress = {
    remaining: (seconds) => void left.push(seconds),
    say: (line) => void said.push(line),
  };
  const outcome = await pollForToken(
    send,
    SERVER,
    { client: 'tv' },
    authorization,
    await createProver(clock, systemRandom),
    { clock, wait },
    progress,
  ).catch((failure: Error) => failure.message);
  return { outcome, at, said, left };
}

const pending = error('authorization_pending');
const slowDown = error('slow_down');

describe('pollForToken', () => {
  test('RFC 8628 section 3.4: polls at the interval, first after one interval', async () => {
    const { outcome, at } = await poll([pending, pending, granted], { interval: 3 });
    expect(outcome).toMatchObject({ access_token: 'at' });
    expect(at).toEqual([3, 6, 9]);
  });

  test('section 3.5: each slow_down adds 5 seconds to all later intervals', async () => {
    const { at } = await poll([pending, slowDown, pending, slowDown, pending, granted]);
    expect(at).toEqual([5, 10, 20, 30, 45, 60]);
  });

  test.each([
    ['access_denied', 'The request was denied.'],
    ['expired_token', 'The code has expired before it was approved: run the command again.'],
    ['invalid_grant', `${TOKEN} answers 400: invalid_grant`],
    ['authorization_pending ', `${TOKEN} answers 400: authorization_pending `],
    ['constructor', `${TOKEN} answers 400: constructor`],
  ])('section 3.5: %j ends the login with an explanation', async (code, sentence) => {
    const { outcome, at } = await poll([pending, error(code)]);
    expect(outcome).toBe(sentence);
    expect(at).toHaveLength(2);
  });

  test('section 3.2: does not poll for an expired code', async () => {
    const { outcome, at, left } = await poll([pending], { expiresAt: 12_000 });
    expect(outcome).toMatch('has expired');
    expect(at).toEqual([5, 10]);
    expect(left).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test.each([
    ['no answer', undefined, 'No answer from https://auth.example'],
    ['503', error('temporarily_unavailable', 503), `${TOKEN} answers 503`],
    ['502 that is no JSON', { status: 502, body: 'Bad Gateway' }, `${TOKEN} answers 502`],
    ['429', { status: 429 }, `${TOKEN} answers 429`],
  ])(
    'section 3.5: %s doubles the interval up to a minute, and an answer resets it',
    async (_, lost, say) => {
      const { outcome, at, said } = await poll([lost, lost, lost, lost, lost, pending, granted]);
      expect(outcome).toMatchObject({ access_token: 'at' });
      expect(at).toEqual([5, 15, 35, 75, 135, 195, 200]);
      expect(said).toEqual([10, 20, 40, 60, 60].map((s) => `${say}: trying again in ${s} s`));
    },
  );

  test('stops when the code expires, if the server never answers', async () => {
    const { outcome } = await poll([undefined]);
    expect(outcome).toMatch('has expired');
  });

  test('keeps an interval above a minute during an outage', async () => {
    const { at } = await poll([undefined, pending, granted], { interval: 90 });
    expect(at).toEqual([90, 180, 270]);
  });

  test('RFC 9449 section 5: refuses a bearer token instead of a bound token', async () => {
    const { outcome } = await poll([{ body: { access_token: 'at', token_type: 'Bearer' } }]);
    expect(outcome).toMatch('of type Bearer');
  });
});

test("RFC 9449 section 8: a poll's nonce is in the next proof, and only a new nonce costs an extra request", async () => {
  const clock = new ManualClock();
  const asks = (nonce: string) => ({
    status: 400,
    fields: { 'dpop-nonce': nonce },
    body: { error: 'use_dpop_nonce' },
  });
  const { send, sent } = scripted({
    [`POST ${TOKEN}`]: [asks('n1'), pending, pending, asks('n2'), granted],
  });
  await pollForToken(
    send,
    SERVER,
    { client: 'tv' },
    {
      deviceCode: 'dc',
      userCode: 'x',
      verificationUri: good.verification_uri,
      expiresAt: clock.now() + 600_000,
      interval: 5,
    },
    await createProver(clock, systemRandom),
    { clock, wait: async (milliseconds) => clock.advance(milliseconds / 1000) },
    { remaining: () => {}, say: () => {} },
  );
  const proofs = sent.map(({ fields }) => decodeJwt(fields?.['dpop'] ?? ''));
  expect(proofs.map(({ nonce }) => nonce)).toEqual([undefined, 'n1', 'n1', 'n1', 'n2']);
  expect(new Set(proofs.map(({ jti }) => jti)).size).toBe(5);
  expect(formOf(sent[0])).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: 'dc',
    client_id: 'tv',
  });
});
