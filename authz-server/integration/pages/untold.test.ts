import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endAccessOfClient } from '#shared/operations/clients/client-end.ts';
import { disableUser } from '#shared/operations/people/user-disable.ts';
import { endUser } from '#shared/operations/people/user-end.ts';
import { renewPassword } from '#shared/operations/people/user-passwd.ts';
import { removeUser } from '#shared/operations/people/user-remove.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import type { Page } from '../browser.fixture.ts';
import { type TestSite, WEB } from '../site.fixture.ts';
import { endAt, type LogoutSite, openLogoutSite, type Visit } from './logout-ends.fixture.ts';
import { sendAll, sendDuring } from './logouts.fixture.ts';

let at: LogoutSite;
let site: TestSite;
beforeAll(async () => {
  at = await openLogoutSite();
  ({ site } = at);
});
afterAll(async () => at[Symbol.asyncDispose]());

describe('the server names the applications that it has not told yet', () => {
  const { client_name: app } = WEB;

  const SAID = 'goes on trying: Web &amp; &lt;b&gt;App&lt;/b&gt;.';

  const OPERATIONS: Readonly<Record<string, (visit: Visit) => Promise<unknown>>> = {
    'user end': ({ name }) => endUser.run({ name }, at.house),
    'user end --grant': ({ name, grant }) => endUser.run({ name, grant }, at.house),
    'user disable': ({ name }) => disableUser.run({ name }, at.house),
    'user passwd': ({ name }) => renewPassword.run({ name }, at.house),
    'user remove': ({ name }) => removeUser.run({ name, trees: false }, at.house),
    'client end': () => endAccessOfClient.run({ client_id: 'web' }, at.house),
    'client end --grant': ({ grant }) =>
      endAccessOfClient.run({ client_id: 'web', grant }, at.house),
  };

  test.each(Object.entries(OPERATIONS))('in the answer of `%s`', async (_, end) => {
    expect(await end(await at.visit())).toMatchObject({ untold: [app] });
    await sendAll(site);
  });

  test('no more once it has told them', async () => {
    const { name } = await at.visit();
    const ended = endUser.run({ name }, at.house);
    await eventually(async () => {
      const due = await site.server.stores.logouts.due(Date.now());
      if (due.length === 0) throw new Error('not yet');
    });
    await sendAll(site);
    expect(await ended).not.toHaveProperty('untold');
  });

  test('before the browser goes on to the application that asked for the sign-out, and only then', async () => {
    const [bye = ''] = WEB.post_logout_redirect_uris ?? [];
    const asking = new URLSearchParams({
      client_id: 'web',
      post_logout_redirect_uri: bye,
      state: 's',
    });
    const signOut = async (choice: { logout?: string }) => {
      const { browser } = await at.visit();
      const page = await browser.open(`/session/end?${asking.toString()}`);
      return browser.submit(page, choice);
    };
    const done = await signOut({ logout: 'yes' });
    expect([done.status, done.headers.get('refresh')]).toEqual([200, null]);
    expect(done.text).toContain(SAID);
    expect(done.text).toContain(`href="${bye}?state=s"`);
    // The person stays signed in, so the other application is none of their business.
    expect((await signOut({})).headers.get('refresh')).toBe(`0;url=${bye}?state=s`);
    await sendAll(site);
    let told: Page | undefined;
    await sendDuring(site, async () => (told = await signOut({ logout: 'yes' })));
    expect(told?.headers.get('refresh')).toBe(`0;url=${bye}?state=s`);
    expect(told?.text).not.toContain(SAID);
  });

  const PAGES: Readonly<Record<string, (visit: Visit) => Promise<Page>>> = {
    'after the sign-out': async ({ browser }) =>
      browser.submit(await browser.open('/sign-out'), { logout: 'yes' }),
    'after the sign-out for an application': async ({ browser }) =>
      browser.submit(await browser.open('/session/end?client_id=web'), { logout: 'yes' }),
    'after everything has ended': (there) => endAt(there, { end: 'everything' }),
    'after an application has ended': (there) => endAt(there, { end: 'application', id: 'web' }),
    'after the sign-in of this browser has ended': (there) =>
      endAt(there, { end: 'sign-in', id: there.uid }),
  };

  test.each(Object.entries(PAGES))('on the page %s', async (_, end) => {
    expect((await end(await at.visit())).text).toContain(SAID);
    await sendAll(site);
  });
});
