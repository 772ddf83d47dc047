import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { startFlowOn, ONE_STORE } from '../flows/flow.ts';
import type { Flow } from '../flows/flow.ts';
import {
  alsoAt,
  App,
  asksToSignIn,
  browserAt,
  newPerson,
  signedIn,
  signIn,
} from '../flows/person.ts';

describe.each(ONE_STORE)('on %s: cookies that an attacker planted', (kind) => {
  let flow: Flow;
  let app: App;
  let person: Person;

  beforeAll(async () => {
    flow = await startFlowOn(kind, { authz: 2 });
    app = await App.add(flow);
    person = await newPerson(flow);
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  describe('an interaction belongs to the browser that began it', () => {
    const waiting = async (one: TestBrowser) => one.open(app.url({ prompt: 'login' }));

    test('another browser that knows its address cannot see or finish it', async () => {
      const one = browserAt(flow);
      const page = await waiting(one);
      const stranger = browserAt(flow, 1);
      const seen = await stranger.open(page.url);
      expect(seen.status).toBe(400);
      const { forms } = await stranger.open('/account');
      const csrf = new Map(forms[0]?.fields).get('csrf') ?? '';
      for (const end of ['login', 'consent', 'abort']) {
        const { name, password } = person;
        const form = new URLSearchParams({ csrf, name, password, decision: 'allow' });
        const answer = await stranger.request('POST', `${new URL(page.url).pathname}/${end}`, form);
        expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      }
      expect((await stranger.open('/account')).text).not.toContain(person.name);
      expect(asksToSignIn(await alsoAt(flow, one, 1).open(page.url))).toBe(true);
    });

    test('RFC 9700 section 4.7: an attacker who plants the cookies of a sign-in is not signed in by it', async () => {
      const attacker = browserAt(flow);
      const page = await waiting(attacker);
      const victim = browserAt(flow);
      victim.plant(attacker, /^countersign-(?:interaction|resume|session)/);
      const asked = await victim.open(page.url);
      const result = await victim.send(asked, { name: person.name, password: person.password });
      const resumed = await attacker.open(result.headers.get('location') ?? '/account');
      expect(resumed.headers.get('location')).toBeNull();
      expect(asksToSignIn(await attacker.open('/account'))).toBe(true);
    });
  });

  describe('session fixation (RFC 6265 section 8.4)', () => {
    test.each<[string, (one: TestBrowser) => Promise<Page>]>([
      ['at our own pages', (one) => one.open('/account')],
      ['for a client', (one) => one.open(app.url())],
    ])(
      'a planted session is not the session of the person who signs in %s',
      async (_where, open) => {
        const mallory = await newPerson(flow);
        const attacker = await signedIn(flow, mallory);
        await flow.pair.cli('user', 'end', mallory.name);
        expect(attacker.cookies.map(({ name }) => name)).toContain('countersign-session');
        const victim = browserAt(flow);
        victim.plant(attacker);
        await signIn(victim, await open(victim), person);
        expect((await victim.open('/account')).text).toContain(person.name);
        for (const server of [0, 1]) {
          const also = alsoAt(flow, attacker, server);
          expect(asksToSignIn(await also.open('/account'))).toBe(true);
        }
      },
    );

    test('a person who signs in over a planted session of the attacker gets a session of their own', async () => {
      const mallory = await newPerson(flow);
      const attacker = await signedIn(flow, mallory);
      const victim = browserAt(flow, 1);
      victim.plant(attacker);
      const page = await victim.open(app.url({ prompt: 'login' }));
      await signIn(victim, page, person);
      const seen = await attacker.open('/account');
      expect(seen.text).not.toContain(person.name);
      expect((await victim.open('/account')).text).toContain(person.name);
    });
  });
});
