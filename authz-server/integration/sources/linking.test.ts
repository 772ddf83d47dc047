import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { changeProfile } from '#shared/people/change-profile.ts';
import { keepManaged } from '#shared/people/identities.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { PASSWORD } from '../site.fixture.ts';
import { CAROL, linkOf, openApplication, withCorp, type WithCorp } from './with-corp.fixture.ts';

const PATH = '/account/sources';

let flow: WithCorp;
beforeEach(async () => {
  const elsewhere = { issuer: 'http://localhost:1', clientId: 'x' };
  flow = await withCorp({ more: [{ name: 'other', provider: elsewhere }] });
  flow.corp.people.set('subject-2', { ...CAROL, email: 'second@corp.example' });
});
afterEach(async () => flow[Symbol.asyncDispose]());

const alice = async () => flow.site.server.stores.people.getByName('alice');

async function signedIn(name = 'alice'): Promise<TestBrowser> {
  const browser = flow.site.browser();
  await browser.submit(await browser.open('/account'), { name, password: PASSWORD });
  return browser;
}

/** Goes from the page of accounts to the provider, and back to the question whether to link. */
async function asked(browser: TestBrowser, subject = 'subject-1'): Promise<Page> {
  return browser.open(await flow.visit(browser, await browser.open(PATH), subject));
}

const link = async (browser: TestBrowser, subject?: string) =>
  browser.submit(await asked(browser, subject));

/** Allows `web` access that outlives the browser. Returns the tokens. */
const allow = async (browser: TestBrowser) => {
  const request = { scope: 'openid offline_access', prompt: 'consent' };
  const page = await browser.open(flow.site.authorize(request));
  return flow.site.redeem(await browser.submit(page, { decision: 'allow' }));
};

/** Returns the status of a refresh. */
const refresh = async ({ refresh_token }: Record<string, unknown>) => {
  const form = { grant_type: 'refresh_token', refresh_token, client_id: 'web' };
  const body = new URLSearchParams(form as Record<string, string>);
  return (await fetch(`${flow.site.url}/token`, { method: 'POST', body })).status;
};

describe('a person links an account elsewhere', () => {
  test('and signs in with it, as the same person, whose profile stays', async () => {
    const browser = await signedIn();
    const page = await link(browser);
    expect(page.text).toContain('The account is linked');
    const before = await alice();
    expect(before?.linked).toMatchObject([{ source: 'corp', subject: 'subject-1' }]);
    const other = flow.site.browser();
    expect((await flow.signIn(other, 'subject-1')).text).toContain('alice');
    expect(await alice()).toEqual(before);
    expect(await flow.site.server.stores.people.getByName('carol')).toBeUndefined();
  });

  test('only after the page asked, which names both accounts', async () => {
    const page = await asked(await signedIn());
    expect(page.text).toContain('Carol Example at Example Corp');
    expect(page.text).toContain('sign in as alice');
    expect((await alice())?.linked).toBeUndefined();
  });

  test('and gets a message, and the log has an event', async () => {
    await link(await signedIn());
    const { texts } = await flow.site.server.stores.audit.open();
    expect(texts.filter((text) => text.includes('"account.linked"'))).toHaveLength(1);
  });

  test('is refused, if the account is another person’s here', async () => {
    await flow.signIn(flow.site.browser(), 'subject-1');
    const page = await link(await signedIn());
    expect([page.status, page.text.includes('belongs to another person')]).toEqual([422, true]);
    expect((await alice())?.linked).toBeUndefined();
  });

  test('but only one account of each source', async () => {
    const browser = await signedIn();
    await link(browser);
    const away = await browser.open('/sign-in/with/corp?do=link');
    const back = await flow.corp.visit(away.headers.get('location') ?? '', 'subject-2');
    expect((await browser.submit(await browser.open(back))).status).toBe(422);
    expect((await alice())?.linked).toHaveLength(1);
  });

  test('once, though the browser sends the answer ten times', async () => {
    const browser = await signedIn();
    const page = await asked(browser);
    await Promise.all(Array.from({ length: 10 }, () => browser.send(page)));
    expect((await alice())?.linked).toHaveLength(1);
  });
});

describe('an attacker links nothing', () => {
  test('with a callback in the browser of a victim (login CSRF)', async () => {
    const attacker = await signedIn('bob');
    const callback = await flow.visit(attacker, await attacker.open(PATH), 'subject-1');
    const victim = await signedIn();
    expect((await victim.open(callback)).status).toBe(400);
    expect((await alice())?.linked).toBeUndefined();
  });

  test('with the question of another session', async () => {
    const browser = await signedIn();
    const page = await asked(browser);
    // Another person signs in with the same browser.
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' });
    await browser.submit(await browser.open('/account'), { name: 'bob', password: PASSWORD });
    await browser.send(page);
    const bob = await flow.site.server.stores.people.getByName('bob');
    expect([bob?.linked, (await alice())?.linked]).toEqual([undefined, undefined]);
  });

  test('without a sign-in', async () => {
    const page = await flow.site.browser().open('/sign-in/with/corp?do=link');
    expect(page.text).toContain('name="password"');
  });

  test('by a sign-in on the way to a client, which signs in and links nothing', async () => {
    const browser = await signedIn();
    const page = await browser.open(flow.site.authorize({ prompt: 'login' }));
    await browser.open(await flow.visit(browser, page, 'subject-1'));
    expect((await alice())?.linked).toBeUndefined();
  });
});

