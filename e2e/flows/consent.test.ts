import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { endApplication } from '#shared/people/access/applications.ts';
import {
  findConsent,
  listConsents,
  MOST_CONSENTS,
  recordConsent,
  removeConsents,
} from '#shared/people/access/consents.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { endGrant, findAccess, listAccess } from '#shared/people/access/grants.ts';
import { endSignIn } from '#shared/people/access/sign-ins.ts';
import { addPerson, disablePerson } from '#shared/people/people.ts';
import { createPasswords } from '#shared/people/password.ts';
import { removePerson } from '#shared/people/remove-person.ts';
import type { Artefacts } from '#shared/stores/oauth/artefacts.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { ALICE, grantOf, idOf } from '../../authz-server/integration/pages/at-consent.fixture.ts';
import type { Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import {
  answerIn,
  CALLBACK,
  DOCUMENTS,
  testSite,
  WEB,
} from '../../authz-server/integration/site.fixture.ts';
import type { TestSite } from '../../authz-server/integration/site.fixture.ts';
import { startStore, STORE_KINDS } from './flow.ts';

const CALLBACK_HOST = new URL(CALLBACK).host;
const ELSEWHERE = 'https://elsewhere.example/callback';
const LOCAL = 'http://localhost:8080/callback';
const READ = `${DOCUMENTS} documents:read`;

/** A consent in one browser is valid in the person's other browsers. */
describe.each(STORE_KINDS)('on %s: consent', (kind) => {
  const parts = new AsyncDisposableStack();
  let site: TestSite;
  let alice: string;
  beforeAll(async () => {
    site = parts.use(await testSite(await startStore(kind, parts)));
    alice = await idOf(site, 'alice');
  });
  afterAll(async () => parts[Symbol.asyncDispose]());
  beforeEach(async () => {
    await site.server.stores.clients.replace(WEB);
    await endApplication(site.server, alice, WEB.client_id);
  });

  const web = (more: Partial<ClientRecord>) =>
    site.server.stores.clients.replace({ ...WEB, ...more });
  const consents = () => listConsents(site.server, alice);

  /** A new browser in which alice is signed in. */
  async function newBrowser(): Promise<TestBrowser> {
    const browser = site.browser();
    await browser.submit(await browser.open('/account'), ALICE, '/sign-in');
    return browser;
  }
  const isAsked = (page: Page) => page.text.includes('name="decision"');
  const isAnswered = (page: Page) =>
    page.headers.has('location') && answerIn(page).get('code') !== null;

  /** Allows the request in one browser, and opens it in another. */
  async function inAnother(first: Record<string, string> = {}, second = first): Promise<Page> {
    const browser = await newBrowser();
    const asked = await browser.open(site.authorize(first));
    expect(isAsked(asked)).toBe(true);
    expect(isAnswered(await browser.submit(asked, { decision: 'allow' }))).toBe(true);
    return (await newBrowser()).open(site.authorize(second));
  }

  describe('is given once', () => {
    test('another browser is not asked and has a grant of its own', async () => {
      const answer = await inAnother();
      const grant = await grantOf(site, answer);
      const accesses = await listAccess(site.server, alice);
      expect(accesses).toHaveLength(2);
      expect(new Set(accesses.map(({ signIn }) => signIn)).size).toBe(2);
      const other = accesses.find(({ grantId }) => grantId !== grant);
      await endGrant(site.server, grant);
      expect(await findAccess(site.server, other?.grantId ?? '')).toBeDefined();
    });

    test('sign-out in one browser does not revoke the grant of another', async () => {
      const answer = await inAnother();
      const { signIn } = (await findAccess(site.server, await grantOf(site, answer))) ?? {};
      const others = (await listAccess(site.server, alice)).filter((one) => one.signIn !== signIn);
      await endSignIn(site.server, { uid: signIn ?? '', accountId: alice });
      for (const { grantId } of others) {
        expect(await findAccess(site.server, grantId)).toBeDefined();
      }
      expect(isAnswered(await (await newBrowser()).open(site.authorize()))).toBe(true);
    });

    test('RFC 6749 section 4.1.2: a code used twice revokes the grant of its own browser only', async () => {
      const answer = await inAnother();
      const grant = await grantOf(site, answer);
      expect(await site.redeem(answer)).toMatchObject({ error: 'invalid_grant' });
      expect(await findAccess(site.server, grant)).toBeUndefined();
      expect(await listAccess(site.server, alice)).toHaveLength(1);
      expect(await consents()).toHaveLength(1);
    });

    test('a refused scope is not granted in another browser, and not asked for again', async () => {
      const browser = await newBrowser();
      const asked = await browser.open(site.authorize());
      await browser.submit(asked, { decision: 'allow', item: READ });
      const answer = await (await newBrowser()).open(site.authorize());
      expect((await site.redeem(answer))['scope']).toBe('openid documents:read');
    });

    test('a request for fewer scopes gets only these', async () => {
      const answer = await inAnother({}, { scope: 'documents:read' });
      expect((await site.redeem(answer))['scope']).toBe('documents:read');
    });

    test('a consent in another browser widens the grant of this browser', async () => {
      const browser = await newBrowser();
      const narrow = { scope: 'documents:read' };
      const asked = await browser.open(site.authorize(narrow));
      const first = await grantOf(site, await browser.submit(asked, { decision: 'allow' }));
      const other = await newBrowser();
      await other.submit(await other.open(site.authorize()), { decision: 'allow' });
      const answer = await browser.open(site.authorize());
      expect(await grantOf(site, answer)).toBe(first);
    });

    test('ten callbacks at once are all answered, and each code gives tokens', async () => {
      await inAnother();
      const browser = await newBrowser();
      const pages = await Promise.all(
        Array.from({ length: 10 }, () => browser.open(site.authorize())),
      );
      const tokens = await Promise.all(pages.map((page) => site.redeem(page)));
      for (const { access_token: token } of tokens) expect(token).toEqual(expect.any(String));
      expect((await browser.open('/account')).text.match(/<h3>Web &amp;/g)).toHaveLength(1);
    });
  });

  describe('is asked for again', () => {
    test.each<[string, Record<string, string>]>([
      ['prompt=consent', { prompt: 'consent' }],
      ['a new scope', { scope: 'openid profile documents:read documents:write' }],
      ['another redirect host', { redirect_uri: ELSEWHERE }],
    ])('after %s', async (_what, second) => {
      await web({ redirect_uris: [CALLBACK, ELSEWHERE] });
      expect(isAsked(await inAnother({}, second))).toBe(true);
      const accesses = await listAccess(site.server, alice);
      expect(accesses).toHaveLength(1);
    });

    test.each([ELSEWHERE, LOCAL])(
      'in the same browser for another redirect URI, %s, once for each',
      async (other) => {
        await web({ redirect_uris: [CALLBACK, other] });
        const browser = await newBrowser();
        await browser.submit(await browser.open(site.authorize()), { decision: 'allow' });
        const params = { redirect_uri: other };
        const none = await browser.open(site.authorize({ ...params, prompt: 'none' }));
        expect(none.headers.get('location')).toContain('error=consent_required');
        const asked = await browser.open(site.authorize(params));
        expect(isAsked(asked)).toBe(true);
        await browser.send(asked, { decision: 'allow' });
        for (let round = 0; round < 3; round++) {
          expect((await browser.open(site.authorize(params))).status).toBe(303);
          expect(isAnswered(await browser.open(site.authorize()))).toBe(true);
        }
        expect(await listAccess(site.server, alice)).toHaveLength(2);
      },
    );

    test('for another redirect host', async () => {
      await web({ redirect_uris: [CALLBACK, ELSEWHERE] });
      const browser = await newBrowser();
      const read = await browser.open(site.authorize({ scope: 'documents:read' }));
      await browser.submit(read, { decision: 'allow' });
      const there = await browser.open(site.authorize({ redirect_uri: ELSEWHERE }));
      await browser.submit(there, { decision: 'allow' });
      expect(isAsked(await browser.open(site.authorize()))).toBe(true);
    });

    test.each(['http://localhost:8080/callback', 'https://127.0.0.1/callback'])(
      'RFC 8252 section 8.6: in each browser if the code goes to this machine, %s',
      async (redirectUri) => {
        await web({ redirect_uris: [redirectUri] });
        const browser = await newBrowser();
        const params = { redirect_uri: redirectUri };
        await browser.send(await browser.open(site.authorize(params)), { decision: 'allow' });
        expect(await consents()).toEqual([]);
        expect(isAsked(await (await newBrowser()).open(site.authorize(params)))).toBe(true);
      },
    );

    test('RFC 8252 section 8.6: each time for a native client, even with an https redirect URI', async () => {
      await web({ application_type: 'native' });
      expect(isAsked(await inAnother())).toBe(true);
    });

    test('for a scope that was removed from the client and added again', async () => {
      const read = 'openid documents:read';
      await inAnother();
      await web({ scope: read, withdrawn_scopes: { 'documents:write': Date.now() } });
      const narrow = await (await newBrowser()).open(site.authorize({ scope: read }));
      expect(isAnswered(narrow)).toBe(true);
      await web({ withdrawn_scopes: { 'documents:write': Date.now() } });
      expect(isAsked(await (await newBrowser()).open(site.authorize()))).toBe(true);
    });

    test('after a denial', async () => {
      const browser = await newBrowser();
      await browser.submit(await browser.open(site.authorize()), { decision: 'deny' });
      expect(isAsked(await (await newBrowser()).open(site.authorize()))).toBe(true);
    });

    test("after the application's access was revoked on the account page, with its consent and all its grants", async () => {
      const grant = await grantOf(site, await inAnother());
      const browser = await newBrowser();
      const page = await browser.open('/account');
      expect(page.text.match(/<h3>Web &amp;/g)).toHaveLength(1);
      const asked = await browser.open('/account/end?end=application&id=web');
      const form = asked.forms.find(({ fields }) => fields.some(([, value]) => value === 'web'));
      const fields = Object.fromEntries(form?.fields ?? []);
      const ended = await browser.request('POST', '/account', new URLSearchParams(fields));
      expect(ended.headers.get('location')).toMatch(/^\/account\?done=application\./);
      expect([await consents(), await listAccess(site.server, alice)]).toEqual([[], []]);
      expect(await findAccess(site.server, grant)).toBeUndefined();
      expect(isAsked(await browser.open(site.authorize()))).toBe(true);
      // A repeated form gets the answer to the first.
      const again = await browser.request('POST', '/account', new URLSearchParams(fields));
      expect(again.status).toBe(303);
    });

    test.each(['put', 'get'] as const)(
      "after the application's access was revoked during the decision",
      async (step) => {
        const browser = await newBrowser();
        const page = await browser.open(site.authorize());
        const { stores } = site.server;
        let times = 0;
        /** The same store operation finds the access revoked when it writes the consent. */
        const amid = (artefacts: Artefacts) => {
          const before = artefacts[step].bind(artefacts) as (
            ...args: unknown[]
          ) => Promise<unknown>;
          return async (...args: unknown[]) => {
            const what = step === 'put' ? (args[0] as { kind: string }).kind : args[0];
            if (what === 'Consent' && ++times === 1) {
              await endApplication(site.server, alice, WEB.client_id);
            }
            return (await before(...args)) as never;
          };
        };
        const ended = amid(stores.artefacts);
        const plain = jest.spyOn(stores.artefacts, step).mockImplementation(ended);
        // A consent is stored with its event.
        const recorded = stores.recorded.bind(stores);
        const withEvent = jest.spyOn(stores, 'recorded').mockImplementation((part, ...texts) => {
          const own = recorded(part, ...texts);
          return part === 'artefacts' ? { ...own, [step]: amid(own as Artefacts) } : own;
        });
        await browser.submit(page, { decision: 'allow' });
        plain.mockRestore();
        withEvent.mockRestore();
        expect(times).toBeGreaterThan(0);
        expect(await consents()).toEqual([]);
        expect(isAsked(await (await newBrowser()).open(site.authorize()))).toBe(true);
      },
    );

    test('after all access was revoked', async () => {
      await inAnother();
      await endEverything(site.server, alice);
      expect(await consents()).toEqual([]);
      const { artefacts } = site.server.stores;
      expect(await artefacts.listByAccount('Consent', alice)).toEqual([]);
      expect(isAsked(await (await newBrowser()).open(site.authorize()))).toBe(true);
    });
  });

  test('a first-party client needs no consent, but is on the account page', async () => {
    await web({ first_party: true });
    const browser = await newBrowser();
    expect(isAnswered(await browser.open(site.authorize()))).toBe(true);
    expect((await browser.open('/account')).text).toContain('<h3>Web &amp;');
    expect(isAsked(await browser.open(site.authorize({ prompt: 'consent' })))).toBe(true);
    await web({});
    expect(isAsked(await (await newBrowser()).open(site.authorize()))).toBe(true);
  });

  test('if a client is no longer first-party, its people are asked, even if they never were', async () => {
    await web({ first_party: true });
    const [unasked, decided] = [await newBrowser(), await newBrowser()];
    expect(isAnswered(await unasked.open(site.authorize()))).toBe(true);
    const page = await decided.open(site.authorize({ prompt: 'consent' }));
    await decided.submit(page, { decision: 'allow' });
    await removeConsents(site.server, alice, () => true);
    await web({});
    expect(isAnswered(await decided.open(site.authorize()))).toBe(true);
    const none = await unasked.open(site.authorize({ prompt: 'none' }));
    expect(none.headers.get('location')).toContain('error=consent_required');
    const asked = await unasked.open(site.authorize());
    expect(isAsked(asked)).toBe(true);
    await unasked.submit(asked, { decision: 'allow' });
    expect(isAnswered(await unasked.open(site.authorize()))).toBe(true);
  });

  test('RFC 8252 section 8.6: a first-party client without a secret needs consent if its code goes to this machine', async () => {
    await web({ first_party: true, redirect_uris: [CALLBACK, LOCAL] });
    const params = { redirect_uri: LOCAL };
    const browser = await newBrowser();
    expect(isAsked(await browser.open(site.authorize(params)))).toBe(true);
    expect(isAnswered(await browser.open(site.authorize()))).toBe(true);
    expect(isAsked(await browser.open(site.authorize(params)))).toBe(true);
  });

  test("a browser's grant stays when the consent is forgotten", async () => {
    const browser = await newBrowser();
    await browser.submit(await browser.open(site.authorize()), { decision: 'allow' });
    await removeConsents(site.server, alice, () => true);
    expect(isAnswered(await browser.open(site.authorize()))).toBe(true);
    expect(isAsked(await (await newBrowser()).open(site.authorize()))).toBe(true);
  });

  test.each(['removed', 'disabled'])('is deleted with a person who is %s', async (how) => {
    const { server } = site;
    const store = { ...server, passwords: createPasswords(), realms: [] };
    const name = `somebody ${how}`.replace(' ', '-');
    const { id } = await addPerson(store, { name, password: ALICE.password });
    const browser = site.browser();
    const page = await browser.submit(await browser.open(site.authorize()), { ...ALICE, name });
    await browser.submit(page, { decision: 'allow' });
    expect(await listConsents(server, id)).toHaveLength(1);
    await (how === 'removed' ? removePerson(store, name) : disablePerson(store, name));
    expect(await server.stores.artefacts.listByAccount('Consent', id)).toEqual([]);
  });

  describe('and changes at the same moment', () => {
    const consentOf = (more: object = {}) => ({
      accountId: alice,
      clientId: WEB.client_id,
      redirectHost: CALLBACK_HOST,
      generation: 0,
      since: Date.now(),
      allowed: { [DOCUMENTS]: ['documents:read'] },
      refused: {},
      ...more,
    });
    const generation = () => site.server.stores.revocations.generation('person', alice);

    test("if the application's access is revoked while browsers get grants, no grant is left", async () => {
      const browser = await newBrowser();
      await browser.submit(await browser.open(site.authorize()), { decision: 'allow' });
      for (let round = 0; round < 4; round++) {
        const browsers = await Promise.all(Array.from({ length: 5 }, newBrowser));
        const pages = Promise.all(browsers.map((one) => one.open(site.authorize())));
        const [shown] = await Promise.all([
          pages,
          endApplication(site.server, alice, WEB.client_id),
        ]);
        for (const page of shown.filter((one) => !isAsked(one))) {
          expect((await site.redeem(page))['access_token']).toBeUndefined();
        }
        expect(await listAccess(site.server, alice)).toEqual([]);
        const next = await newBrowser();
        await next.submit(await next.open(site.authorize()), { decision: 'allow' });
      }
    });

    test('decisions in ten tabs at once are all stored', async () => {
      const scopes = Array.from({ length: 10 }, (_, n) => `scope-${n}`);
      const client = { scope: scopes.join(' ') };
      const at = { generation: await generation() };
      await recordConsent(site.server, consentOf({ ...at, allowed: {} }), client, 60);
      await Promise.all(
        scopes.map((scope) =>
          recordConsent(site.server, consentOf({ ...at, allowed: { '': [scope] } }), client, 60),
        ),
      );
      const { allowed } = (await findConsent(site.server, consentOf(), client)) ?? {};
      expect(allowed?.['']?.toSorted()).toEqual(scopes);
    });

    test('a decision made before a revocation of everything, and written after it, is dropped', async () => {
      const before = { generation: await generation() };
      await endEverything(site.server, alice);
      await recordConsent(site.server, consentOf(before), WEB, 60);
      expect(await findConsent(site.server, consentOf(), WEB)).toBeUndefined();
      expect(await consents()).toEqual([]);
    });

    test('beyond the limit of consents the oldest is dropped', async () => {
      const at = { generation: await generation() };
      for (let n = 0; n <= MOST_CONSENTS; n++) {
        const more = { ...at, clientId: `client-${n}`, since: n };
        await recordConsent(site.server, consentOf(more), WEB, 60);
      }
      const kept = await consents();
      expect(kept).toHaveLength(MOST_CONSENTS);
      expect(kept.map(({ clientId }) => clientId)).not.toContain('client-0');
      await removeConsents(site.server, alice, () => true);
    });
  });
});
