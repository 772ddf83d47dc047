import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { endEverything } from '#shared/people/access/everything.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { APP, basic, DOCUMENTS, SECRET } from '../authz.fixture.ts';
import type { Page } from '../browser.fixture.ts';
import {
  ALL,
  DEVICE_CODE,
  GENEROUS,
  isConfirm,
  openDeviceFlow,
  pathOf,
  post,
  signIn,
  TV,
} from './device.fixture.ts';
import type { DeviceAnswer, DeviceFlow } from './device.fixture.ts';

let flow: DeviceFlow;
const pending = async (device: DeviceAnswer) => {
  expect((await flow.poll(device)).body).toMatchObject({ error: 'authorization_pending' });
};

const itemsOn = (page: Page) =>
  page.forms.flatMap(({ fields }) => fields.filter(([name]) => name === 'item').map(([, v]) => v));

describe('device page (RFC 8628)', () => {
  beforeEach(async () => {
    flow = await openDeviceFlow(GENEROUS);
  });
  afterEach(async () => flow[Symbol.asyncDispose]());

  test('section 3.3: a person enters the code, signs in, sees the request and its origin, and approves; the device gets tokens once', async () => {
    const device = await flow.askAsDevice(ALL);
    const browser = flow.browser();
    const first = await browser.open(pathOf(device));
    expect(first.text).not.toContain('Living room TV');
    const confirm = await signIn(browser, first, 'alice');
    expect(confirm.status).toBe(200);
    expect(confirm.text).toContain('Living room TV');
    expect(confirm.text).toContain(device.user_code);
    expect(confirm.text).toContain('127.0.0.1');
    expect(itemsOn(confirm)).toHaveLength(4);
    await pending(device);

    const done = await browser.submit(confirm, { decision: 'allow' }, '/device');
    expect(done.status).toBe(200);
    const { status, body } = await flow.poll(device);
    expect([status, body['scope']]).toEqual([200, ALL.scope]);
    expect(decodeJwt(String(body['access_token']))).toMatchObject({
      aud: DOCUMENTS,
      sub: flow.people.alice.id,
      acr: BY_PASSWORD.acr,
      client_id: 'tv',
      sub_gen: 0,
    });
    expect(decodeJwt(String(body['id_token']))).toMatchObject({ sub: flow.people.alice.id });
    expect(await flow.userinfo(body['access_token'])).toBe(200);
    expect((await flow.poll(device)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await flow.refresh('tv', body['refresh_token'])).status).toBe(200);
  });

  test('RFC 9449 section 5: a device with a secret that began with DPoP must go on with DPoP', async () => {
    const { authz } = flow;
    const settop = { ...APP, ...TV, client_id: 'settop' };
    const { token_endpoint_auth_method } = APP;
    await authz.stores.clients.add({ ...settop, token_endpoint_auth_method });
    const asSettop = basic('settop', SECRET);
    const { body } = await authz.post('/device/auth', {}, asSettop);
    const device = body as unknown as DeviceAnswer;
    const browser = await flow.signedIn('alice');
    await browser.submit(await browser.open(pathOf(device)), { decision: 'allow' }, '/device');
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const proof = async () => ({
      dpop: await new SignJWT({
        htm: 'POST',
        htu: `${authz.config.issuer}/token`,
        jti: randomUUID(),
      })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
        .setIssuedAt(Math.floor(flow.clock.now() / 1000))
        .sign(privateKey),
    });
    const poll = { grant_type: DEVICE_CODE, device_code: device.device_code };
    const first = await authz.post('/token', poll, { ...asSettop, ...(await proof()) });
    expect([first.status, first.body['token_type']]).toEqual([200, 'DPoP']);
    const again = {
      grant_type: 'refresh_token',
      refresh_token: String(first.body['refresh_token']),
    };
    const plain = await authz.post('/token', again, asSettop);
    expect([plain.status, plain.body['error']]).toEqual([400, 'invalid_grant']);
    const second = await authz.post('/token', again, { ...asSettop, ...(await proof()) });
    expect([second.status, second.body['token_type']]).toEqual([200, 'DPoP']);
  });

  test('section 3.3: the code may be typed in any case, with or without dashes', async () => {
    const device = await flow.askAsDevice(ALL);
    const browser = await flow.signedIn('alice');
    const entry = await browser.open('/device');
    const typed = ` ${device.user_code.toLowerCase().replace('-', ' ')}.`;
    const confirm = await browser.submit(entry, { user_code: typed }, '/device');
    expect(confirm.text).toContain(device.user_code);
  });

  test('section 3.5: after a denial each poll of the device gets access_denied', async () => {
    const device = await flow.askAsDevice(ALL);
    const browser = await flow.signedIn('alice');
    const confirm = await browser.open(pathOf(device));
    await browser.submit(confirm, { decision: 'deny' }, '/device');
    const first = await flow.poll(device);
    const second = await flow.poll(device);
    for (const { status, body } of [first, second]) {
      expect([status, body['error']]).toEqual([400, 'access_denied']);
    }
    expect(await flow.grants('alice')).toBe(0);
  });

  test('a person can refuse some scopes, and the device gets the others', async () => {
    const device = await flow.askAsDevice(ALL);
    const browser = await flow.signedIn('alice');
    const confirm = await browser.open(pathOf(device));
    const item = itemsOn(confirm).filter((one) => !/write|profile/.test(one));
    await browser.submit(confirm, { decision: 'allow', item }, '/device');
    const { body } = await flow.poll(device);
    expect(body['scope']).toBe('openid documents:read');
    const refreshed = await flow.refresh('tv', body['refresh_token']);
    expect(refreshed.body['scope']).toBe('openid documents:read');
  });

  test('a person who allows no scope denies the request', async () => {
    const device = await flow.askAsDevice({ scope: 'documents:read', resource: DOCUMENTS });
    const browser = await flow.signedIn('alice');
    const confirm = await browser.open(pathOf(device));
    await browser.submit(confirm, { decision: 'allow', item: undefined }, '/device');
    expect((await flow.poll(device)).body).toMatchObject({ error: 'access_denied' });
  });

  test('a posted form cannot grant a scope that was not asked for', async () => {
    const device = await flow.askAsDevice({ scope: 'documents:read', resource: DOCUMENTS });
    const browser = await flow.signedIn('alice');
    const confirm = await browser.open(pathOf(device));
    const forged = ['documents:write', `${DOCUMENTS} documents:write`, 'offline_access', 'openid'];
    const item = [...itemsOn(confirm), ...forged, '__proto__', ''];
    await browser.submit(confirm, { decision: 'allow', item }, '/device');
    const { body } = await flow.poll(device);
    expect(body['scope']).toBe('documents:read');
    expect(body['id_token']).toBeUndefined();
    const [access] = await listAccess(flow.store, flow.people.alice.id);
    expect(access?.scopes).toEqual({ [DOCUMENTS]: ['documents:read'] });
  });

  test('a form with only forged scopes denies the request', async () => {
    const device = await flow.askAsDevice({ scope: 'documents:read', resource: DOCUMENTS });
    const browser = await flow.signedIn('alice');
    const confirm = await browser.open(pathOf(device));
    const item = [`${DOCUMENTS} documents:write`, 'offline_access'];
    await browser.submit(confirm, { decision: 'allow', item }, '/device');
    expect((await flow.poll(device)).body).toMatchObject({ error: 'access_denied' });
    expect(await flow.grants('alice')).toBe(0);
  });

  test('two devices of one client have their own grants, and ending one leaves the other', async () => {
    const browser = await flow.signedIn('alice');
    const tokens = [];
    for (const device of [await flow.askAsDevice(ALL), await flow.askAsDevice(ALL)]) {
      const confirm = await browser.open(pathOf(device));
      await browser.submit(confirm, { decision: 'allow' }, '/device');
      tokens.push((await flow.poll(device)).body);
    }
    const [ended, left] = tokens;
    const account = await browser.open('/account/end');
    const id = String(decodeJwt(String(ended?.['access_token']))['grant_id']);
    await browser.submit(account, { end: 'access', id }, '/account');
    expect(await flow.userinfo(ended?.['access_token'])).toBe(401);
    expect((await flow.refresh('tv', ended?.['refresh_token'])).status).toBe(400);
    expect(await flow.userinfo(left?.['access_token'])).toBe(200);
    expect((await flow.refresh('tv', left?.['refresh_token'])).status).toBe(200);
  });

  test('a device stays connected when the browser signs out, but not when everything is ended', async () => {
    const browser = await flow.signedIn('alice');
    const device = await flow.askAsDevice(ALL);
    await browser.submit(await browser.open(pathOf(device)), { decision: 'allow' }, '/device');
    const { body } = await flow.poll(device);
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    expect(await flow.userinfo(body['access_token'])).toBe(200);
    await endEverything(flow.store, flow.people.alice.id);
    expect(await flow.userinfo(body['access_token'])).toBe(401);
    expect((await flow.refresh('tv', body['refresh_token'])).status).toBe(400);
  });

  test('section 5.1: only the person who decided sees that a code was decided', async () => {
    const device = await flow.askAsDevice(ALL);
    const alice = await flow.signedIn('alice');
    const bob = await flow.signedIn('bob');
    const aside = await bob.open(pathOf(device));
    const confirm = await alice.open(pathOf(device));
    const done = await alice.submit(confirm, { decision: 'allow' }, '/device');
    expect((await alice.submit(confirm, { decision: 'deny' }, '/device')).text).toBe(done.text);
    expect((await alice.open(pathOf(device))).status).toBe(200);

    const decided = await bob.open(pathOf(device));
    const unknown = await bob.open('/device?user_code=BBBB-BBBB');
    expect([decided.status, unknown.status]).toEqual([422, 422]);
    expect(decided.text.replaceAll(device.user_code, 'BBBB-BBBB')).toBe(unknown.text);
    expect((await bob.submit(aside, { decision: 'deny' }, '/device')).status).toBe(410);
    expect((await flow.poll(device)).status).toBe(200);
  });

  test('only one of ten approvals and denials at the same time is done, and the others leave no valid grant', async () => {
    const three = ['alice', 'bob', 'carol'] as const;
    const names = [...three, ...three, ...three, 'alice'] as const;
    const browsers = await Promise.all(names.map((name) => flow.signedIn(name)));
    const grants = async () => {
      const counts = await Promise.all(three.map((name) => flow.grants(name)));
      return counts.reduce((sum, count) => sum + count);
    };
    for (const approvals of [10, 5]) {
      const device = await flow.askAsDevice(ALL);
      const asked = browsers.map(async (browser) => ({
        browser,
        page: await browser.open(pathOf(device)),
      }));
      const open = await Promise.all(asked);
      const before = await grants();
      const free = gateReplace(flow, 10);
      const pages = await Promise.all(
        open.map(({ browser, page }, at) =>
          browser.submit(page, { decision: at < approvals ? 'allow' : 'deny' }, '/device'),
        ),
      );
      free();
      expect(pages.map(({ status }) => status)).toContain(200);
      expect(pages.filter(({ status }) => status === 410).length).toBeGreaterThanOrEqual(6);
      const { status, body } = await flow.poll(device);
      expect((await grants()) - before).toBe(status === 200 ? 1 : 0);
      if (status !== 200) expect(body).toMatchObject({ error: 'access_denied' });
      if (approvals === 10) expect(status).toBe(200);
    }
  });

  test('leaving the page, an error or a sign-out leaves the code undecided', async () => {
    const device = await flow.askAsDevice(ALL);
    const browser = await flow.signedIn('alice');
    const confirm = await browser.open(pathOf(device));
    await browser.open('/account');
    await pending(device);
    expect((await browser.submit(confirm, { decision: 'perhaps' }, '/device')).status).toBe(400);
    expect((await browser.submit(confirm, { decision: undefined }, '/device')).status).toBe(400);
    await pending(device);
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    await browser.submit(confirm, { decision: 'allow' }, '/device');
    await pending(device);
    const other = await flow.signedIn('bob');
    await other.submit(await other.open(pathOf(device)), { decision: 'allow' }, '/device');
    expect((await flow.poll(device)).status).toBe(200);
  });

  test('nothing is granted if all access of the person is ended between page and decision', async () => {
    const device = await flow.askAsDevice(ALL);
    const browser = await flow.signedIn('alice');
    const confirm = await browser.open(pathOf(device));
    await endEverything(flow.store, flow.people.alice.id);
    const asked = await browser.submit(confirm, { decision: 'allow' }, '/device');
    expect(asked.forms.map(({ action }) => action)).toContain('/sign-in');
    await pending(device);
    expect(await flow.grants('alice')).toBe(0);
    expect(isConfirm(await signIn(browser, asked, 'alice'))).toBe(true);
  });

  test('section 3.5: a code that expired between page and decision is not approved', async () => {
    const device = await flow.askAsDevice(ALL);
    const browser = await flow.signedIn('alice');
    const confirm = await browser.open(pathOf(device));
    flow.clock.advance(601);
    const late = await browser.submit(confirm, { decision: 'allow' }, '/device');
    expect(late.status).toBe(410);
    expect((await browser.open(pathOf(device))).status).toBe(422);
    expect(await flow.grants('alice')).toBe(0);
    const { body } = await flow.poll(device);
    expect(body['access_token']).toBeUndefined();
  });

  test('the code of a removed client is unknown', async () => {
    const device = await flow.askAsDevice(ALL);
    const browser = await flow.signedIn('alice');
    const confirm = await browser.open(pathOf(device));
    await flow.authz.stores.clients.remove('tv');
    expect((await browser.open(pathOf(device))).status).toBe(422);
    expect((await browser.submit(confirm, { decision: 'allow' }, '/device')).status).toBe(410);
    expect(await flow.grants('alice')).toBe(0);
  });

  test('OpenID Connect Core 1.0 section 3.1.2.1: max_age asks for a recent sign-in, once', async () => {
    flow.clock.advance(-120);
    const browser = await flow.signedIn('alice');
    flow.clock.advance(120);
    const recent = await flow.askAsDevice({ ...ALL, max_age: '600' });
    expect(isConfirm(await browser.open(pathOf(recent)))).toBe(true);

    const device = await flow.askAsDevice({ ...ALL, max_age: '60' });
    const asked = await browser.open(pathOf(device));
    expect(asked.forms.map(({ action }) => action)).toContain('/sign-in');
    const forced = await post(browser, { user_code: device.user_code, decision: 'allow' });
    expect(forced.forms.map(({ action }) => action)).toContain('/sign-in');
    await pending(device);

    const confirm = await signIn(browser, asked, 'alice');
    expect(isConfirm(confirm)).toBe(true);
    flow.clock.advance(120);
    await browser.submit(confirm, { decision: 'allow' }, '/device');
    expect((await flow.poll(device)).status).toBe(200);
  });
});

/** Holds back all decisions until this number of them is about to be written. Call the result to end this. */
function gateReplace({ authz }: DeviceFlow, arrivals: number): () => void {
  const { artefacts } = authz.stores;
  const replace = artefacts.replace.bind(artefacts);
  const all = Promise.withResolvers<void>();
  let arrived = 0;
  Object.assign(artefacts, {
    replace: async (...args: Parameters<typeof replace>) => {
      arrived += 1;
      if (arrived === arrivals) all.resolve();
      await all.promise;
      return replace(...args);
    },
  });
  return () => void Object.assign(artefacts, { replace });
}
