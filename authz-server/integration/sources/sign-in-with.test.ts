import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { addPerson, disablePerson } from '#shared/people/people.ts';
import { answerIn, claimsOf } from '../site.fixture.ts';
import { newKey } from './provider.fixture.ts';
import { CAROL, ISSUER, linkOf, withCorp, type WithCorp } from './with-corp.fixture.ts';

let flow: WithCorp;
const clock = new ManualClock(Date.now());

const start = async (...args: Parameters<typeof withCorp>) => {
  await flow[Symbol.asyncDispose]();
  flow = await withCorp(...args);
};
beforeEach(async () => {
  flow = await withCorp();
});
afterEach(async () => flow[Symbol.asyncDispose]());

const personNamed = (name: string) => flow.site.server.stores.people.getByName(name);

describe('a newcomer', () => {
  test('gets an account with what the provider says, and no password', async () => {
    const page = await flow.signIn(flow.site.browser(), 'subject-1');
    expect(page.url).toBe(`${ISSUER}/account`);
    const person = await personNamed('carol');
    expect(person).toMatchObject({
      profile: {
        display_name: 'Carol Example',
        emails: [{ address: 'carol@corp.example', verified: true }],
        groups: ['staff'],
      },
      origin: {
        source: 'corp',
        subject: 'subject-1',
        managed: ['display_name', 'emails', 'groups'],
      },
    });
    expect(person?.password_hash).toBeUndefined();
    expect(person?.id).not.toBe('subject-1');
  });

  test('is refused by default, and nothing is written', async () => {
    await start({ source: { newcomers: 'refused' } });
    const page = await flow.signIn(flow.site.browser(), 'subject-1');
    expect(page.status).toBe(403);
    expect(page.text).toContain('belongs to no account here');
    expect(await personNamed('carol')).toBeUndefined();
  });

  test.each([
    ['alice', 'alice-2'],
    ['A.l.i.c.e', 'a.l.i.c.e-2'],
    ['admin', 'carol'],
    ['Zoë Müller', 'zoe-muller'],
    ['root@corp.example', 'carol'],
    ['', 'carol'],
    ['日本', 'carol'],
  ])('called %j there is called %j here', async (preferred_username, name) => {
    flow.corp.people.set('subject-1', { ...CAROL, preferred_username });
    await flow.signIn(flow.site.browser(), 'subject-1');
    expect((await personNamed(name))?.origin?.subject).toBe('subject-1');
  });

  test('never becomes a person with the same name or the same verified address', async () => {
    const { server } = flow.site;
    const profile = { emails: [{ address: 'carol@corp.example', verified: true }] };
    const local = await addPerson(server, { name: 'carol', profile });
    const page = await flow.signIn(flow.site.browser(), 'subject-1');
    expect(page.status).toBe(409);
    expect(await personNamed('carol')).toEqual(local);
    expect(await personNamed('carol-2')).toBeUndefined();
  });

  test.each([
    ['of a domain that the source does not speak for', { email: 'carol@elsewhere.example' }],
    ['that the provider does not call verified', { email_verified: false }],
    ['whose verification is no boolean', { email_verified: 'yes' }],
    ['of a domain that only ends in the same way', { email: 'carol@evil.corp.example' }],
  ])('has an unverified address, if it is one %s', async (_, said) => {
    flow.corp.people.set('subject-1', { ...CAROL, ...said });
    await flow.signIn(flow.site.browser(), 'subject-1');
    expect((await personNamed('carol'))?.profile?.emails?.[0]?.verified).toBe(false);
  });

  test('has no group that the map does not name', async () => {
    flow.corp.people.set('subject-1', { ...CAROL, groups: ['admins', 'constructor', '__proto__'] });
    await flow.signIn(flow.site.browser(), 'subject-1');
    expect((await personNamed('carol'))?.profile?.groups).toEqual([]);
  });
});

describe('a person who comes again', () => {
  test('is the same person, with what the provider says now', async () => {
    await flow.signIn(flow.site.browser(), 'subject-1');
    const first = await personNamed('carol');
    flow.corp.people.set('subject-1', {
      ...CAROL,
      preferred_username: 'carla',
      name: 'Carla Example',
      groups: [],
    });
    await flow.signIn(flow.site.browser(), 'subject-1');
    const person = await personNamed('carol');
    expect(person?.id).toBe(first?.id);
    expect(person?.profile).toMatchObject({ display_name: 'Carla Example', groups: [] });
    expect(await personNamed('carla')).toBeUndefined();
  });

  test('with another subject is another person, even with the same name and address', async () => {
    flow.corp.people.set('subject-2', { ...CAROL, email: 'other@corp.example' });
    await flow.signIn(flow.site.browser(), 'subject-1');
    await flow.signIn(flow.site.browser(), 'subject-2');
    expect((await personNamed('carol-2'))?.origin?.subject).toBe('subject-2');
  });

  test('is refused while disabled', async () => {
    await flow.signIn(flow.site.browser(), 'subject-1');
    await disablePerson(flow.site.server, 'carol');
    const page = await flow.signIn(flow.site.browser(), 'subject-1');
    expect([page.status, page.text.includes('is disabled')]).toEqual([403, true]);
  });
});