describe('a person unlinks the account', () => {
  test('and the browsers in which it signed in are signed out, not the others', async () => {
    const browser = await signedIn();
    await link(browser);
    const other = flow.site.browser();
    await flow.signIn(other, 'subject-1');
    const { id = '' } = (await alice()) ?? {};
    expect(await listSignIns(flow.site.server, id)).toHaveLength(2);
    const page = await browser.submit(await browser.open(PATH));
    expect(page.text).toContain('The account is unlinked');
    expect((await alice())?.linked).toBeUndefined();
    expect(await listSignIns(flow.site.server, id)).toHaveLength(1);
    expect((await other.open('/account')).text).toContain('name="password"');
  });

  test('and grants end that a sign-in by it gave, even if they outlive the browser, and no others', async () => {
    const browser = await signedIn();
    await link(browser);
    const other = flow.site.browser();
    await flow.signIn(other, 'subject-1');
    const [mine, theirs] = [await allow(browser), await allow(other)];
    await browser.submit(await browser.open(PATH));
    const { id = '' } = (await alice()) ?? {};
    expect(await listAccess(flow.site.server, id)).toHaveLength(1);
    expect([await refresh(mine), await refresh(theirs)]).toEqual([200, 400]);
  });

  test('and the same ends if the source leaves the configuration', async () => {
    const browser = await signedIn();
    await link(browser);
    const other = flow.site.browser();
    await flow.signIn(other, 'subject-1');
    const [mine, theirs] = [await allow(browser), await allow(other)];
    const sources: unknown[] = flow.site.server.config.sources;
    sources.length = 0;
    expect((await browser.open('/account')).text).not.toContain('name="password"');
    expect((await other.open('/account')).text).toContain('name="password"');
    expect([await refresh(mine), await refresh(theirs)]).toEqual([200, 400]);
  });

  test('and the applications that the account has opened are told', async () => {
    const browser = await signedIn();
    await link(browser);
    const toldLater = await openApplication(flow, flow.site.browser());
    expect(await toldLater('alice')).toEqual([]);
    await browser.submit(await browser.open(PATH));
    expect(await toldLater('alice')).toEqual(['web']);
  });

  test('so it signs in no longer', async () => {
    const browser = await signedIn();
    await link(browser);
    await browser.submit(await browser.open(PATH));
    const page = await flow.signIn(flow.site.browser(), 'subject-1');
    expect(page.text).not.toContain('alice');
  });

  test('not if it is the last way to sign in', async () => {
    const browser = await signedIn();
    await link(browser);
    const form = await browser.open(PATH);
    const { people } = flow.site.server.stores;
    const { password_hash: _, ...now } = (await alice()) ?? { version: 0, id: '' };
    await people.replace({ ...now, version: now.version + 1 } as Parameters<
      typeof people.replace
    >[0]);
    const page = await browser.submit(form);
    expect([page.status, page.text.includes('your last way')]).toEqual([422, true]);
    expect((await alice())?.linked).toHaveLength(1);
  });

  test('and one link stays, if the last two are removed at once', async () => {
    const browser = await signedIn();
    await link(browser);
    const { people } = flow.site.server.stores;
    const { password_hash: _, ...now } = (await alice()) ?? { version: 0, id: '' };
    const linked = ['corp', 'other'].map((source) => ({ source, subject: 'x', created_at: 0 }));
    await people.replace({ ...now, linked, version: now.version + 1 } as Parameters<
      typeof people.replace
    >[0]);
    const form = await browser.open(PATH);
    const pages = await Promise.all(
      ['corp', 'other'].map((source) => browser.submit(form, { source })),
    );
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200, 422]));
    expect((await alice())?.linked).toHaveLength(1);
  });

  test('not if it brought the person here', async () => {
    const browser = flow.site.browser();
    await flow.signIn(browser, 'subject-1');
    // The provider has not said when the person authenticated, so the page asks for a new sign-in.
    const page = await browser.open(
      await flow.visit(browser, await browser.open(PATH), 'subject-1'),
    );
    expect(page.text).toContain('This account brought you here');
    expect(page.forms).toHaveLength(0);
    expect(linkOf(page)).toBe('');
  });
});

test('the address page sends no link to a person whose addresses a source owns, and says why', async () => {
  const mail = { host: 'mail.invalid', from: 'accounts@example.com' };
  await flow[Symbol.asyncDispose]();
  flow = await withCorp({ mail });
  const browser = await signedIn();
  const before = await browser.open('/account/address');
  const { people, outbox } = flow.site.server.stores;
  const now = await alice();
  if (now === undefined) throw new Error('no alice');
  const origin = { source: 'corp', subject: 'x', managed: ['emails'] } as const;
  await people.replace({ ...now, origin, version: now.version + 1 });
  const waiting = (await outbox.of(now.id)).length;
  const refused = await browser.submit(before, { address: 'a@new.example' }, '/account/address');
  const after = await browser.open('/account/address');
  for (const page of [refused, after]) {
    expect(page.text).toContain('Your addresses come from Example Corp');
    expect(page.forms.map(({ action }) => action)).not.toContain('/account/address');
  }
  expect([refused.status, after.status]).toEqual([403, 200]);
  expect(await outbox.of(now.id)).toHaveLength(waiting);
});

test('a profile that a source owns is not changed on the address page or by an operator', async () => {
  await flow.signIn(flow.site.browser(), 'subject-1');
  const edit = keepManaged((person) => ({
    ...person,
    profile: { ...person.profile, groups: ['admins'] },
  }));
  const changing = changeProfile(flow.site.server, 'carol', edit, {
    kind: 'person.changed',
    what: 'profile',
  });
  await expect(changing).rejects.toThrow('the source corp owns groups');
});
