import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { applyDeclared } from '#shared/cli/declared/apply-declared.ts';
import type { Wanted, WantedClient } from '#shared/cli/declared/wanted.ts';
import { setPassword } from '#shared/people/people.ts';
import {
  type LogoutSite,
  openLogoutSite,
  type Visit,
} from '../../authz-server/integration/pages/logout-ends.fixture.ts';
import { sendAll, toldBy } from '../../authz-server/integration/pages/logouts.fixture.ts';
import { PASSWORD } from '../../authz-server/integration/site.fixture.ts';

/** An application is told of the ends that `apply` causes. */
let at: LogoutSite;
let there: Visit;
beforeAll(async () => {
  at = await openLogoutSite();
  // `apply` removes only what it has added.
  await at.site.server.stores.clients.remove('web');
});
afterAll(async () => at[Symbol.asyncDispose]());

const apply = (wanted: Partial<Wanted>) =>
  applyDeclared(
    at.house,
    { people: [], clients: [], documents: [], keys: [], publicKeys: [], ...wanted },
    { dryRun: false, prune: true, former: 'refused', noAdministrator: true },
  );

const web = (more: Partial<WantedClient> = {}) => ({ ...at.application.client, ...more });

/** Returns what the application hears because of a file. */
async function heard(wanted: Partial<Wanted>) {
  at.application.tokens.length = 0;
  await apply(wanted);
  await sendAll(at.site);
  return toldBy(at.application.tokens);
}

beforeEach(async () => {
  await apply({ clients: [web()] });
  there = await at.visit();
});

test('a client that becomes one for other people', async () => {
  const told = await heard({ clients: [web({ allow_people: ['bob'] })] });
  expect(told).toContainEqual({ sub: there.accountId, sid: there.sid });
});

test('a person whom the file no longer declares is disabled', async () => {
  const name = 'declared';
  await apply({ clients: [web()], people: [{ name }] });
  await setPassword(at.site.server, name, PASSWORD);
  const { accountId: sub, sid } = await at.visitOf(name, 'openid');
  const told = await heard({ clients: [web()] });
  expect(told).toHaveLength(2);
  expect(told).toEqual(expect.arrayContaining([{ sub }, { sub, sid }]));
});

test('a client that the file no longer declares is not told, since its logout URL is gone', async () => {
  expect(await heard({})).toEqual([]);
  expect(await at.site.server.stores.clients.get('web')).toBeUndefined();
});
