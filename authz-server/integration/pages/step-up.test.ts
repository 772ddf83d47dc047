import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { ACRS } from '#shared/jose/acr.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { withSecondFactor } from '../second-factor.fixture.ts';
import { answerIn, claimsOf, testSite, type TestSite } from '../site.fixture.ts';
import { ALICE, BOB, idOf } from './at-consent.fixture.ts';

const [, SECOND_FACTOR, PASSKEY] = ACRS;
const UNMET = 'unmet_authentication_requirements';

let site: TestSite;
beforeEach(async () => {
  // The engine has the clock of the system.
  site = await testSite({}, new ManualClock(Date.now()));
});
afterEach(async () => site[Symbol.asyncDispose]());

const ask = (acr_values: string) => site.authorize({ acr_values });
const signInsOf = async (name: string) => listSignIns(site.server, await idOf(site, name));

describe('a client that asks for a second factor (RFC 9470 section 5)', () => {
  test('password and code meet it: the tokens say so, and nobody is asked again', async () => {
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

  test('the right password alone gives nothing: no code at the resume address, no session', async () => {
    await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await browser.open(ask(SECOND_FACTOR));
    await browser.submit(page, ALICE);
    const uid = page.url.split('/').at(-1);
    const resumed = await browser.request('GET', `/auth/${uid}`);
    expect(resumed.headers.get('location') ?? '').not.toContain('code=');
    expect(await signInsOf('alice')).toEqual([]);
  });

  test('a person without one ends the request, signed in nowhere', async () => {
    const browser = site.browser();
    const answer = answerIn(await browser.submit(await browser.open(ask(SECOND_FACTOR)), BOB));
    expect(answer.get('error')).toBe(UNMET);
    expect(await signInsOf('bob')).toEqual([]);
  });

  test('a second factor is not enough where a passkey is asked for', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const step = await browser.submit(await browser.open(ask(PASSKEY)), ALICE);
    const answer = answerIn(await browser.submit(step, { code: code() }));
    expect(answer.get('error')).toBe(UNMET);
    expect(await signInsOf('alice')).toEqual([]);
  });
});
