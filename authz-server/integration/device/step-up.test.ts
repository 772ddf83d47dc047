import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { appFrom } from '../second-factor.fixture.ts';
import { decodeJwt } from 'jose';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { ACRS, type Acr } from '#shared/jose/acr.ts';
import { DOCUMENTS } from '../authz.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import {
  ALL,
  GENEROUS,
  isConfirm,
  openDeviceFlow,
  pathOf,
  post,
  signIn,
} from './device.fixture.ts';
import type { DeviceFlow } from './device.fixture.ts';

const [, BY_PASSWORD, SECOND_FACTOR, PASSKEY] = ACRS;

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow(GENEROUS);
});
afterEach(async () => flow[Symbol.asyncDispose]());

/** Returns a browser in which alice signed in by these means. */
async function signedInBy(acr: Acr): Promise<TestBrowser> {
  const browser = await flow.signedIn('alice');
  const [latest] = await listSignIns(flow.store, flow.people.alice.id);
  const payload = { ...latest, assurance: { acr, amr: ['user'] } };
  const { artefacts } = flow.authz.stores;
  await artefacts.put({ kind: 'SignIn', id: String(latest?.uid), payload, seconds: 3600 });
  return browser;
}

describe('acr_values and max_age of a device (RFC 8628 section 3.1, RFC 9470 section 5)', () => {
  test.each([PASSKEY, `${SECOND_FACTOR} ${PASSKEY}`, SECOND_FACTOR])(
    'a sign-in with a passkey is enough for %j, and its acr is in the tokens',
    async (acr_values) => {
      const device = await flow.askAsDevice({ ...ALL, acr_values });
      const browser = await signedInBy(PASSKEY);
      const confirm = await browser.open(pathOf(device));
      await browser.submit(confirm, { decision: 'allow' }, '/device');
      const { body } = await flow.poll(device);
      const told = { acr: PASSKEY, amr: ['user'] };
      expect(decodeJwt(String(body['access_token']))).toMatchObject(told);
      expect(decodeJwt(String(body['id_token']))).toMatchObject(told);
      const refreshed = await flow.refresh('tv', body['refresh_token']);
      expect(decodeJwt(String(refreshed.body['access_token']))).toMatchObject(told);
    },
  );

  test('a person with only a password is asked for more, sees why, and can give up, which the device learns', async () => {
    const device = await flow.askAsDevice({ ...ALL, acr_values: PASSKEY });
    const browser = await flow.signedIn('alice');
    const asked = await browser.open(pathOf(device));
    expect(asked.text).not.toContain('name="item"');
    expect(asked.text).toContain('<strong>Living room TV</strong> asks for a passkey');
    flow.clock.advance(5);
    const again = await signIn(browser, asked, 'alice');
    expect(again.text).toContain('You are signed in, but this needs a stronger sign-in.');
    await browser.submit(again, {}, '/device');
    expect((await flow.poll(device)).body).toMatchObject({
      error: 'unmet_authentication_requirements',
    });
    expect(await flow.grants('alice')).toBe(0);
  });

  test('a form of another page does not approve a request that requires a stronger sign-in', async () => {
    const device = await flow.askAsDevice({ ...ALL, acr_values: PASSKEY });
    const browser = await flow.signedIn('alice');
    const forced = await post(browser, {
      user_code: device.user_code,
      decision: 'allow',
      item: ['openid'],
      acr_values: BY_PASSWORD,
    });
    expect(forced.forms.map(({ action }) => action)).toContain('/sign-in');
    expect((await flow.poll(device)).body).toMatchObject({ error: 'authorization_pending' });
    expect(await flow.grants('alice')).toBe(0);
  });

  test('ten decisions at the same time with an insufficient sign-in approve nothing', async () => {
    const device = await flow.askAsDevice({ ...ALL, acr_values: SECOND_FACTOR });
    const browser = await flow.signedIn('alice');
    const form = { user_code: device.user_code, decision: 'allow', item: ['openid'] };
    await Promise.all(Array.from({ length: 10 }, () => post(browser, form)));
    expect((await flow.poll(device)).body).toMatchObject({ error: 'authorization_pending' });
    expect(await flow.grants('alice')).toBe(0);
  });

  test('max_age=0 asks for a sign-in after the request, once', async () => {
    flow.clock.advance(-10);
    const browser = await flow.signedIn('alice');
    flow.clock.advance(10);
    const device = await flow.askAsDevice({ ...ALL, max_age: '0' });
    const asked = await browser.open(pathOf(device));
    expect(asked.forms.map(({ action }) => action)).toContain('/sign-in');
    expect(asked.text).toContain('You last signed in 10 seconds ago.');
    expect(isConfirm(await signIn(browser, asked, 'alice'))).toBe(true);
  });

  test.each(['login', 'select_account', 'create'])(
    'prompt=%s is no parameter of a device: the page shows who is signed in, and asks',
    async (prompt) => {
      const device = await flow.askAsDevice({ ...ALL, prompt });
      const page = await (await flow.signedIn('alice')).open(pathOf(device));
      expect([isConfirm(page), page.text.includes('alice')]).toEqual([true, true]);
    },
  );

  test('a person without a second factor sets one up, and returns to the device page', async () => {
    const device = await flow.askAsDevice({ ...ALL, acr_values: SECOND_FACTOR });
    const browser = await flow.signedIn('alice');
    const step = await signIn(browser, await browser.open(pathOf(device)), 'alice');
    expect(step.text).toContain('Set up a second factor');
    const shown = await browser.submit(step, { code: appFrom(step, flow)() });
    const [, href = ''] = /class="button primary" href="([^"]*)"/.exec(shown.text) ?? [];
    expect(isConfirm(await browser.open(href.replaceAll('&amp;', '&')))).toBe(true);
  });

  test('acr_values and max_age apply without the scope openid, too (RFC 9470 section 4)', async () => {
    const asked = { scope: 'documents:read', resource: DOCUMENTS, acr_values: PASSKEY };
    const device = await flow.askAsDevice(asked);
    const weak = await flow.signedIn('alice');
    expect((await weak.open(pathOf(device))).text).toContain('asks for a passkey');
    const strong = await signedInBy(PASSKEY);
    expect(isConfirm(await strong.open(pathOf(device)))).toBe(true);
  });

  test('unknown values are refused at once (RFC 9470 section 5)', async () => {
    const { authz } = flow;
    for (const acr_values of ['silver', `${PASSKEY},${SECOND_FACTOR}`]) {
      const form = { client_id: 'tv', ...ALL, acr_values };
      const { status, body } = await authz.post('/device/auth', form);
      expect([status, body['error']]).toEqual([400, 'unmet_authentication_requirements']);
    }
  });
});
