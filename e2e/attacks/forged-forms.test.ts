import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { systemClock } from '#shared/base/clock.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import type { Form, Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { startFlowOn, ONE_STORE } from '../flows/flow.ts';
import type { Flow } from '../flows/flow.ts';
import {
  addDevice,
  accesses,
  alsoAt,
  App,
  asksToSignIn,
  browserAt,
  newPerson,
  post,
  signedIn,
} from '../flows/person.ts';

/** A form of one of the server's pages, with the answers of a person. */
interface Offered {
  readonly page: Page;
  readonly form: Form;
  readonly answers: Readonly<Record<string, string>>;
}

/** Cross-site request forgery (RFC 6749 section 10.12, RFC 9700 section 4.7), on every form. */
describe.each(ONE_STORE)('on %s: a forged form is refused', (kind) => {
  let flow: Flow;
  let app: App;
  let device: string;
  let person: Person;
  let browser: TestBrowser;

  beforeAll(async () => {
    flow = await startFlowOn(kind);
    app = await App.add(flow);
    device = await addDevice(flow);
  });
  beforeEach(async () => {
    person = await newPerson(flow);
    browser = browserAt(flow);
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  function offered(page: Page, end: string, answers: Record<string, string>): Offered {
    const form = page.forms.find(({ action }) => action.endsWith(end));
    if (form === undefined) throw new Error(`no ${end} on ${page.url}: ${page.text}`);
    return { page, form, answers };
  }

  const password = () => ({ name: person.name, password: person.password });
  const arrive = async () => {
    browser = await signedIn(flow, person);
  };

  const FORMS: Readonly<Record<string, () => Promise<Offered>>> = {
    'sign-in': async () => offered(await browser.open('/account'), '/sign-in', password()),
    'sign-in for a client': async () =>
      offered(await browser.open(app.url()), '/login', password()),
    'giving up a sign-in': async () => offered(await browser.open(app.url()), '/abort', {}),
    async consent() {
      await arrive();
      return offered(await browser.open(app.url()), '/consent', { decision: 'allow' });
    },
    async 'a device'() {
      await arrive();
      const { body } = await post(flow, '/device/auth', { client_id: device });
      const page = await browser.open(`/device?user_code=${String(body['user_code'])}`);
      return offered(page, '/device', { decision: 'allow' });
    },
    async account() {
      await arrive();
      return offered(await browser.open('/account/end'), '/account', { end: 'everything' });
    },
    async 'sign-out'() {
      await arrive();
      return offered(await browser.open('/sign-out'), '/sign-out', { logout: 'yes' });
    },
  };

  /** Everything that these forms could change. */
  async function state() {
    const { stores, config } = flow;
    const store = { stores, clock: systemClock, longestLife: longestLife(config) };
    const signIns = await listSignIns(store, person.id);
    const here = asksToSignIn(await browser.open('/account'));
    return { signIns, grants: await accesses(flow, person), here };
  }

  function send(
    from: TestBrowser,
    { page, form, answers }: Offered,
    csrf: string | undefined,
    fields: Record<string, string> = {},
  ): Promise<Page> {
    const all = new URLSearchParams([
      ...form.fields.filter(([name]) => name !== 'csrf' && !Object.hasOwn(answers, name)),
      ...Object.entries(answers),
      ...(csrf === undefined ? [] : [['csrf', csrf]]),
    ] as [string, string][]);
    return from.request('POST', new URL(form.action, page.url).href, all, fields);
  }

  const csrfOf = ({ form }: Offered) => new Map(form.fields).get('csrf') ?? '';

  test.each(Object.entries(FORMS))('%s', async (_name, reach) => {
    const form = await reach();
    const own = csrfOf(form);
    expect(own).not.toBe('');
    const stranger = (await browserAt(flow).open('/account')).forms[0]?.fields;
    const theirs = new Map(stranger).get('csrf');
    expect(theirs).not.toBe(own);
    const before = await state();

    const forged: readonly (readonly [string | undefined, Record<string, string>])[] = [
      [undefined, {}],
      ['', {}],
      [theirs, {}],
      [own.slice(0, -1), {}],
      [`${own}=`, {}],
      [undefined, { cookie: '' }],
      [own, { cookie: '' }],
      ['', { cookie: 'countersign-csrf=' }],
      ...[
        'https://evil.example',
        'null',
        `${flow.pair.issuer}.evil.example`,
        flow.pair.resource,
      ].map((origin) => [own, { origin }] as const),
    ];
    for (const [csrf, fields] of forged) {
      const { status, headers, text } = await send(alsoAt(flow, browser, 0), form, csrf, fields);
      expect([csrf, fields, status, headers.get('location')]).toEqual([csrf, fields, 403, null]);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(text).toContain('This page is too old');
    }
    const plain = await send(browser, form, own, { 'content-type': 'text/plain' });
    expect(plain.status).toBe(415);
    expect(await state()).toEqual(before);

    const { status } = await send(browser, form, own);
    expect([200, 303]).toContain(status);
  });

  test('no form can be framed by another site, and its address does not leak as a referrer', async () => {
    for (const reach of Object.values(FORMS)) {
      browser = browserAt(flow);
      const { headers } = (await reach()).page;
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('referrer-policy')).toMatch(/^(?:no-referrer|same-origin)$/);
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });
});