describe('on the way to a client', () => {
  test('the person comes back to it, and the token says how they signed in', async () => {
    const browser = flow.site.browser();
    const page = await browser.open(flow.site.authorize());
    const consent = await browser.open(await flow.visit(browser, page, 'subject-1'));
    const answer = await browser.submit(consent, { decision: 'allow' });
    const claims = claimsOf((await flow.site.redeem(answer))['access_token']);
    expect(claims['acr']).toBe('urn:countersign:acr:provider');
  });

  test.each(['password', 'passkey'])(
    'a client that asks for a %s is not offered a provider',
    async (way) => {
      const browser = flow.site.browser();
      const page = await browser.open(
        flow.site.authorize({ acr_values: `urn:countersign:acr:${way}` }),
      );
      expect(linkOf(page)).toBe('');
    },
  );

  test('a client that asks for more gets no code by a provider alone', async () => {
    const browser = flow.site.browser();
    const asked = flow.site.authorize({ acr_values: 'urn:countersign:acr:password' });
    const { pathname } = new URL((await browser.open(asked)).url);
    const link = `/sign-in/with/corp?continue=${encodeURIComponent(pathname)}`;
    const away = await browser.open(link);
    const callback = await flow.corp.visit(away.headers.get('location') ?? '', 'subject-1');
    const answer = await browser.open(callback);
    expect(answerIn(answer).get('error')).toBe('unmet_authentication_requirements');
  });

  test('a client that asks for a second factor gets it after the provider', async () => {
    const browser = flow.site.browser();
    const acr_values = 'urn:countersign:acr:second-factor';
    const page = await browser.open(flow.site.authorize({ acr_values }));
    const step = await browser.open(await flow.visit(browser, page, 'subject-1'));
    expect(step.text).toContain('name="code"');
  });

  test.each([{ prompt: 'login' }, { max_age: '0' }])(
    'for %j the person authenticates anew there',
    async (more) => {
      const browser = flow.site.browser();
      await flow.signIn(browser, 'subject-1');
      const page = await browser.open(flow.site.authorize(more));
      const away = await browser.open(linkOf(page));
      const query = new URL(away.headers.get('location') ?? '').searchParams;
      expect([query.get('prompt'), query.get('max_age')]).toEqual(['login', '0']);
    },
  );

  test('for max_age the person authenticates anew there, too, if they choose another account', async () => {
    const browser = flow.site.browser();
    await addPerson(flow.site.server, { name: 'dora', password: 'correct horse battery' });
    const fields = { name: 'dora', password: 'correct horse battery' };
    await browser.submit(await browser.open('/account'), fields);
    const asked = flow.site.authorize({ prompt: 'select_account', max_age: '3600' });
    const { url } = await browser.open(asked);
    const away = await browser.open(linkOf(await browser.open(`${url}?account=other`)));
    const query = new URL(away.headers.get('location') ?? '').searchParams;
    expect([query.get('prompt'), query.get('max_age')]).toEqual(['login', '0']);
  });
});

describe('a second factor that the operator demands', () => {
  test('is set up after the provider, and both count', async () => {
    await start({ people: { secondFactor: 'required' } });
    const browser = flow.site.browser();
    const page = await flow.signIn(browser, 'subject-1');
    expect(page.text).toContain('name="code"');
    expect((await browser.open('/account')).text).toContain('name="password"');
  });
});

describe('a provider that fails', () => {
  test('gets a page for the person, and its button is gone for half a minute', async () => {
    await start({}, clock);
    const browser = flow.site.browser();
    const page = await browser.open('/account');
    flow.corp.setDown(true);
    const failed = await browser.open(linkOf(page));
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '30']);
    const asked = flow.corp.requests.length;
    await browser.open(linkOf(page));
    expect(flow.corp.requests).toHaveLength(asked);
    const without = await browser.open('/account');
    expect(linkOf(without)).toBe('');
    expect(without.text).toContain('Example Corp does not answer');
    flow.corp.setDown(false);
    clock.advance(31);
    expect(linkOf(await browser.open('/account'))).not.toBe('');
  });

  test('does not keep a person with a password out', async () => {
    flow.corp.setDown(true);
    const browser = flow.site.browser();
    await browser.open(linkOf(await browser.open('/account')));
    const { site } = flow;
    await addPerson(site.server, { name: 'dora', password: 'correct horse battery' });
    const page = await browser.open('/account');
    const fields = { name: 'dora', password: 'correct horse battery' };
    expect((await browser.submit(page, fields)).text).toContain('dora');
  });

  test('after a change of its keys, is asked for the new ones', async () => {
    await flow.signIn(flow.site.browser(), 'subject-1');
    flow.corp.replaceKeys([await newKey()]);
    const page = await flow.signIn(flow.site.browser(), 'subject-1');
    expect(page.url).toBe(`${ISSUER}/account`);
  });

  test.each([
    ['access_denied', 403],
    ['login_required', 403],
    ['temporarily_unavailable', 503],
    ['invalid_scope', 502],
  ])('with the error %s gives a page with the status %i', async (error, status) => {
    const browser = flow.site.browser();
    const away = await browser.open(linkOf(await browser.open('/account')));
    const state = new URL(away.headers.get('location') ?? '').searchParams.get('state') ?? '';
    const query = new URLSearchParams({ error, state, iss: flow.corp.issuer });
    const page = await browser.open(`/sign-in/with/corp/callback?${query.toString()}`);
    expect(page.status).toBe(status);
    expect(page.text).not.toContain(error);
  });
});
