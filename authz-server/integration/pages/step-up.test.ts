import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { ACRS } from '#shared/jose/acr.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { appFrom, codesOn, withSecondFactor } from '../second-factor.fixture.ts';
import { somePasskey } from '#shared/stores/contract/samples.ts';
import { answerIn, claimsOf, testSite, type TestSite } from '../site.fixture.ts';
import { ALICE, BOB, idOf } from './at-consent.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

const [, , SECOND_FACTOR, PASSKEY] = ACRS;
const UNMET = 'unmet_authentication_requirements';

let site: TestSite;
beforeEach(async () => {
  // The engine uses the system's clock.
  site = await testSite({}, new ManualClock(Date.now()));
});
afterEach(async () => site[Symbol.asyncDispose]());

const ask = (acr_values: string) => site.authorize({ acr_values });
const signInsOf = async (name: string) => listSignIns(site.server, await idOf(site, name));

describe('a client that asks for a second factor (RFC 9470 section 5)', () => {
  test('a password and a code satisfy the request: the tokens say so, and the person is not asked again', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await browser.open(ask(SECOND_FACTOR));
    expect(page.text).toContain('asks for a second factor or a passkey');
    const step = await browser.submit(page, ALICE);
    expect(step.text).toContain('autocomplete="one-time-code"');
    const consent = await browser.submit(step, { code: code() });
    const tokens = await site.redeem(await browser.submit(consent, { decision: 'allow' }));
    expect(claimsOf(tokens['access_token'])).toMatchObject({
      acr: SECOND_FACTOR,
      amr: ['pwd', 'otp', 'mfa'],
    });
    expect(answerIn(await browser.open(ask(SECOND_FACTOR))).has('code')).toBe(true);
  });

  test('the right password alone gives no code at the resume address, and no session', async () => {
    await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await browser.open(ask(SECOND_FACTOR));
    await browser.submit(page, ALICE);
    const uid = page.url.split('/').at(-1);
    const resumed = await browser.request('GET', `/auth/${uid}`);
    expect(resumed.headers.get('location') ?? '').not.toContain('code=');
    expect(await signInsOf('alice')).toEqual([]);
  });

  test('a person without a second factor is led through the set-up, and then continues to the client', async () => {
    const browser = site.browser();
    const page = await browser.open(ask(SECOND_FACTOR));
    expect(page.text).toContain('you set it up after you enter your password');
    const step = await browser.submit(page, BOB);
    expect(step.text).toContain('Set up a second factor');
    expect(await signInsOf('bob')).toEqual([]);
    const shown = await browser.submit(step, { code: appFrom(step, site.server)() });
    expect(codesOn(shown)).toHaveLength(10);
    const [, href = ''] = /class="button primary" href="([^"]*)"/.exec(shown.text) ?? [];
    const consent = await browser.open(href);
    const tokens = await site.redeem(await browser.submit(consent, { decision: 'allow' }));
    expect(claimsOf(tokens['access_token'])).toMatchObject({ acr: SECOND_FACTOR });
  });

  test('a person who was signed in with a weaker sign-in continues, too, although the set-up ends that access', async () => {
    const browser = site.browser();
    const asked = await browser.submit(await browser.open(site.authorize()), BOB);
    const weak = await site.redeem(await browser.submit(asked, { decision: 'allow' }));
    const step = await browser.submit(await browser.open(ask(SECOND_FACTOR)), BOB);
    const shown = await browser.submit(step, { code: appFrom(step, site.server)() });
    expect(codesOn(shown)).toHaveLength(10);
    const [, href = ''] = /class="button primary" href="([^"]*)"/.exec(shown.text) ?? [];
    const consent = await browser.open(href);
    const tokens = await site.redeem(await browser.submit(consent, { decision: 'allow' }));
    expect(claimsOf(tokens['access_token'])).toMatchObject({ acr: SECOND_FACTOR });
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: 'web',
      refresh_token: String(weak['refresh_token']),
    });
    const refreshed = await fetched(`${site.url}/token`, { method: 'POST', body });
    expect(await refreshed.json()).toMatchObject({ error: 'invalid_grant' });
  });

  test('only with the password, a person who has a passkey, which is both factors, cannot set up a second factor', async () => {
    const accountId = await idOf(site, 'bob');
    await site.server.stores.passkeys.add({ ...somePasskey('p'), accountId }, 20);
    const browser = site.browser();
    const refused = await browser.submit(await browser.open(ask(SECOND_FACTOR)), BOB);
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining('Sign in with your passkey'),
    ]);
    expect(await signInsOf('bob')).toEqual([]);
  });

  test('a person who gives up during the set-up ends the request, without a second factor', async () => {
    const browser = site.browser();
    const step = await browser.submit(await browser.open(ask(SECOND_FACTOR)), BOB);
    const { action = '' } = step.forms.find((one) => one.action.endsWith('/abort')) ?? {};
    expect(answerIn(await browser.submit(step, {}, action)).get('error')).toBe(UNMET);
    expect(await site.server.stores.secondFactors.get(await idOf(site, 'bob'))).toBeUndefined();
  });

  test('if second factors are off, the request ends without a sign-in', async () => {
    await site[Symbol.asyncDispose]();
    site = await testSite({ people: { secondFactor: 'off' } }, new ManualClock(Date.now()));
    const browser = site.browser();
    const answer = answerIn(await browser.submit(await browser.open(ask(SECOND_FACTOR)), BOB));
    expect(answer.get('error')).toBe(UNMET);
    expect(await signInsOf('bob')).toEqual([]);
  });

  test('a second factor is not enough if a passkey is required', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const step = await browser.submit(await browser.open(ask(PASSKEY)), ALICE);
    const answer = answerIn(await browser.submit(step, { code: code() }));
    expect(answer.get('error')).toBe(UNMET);
    expect(await signInsOf('alice')).toEqual([]);
  });
});

test('for a client that requires a recent sign-in (max_age) the page says how long ago the last one was', async () => {
  const clock = new ManualClock(Date.now() - 420_000);
  await site[Symbol.asyncDispose]();
  site = await testSite({}, clock);
  const browser = site.browser();
  const first = await browser.open(site.authorize());
  expect(first.text).not.toContain('You last signed in');
  await browser.submit(first, ALICE);
  clock.advance(420);
  const page = await browser.open(site.authorize({ max_age: '300' }));
  expect(page.text).toContain('type="password"');
  expect(page.text).toContain('You last signed in 7 minutes ago. Sign in again to continue.');
  const enough = await browser.open(site.authorize({ max_age: '600' }));
  expect(enough.text).not.toContain('type="password"');
});
