import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { findAccess } from '#shared/people/access/grants.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { storedId } from '../../engine/storage/stored-id.ts';
import { DOCUMENTS } from '../authz.fixture.ts';
import type { Answered } from '../authz.fixture.ts';
import { testFlow, TV } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const INTERVAL = 5;

const clock = new ManualClock(Date.now());
let flow: TestFlow;
let browser: TestBrowser;
beforeAll(async () => {
  const limits = { userCode: { burst: 1000, per: 1 }, account: { burst: 1000, per: 1 } };
  flow = await testFlow({ device: { interval: INTERVAL }, limits }, clock);
  browser = await flow.signedIn();
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

const start = (form: Record<string, string> = {}) =>
  flow.post('/device/auth', { client_id: 'tv', scope: 'documents:read', ...form });

async function newCode(form?: Record<string, string>) {
  const { body } = await start(form);
  return { device_code: String(body['device_code']), user_code: String(body['user_code']) };
}

const poll = (device_code: string, form: Record<string, string> = {}) =>
  flow.post('/token', { grant_type: GRANT, client_id: 'tv', device_code, ...form });

async function pollAfter(seconds: number, device_code: string): Promise<unknown> {
  clock.advance(seconds);
  return (await poll(device_code)).body['error'];
}

async function decide(user_code: string, decision: 'allow' | 'deny'): Promise<void> {
  const page = await browser.open(`/device?user_code=${user_code}`);
  await browser.submit(page, { decision }, '/device');
}

const storedCode = (device_code: string) =>
  flow.stores.artefacts.get('DeviceCode', storedId('DeviceCode', device_code));

const refused = ({ status, body }: Answered) => [status, body['error']];

describe('RFC 8628 section 3.2: a device authorization request', () => {
  test('the device gets the codes, the address for the user code, and the polling interval', async () => {
    const { status, body, headers } = await start();
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const { issuer } = flow.config;
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${issuer}/device`,
      verification_uri_complete: `${issuer}/device?user_code=${String(body['user_code'])}`,
      expires_in: 600,
      interval: INTERVAL,
    });
  });

  test("a request without scope asks for the client's default scopes", async () => {
    const { device_code } = await newCode({ scope: '' });
    const stored = await storedCode(device_code);
    expect(stored?.['params']).toMatchObject({ scope: 'documents:read', resource: DOCUMENTS });
  });

  test('offline_access that the client may not have is ignored (OpenID Connect Core 1.0 section 11)', async () => {
    await flow.stores.clients.add({ ...TV, client_id: 'online', scope: 'documents:read' });
    const scope = 'documents:read offline_access';
    const { status, body } = await start({ client_id: 'online', scope });
    expect(status).toBe(200);
    const stored = await storedCode(String(body['device_code']));
    expect(stored?.['params']).toMatchObject({ scope: 'documents:read' });
  });

  test("the store has the client's address and user agent, to show them to the person", async () => {
    const agent = { 'user-agent': `tv ${'x'.repeat(1000)}`, 'x-forwarded-for': '192.0.2.1' };
    const { body } = await flow.post('/device/auth', { client_id: 'tv' }, agent);
    const stored = await storedCode(String(body['device_code']));
    expect(stored?.['deviceInfo']).toEqual({
      ip: '127.0.0.1',
      ua: expect.stringMatching(/^tv x{253}$/),
    });
  });

  test.each<[string, Record<string, string>, number, string]>([
    ['no client', { client_id: '' }, 401, 'invalid_client'],
    ['an unknown client', { client_id: 'nobody' }, 401, 'invalid_client'],
    ['a client without the device grant', { client_id: 'web' }, 400, 'unauthorized_client'],
    ['a client with a secret, without it', { client_id: 'server' }, 401, 'invalid_client'],
    ['an unknown scope', { scope: 'admin' }, 400, 'invalid_scope'],
    ['an unknown resource', { resource: 'https://evil.example/' }, 400, 'invalid_target'],
    ['a malformed max_age', { max_age: 'x', scope: 'openid' }, 400, 'invalid_request'],
  ])('a request is refused: %s', async (_what, form, status, error) => {
    expect(refused(await start(form))).toEqual([status, error]);
  });
});

describe('RFC 8628 section 3.5: the device polls', () => {
  test('a poll gets authorization_pending, or slow_down if it is too early; the first poll is never too early', async () => {
    const { device_code } = await newCode();
    expect(await pollAfter(0, device_code)).toBe('authorization_pending');
    expect(await pollAfter(0, device_code)).toBe('slow_down');
    expect(await pollAfter(1, device_code)).toBe('slow_down');
    expect(await pollAfter(INTERVAL, device_code)).toBe('authorization_pending');
    expect(await pollAfter(INTERVAL - 1, device_code)).toBe('authorization_pending');
    expect(await pollAfter(INTERVAL - 2, device_code)).toBe('slow_down');
  });

  test('slow_down names the interval, and says that it grows', async () => {
    const { device_code } = await newCode();
    await poll(device_code);
    const { body } = await poll(device_code);
    expect(body).toMatchObject({
      error: 'slow_down',
      error_description: `poll at most every ${INTERVAL} s; after this answer wait 5 s longer each time (RFC 8628 section 3.5)`,
    });
  });

  test('nine of ten polls at the same time get slow_down', async () => {
    const { device_code } = await newCode();
    const answers = await Promise.all(Array.from({ length: 10 }, () => poll(device_code)));
    const errors = answers.map(({ body }) => body['error']);
    expect(errors.filter((error) => error === 'authorization_pending')).toHaveLength(1);
    expect(errors.filter((error) => error === 'slow_down')).toHaveLength(9);
  });

  test('a device that polls too often does not affect other devices', async () => {
    const [hasty, patient] = [await newCode(), await newCode()];
    await poll(hasty.device_code);
    expect(await pollAfter(0, hasty.device_code)).toBe('slow_down');
    expect(await pollAfter(0, patient.device_code)).toBe('authorization_pending');
  });

  test('after the decision no poll is too early', async () => {
    const { device_code, user_code } = await newCode({ scope: 'openid documents:read' });
    await poll(device_code);
    await decide(user_code, 'allow');
    const { status, body } = await poll(device_code);
    expect([status, body['scope']]).toEqual([200, 'openid documents:read']);
    expect(decodeJwt(String(body['access_token']))).toMatchObject({
      sub: flow.accountId,
      client_id: 'tv',
      aud: DOCUMENTS,
      acr: 'urn:countersign:acr:password',
      auth_time: expect.any(Number),
      sub_gen: 0,
    });
    expect(decodeJwt(String(body['id_token']))['aud']).toBe('tv');
    const next = await flow.refresh(String(body['refresh_token']), { client_id: 'tv' });
    expect(next.status).toBe(200);
  });

  test('a code gives tokens once, and its grant stays valid', async () => {
    const { device_code, user_code } = await newCode();
    await decide(user_code, 'allow');
    const answers = await Promise.all(Array.from({ length: 10 }, () => poll(device_code)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given).toHaveLength(1);
    expect(refused(await poll(device_code))).toEqual([400, 'invalid_grant']);
    const { grant_id } = decodeJwt(String(given[0]?.body['access_token']));
    const store = { stores: flow.stores, clock, longestLife: 605 };
    expect(await findAccess(store, String(grant_id))).toBeDefined();
  });

  test('after a denial every poll gets access_denied', async () => {
    const { device_code, user_code } = await newCode();
    await decide(user_code, 'deny');
    for (let turn = 0; turn < 3; turn += 1) {
      expect(refused(await poll(device_code))).toEqual([400, 'access_denied']);
    }
  });

  test.each([
    ['an unknown code', { device_code: 'x' }, 'invalid_grant'],
    ['no code', { device_code: '' }, 'invalid_request'],
    ['the user code', { device_code: 'BCDF-GHJK' }, 'invalid_grant'],
    ['of a client that may not', { client_id: 'web' }, 'unauthorized_client'],
  ])('a poll is refused: %s', async (_what, form, error) => {
    const { device_code } = await newCode();
    expect(refused(await poll(device_code, form))).toEqual([400, error]);
  });

  test('another client cannot get the tokens', async () => {
    const tv = await flow.stores.clients.get('tv');
    if (tv) await flow.stores.clients.add({ ...tv, client_id: 'other-tv' });
    const { device_code, user_code } = await newCode();
    await decide(user_code, 'allow');
    expect(refused(await poll(device_code, { client_id: 'other-tv' }))).toEqual([
      400,
      'invalid_grant',
    ]);
    expect((await poll(device_code)).status).toBe(200);
  });

  test('an expired code gets expired_token', async () => {
    const { device_code } = await newCode();
    const stored = await storedCode(device_code);
    const payload = { ...stored, exp: Math.floor(Date.now() / 1000) - 60 };
    const id = storedId('DeviceCode', device_code);
    await flow.stores.artefacts.put({ kind: 'DeviceCode', id, payload, seconds: 60 });
    expect(await pollAfter(0, device_code)).toBe('expired_token');
    expect(await pollAfter(0, device_code)).toBe('expired_token');
  });

  test('a decided code gets expired_token, too, if the device polls too late', async () => {
    const { device_code, user_code } = await newCode();
    await decide(user_code, 'allow');
    const stored = await storedCode(device_code);
    const payload = { ...stored, exp: Math.floor(Date.now() / 1000) - 1 };
    const id = storedId('DeviceCode', device_code);
    await flow.stores.artefacts.put({ kind: 'DeviceCode', id, payload, seconds: 60 });
    expect(await pollAfter(0, device_code)).toBe('expired_token');
    const late = await newCode();
    await decide(late.user_code, 'allow');
    clock.advance(flow.config.device.lifetime + 60);
    expect(await storedCode(late.device_code)).toBeDefined();
  });

  test('the store has a code for longer than it is valid', async () => {
    const { device_code } = await newCode();
    clock.advance(flow.config.device.lifetime + 60);
    expect(await storedCode(device_code)).toBeDefined();
    clock.advance(600);
    expect(await storedCode(device_code)).toBeUndefined();
  });
});
