import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setUser } from '#shared/operations/people/user-set.ts';
import { perform } from '#shared/operations/operation.ts';
import { disablePerson } from '#shared/people/people.ts';
import { systemClock } from '#shared/base/clock.ts';
import { houseOf } from '../../base/house.ts';
import { ALICE, BOB } from '../pages/at-consent.fixture.ts';
import { withSecondFactor } from '../second-factor.fixture.ts';
import { testSite, type TestSite, WEB } from '../site.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

let site: TestSite;
beforeEach(async () => {
  // The engine uses the system's clock. With a clock that stands still it would reject its tokens as future ones.
  site = await testSite({}, systemClock, false);
  const { clients } = site.server.stores;
  await clients.replace({ ...WEB, scope: `${WEB.scope} admin admin:read` });
});
afterEach(async () => site[Symbol.asyncDispose]());

const setAdmin = (name: string, admin: boolean) =>
  perform(setUser, { name, admin }, houseOf(site.server));

/**
 * Returns the token that a person allows a client to have. The person signs in, with a code if the page asks for one.
 */
async function tokenOf(who: typeof ALICE, code?: () => string): Promise<string> {
  const resource = `${site.server.config.issuer}/admin/api`;
  const browser = site.browser();
  const page = await browser.open(site.authorize({ scope: 'admin admin:read', resource }));
  const signedIn = await browser.submit(page, who);
  const consent = code ? await browser.submit(signedIn, { code: code() }) : signedIn;
  const tokens = await site.redeem(await browser.submit(consent, { decision: 'allow' }));
  return String(tokens['access_token']);
}

const ask = async (token: string, operation = 'client-show?client_id=web') => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetched(`${site.url}/admin/api/${operation}`, { headers });
  return { status: response.status, challenge: response.headers.get('www-authenticate') ?? '' };
};

describe('a person in production', () => {
  test('an administrator who signed in with a second factor may administer', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    await setAdmin('alice', true);
    expect(await ask(await tokenOf(ALICE, code))).toMatchObject({ status: 200 });
  });

  test('RFC 9470 section 3: after a sign-in with only a password any person is asked for a stronger one', async () => {
    await setAdmin('alice', true);
    const answers = [await ask(await tokenOf(ALICE)), await ask(await tokenOf(BOB))];
    for (const { status, challenge } of answers) {
      expect(status).toBe(401);
      expect(challenge).toContain('error="insufficient_user_authentication"');
      expect(challenge).toContain(
        'acr_values="urn:countersign:acr:second-factor urn:countersign:acr:passkey"',
      );
      expect(challenge).toContain('max_age="600"');
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  test('another person gets 404 for existing and unknown operations', async () => {
    const { code } = await withSecondFactor(site.server, 'bob');
    const token = await tokenOf(BOB, code);
    const answers = [await ask(token), await ask(token, 'client-list'), await ask(token, 'x')];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  test('a former or disabled administrator is refused from the next request on', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    await setAdmin('alice', true);
    const token = await tokenOf(ALICE, code);
    expect(await ask(token)).toMatchObject({ status: 200 });
    await setAdmin('alice', false);
    expect(await ask(token)).toMatchObject({ status: 404 });
    await setAdmin('alice', true);
    await disablePerson(site.server, 'alice');
    expect(await ask(token)).toMatchObject({ status: 401 });
  });
});
