import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ENDPOINTS } from '../../authz-server/base/endpoints.ts';
import type { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { CALLBACK } from '../pair/people-client.ts';
import { startFlowOn, ONE_STORE } from '../flows/flow.ts';
import type { Flow } from '../flows/flow.ts';
import { App, asksToSignIn, browserAt, newPerson, signedIn } from '../flows/person.ts';

const BYE = 'https://app.example/bye';
/** Addresses with pages for people. All other addresses answer with JSON. */
const FOR_PEOPLE =
  /^\/(?:(?:logo|account(?:\/(?:activity|address|data(?:\/file)?|end|key|password|passkeys|remove|second-factor|sources))?|recover|register|sign-in(?:\/with\/:uid(?:\/callback)?)?|sign-out|device|admin(?:\/:uid)?)?$|(?:account\/address|interaction|recover|register|auth|session|gnap\/interact)(?:\/|$))/;

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const FORM = 'application/x-www-form-urlencoded';

const words = (list: string) => list.split(/\s+/);
const NAMES = words(`client_id response_type redirect_uri scope state code_challenge max_age prompt
  code_challenge_method response_mode login_hint ui_locales acr_values claims nonce resource id_token_hint
  request request_uri registration dpop_jkt display user_code decision item csrf name password continue
  end id logout xsrf post_logout_redirect_uri logout_hint grant_type code code_verifier refresh_token
  device_code token token_type_hint client_secret client_assertion client_assertion_type ended
  scope[] state[a] __proto__ constructor toString user_code%00`);
const VALUES =
  words(`code none login consent openid documents:read offline_access allow deny yes everything
  access sign-in query fragment form_post S256 plain 0 -1 1e999 NaN null [] {} {"a":{"__proto__":1}} /account
  https://evil.example/ //evil.example /\\evil.example javascript:alert(1) data:text/html,x a.b.c e30.e30.
  %00 %0d%0aSet-Cookie:a=b %ff %c0%ae %u0041 %zz % %% <script>alert(1)</script> "><img/src=x> BCDF-GHJK
  __proto__ constructor urn:ietf:params:oauth:request_uri:x urn:ietf:params:oauth:grant-type:device_code
  authorization_code refresh_token de-DE,xx;q=9 ${'a'.repeat(300)} ${'%00'.repeat(100)}`);

const often = <T>(usual: readonly T[], odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: odd });
/**
 * Parameters are sent unencoded, possibly with a broken encoding, but without characters that end the
 * query.
 */
const raw = fc.string({ unit: 'grapheme-ascii' }).map((text) => text.replaceAll(/[#\s]/g, '+'));
const parameters = fc.array(fc.tuple(often(NAMES, raw), often(VALUES, raw)), { maxLength: 6 });

/** The parameters, unencoded, in place of valid parameters of the same name. */
function written(pairs: readonly (readonly [string, string])[], good = new URLSearchParams()) {
  const rest = new URLSearchParams(good);
  for (const [name] of pairs) rest.delete(name);
  return [rest.toString(), ...pairs.map((pair) => pair.join('='))].filter(Boolean).join('&');
}

interface Visit {
  readonly pattern: string;
  readonly method: string;
  /** 'good' names an interaction that is still open. */
  readonly uid: string;
  readonly accept: string;
  readonly query: string;
  readonly form: string;
  readonly cookies: readonly string[];
  readonly type: string;
  readonly origin?: string;
}

describe.each(ONE_STORE)('on %s: malformed visits', (kind) => {
  let flow: Flow;
  let app: App;
  let browser: TestBrowser;
  /** A real request and a real form, so that the first check does not refuse every visit. */
  let good: Readonly<Record<'query' | 'form', URLSearchParams>> & { readonly interaction: string };

  beforeAll(async () => {
    const unlimited = { burst: 1_000_000, per: 0.001 };
    const limits = Object.fromEntries(
      ['client', 'address', 'account', 'signIn', 'userCode'].map((name) => [name, unlimited]),
    );
    const provider = { issuer: 'http://localhost:1', clientId: 'x' };
    const sources = [{ name: 'corp', provider }];
    flow = await startFlowOn(kind, { settings: { limits, sources } });
    app = await App.add(flow, '--post-logout-redirect-uri', BYE);
    browser = await signedIn(flow, await newPerson(flow));
    const waiting = await browser.open(app.url());
    const csrf = new Map(waiting.forms[0]?.fields).get('csrf') ?? '';
    good = {
      query: app.request(),
      form: new URLSearchParams({ csrf, client_id: app.id }),
      interaction: waiting.url.split('/').at(-1) ?? '',
    };
  });

  afterAll(async () => {
    const log = flow.pair.authz.map((server) => server.log).join('\n');
    await flow[Symbol.asyncDispose]();
    expect(log.split('\n').filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  async function isAlive(): Promise<void> {
    const somebody = await newPerson(flow);
    expect(asksToSignIn(await browserAt(flow).open('/account'))).toBe(true);
    const code = await app.code(await signedIn(flow, somebody));
    expect((await app.redeem(code)).status).toBe(200);
  }

  /** Returns whether the URI is one of the server or a registered redirect URI. */
  function isKnown(uri: string): boolean {
    const { origin, href } = new URL(uri, flow.pair.issuer);
    return origin === flow.pair.issuer || [CALLBACK, BYE].includes(href.split(/[?#]/)[0] ?? '');
  }

  /**
   * Expects no 5xx, no link to a foreign address, a page for people, JSON for programs, and no injected
   * markup.
   */
  async function check({ pattern, accept }: Visit, response: Response): Promise<void> {
    const { status, headers } = response;
    const text = await response.text();
    expect(status).toBeLessThan(500);
    const actions = [...text.matchAll(/ action="([^"]*)"/g)].map(([, action = '']) => action);
    const leads = [headers.get('location') ?? '/', ...actions];
    expect(leads.filter((uri) => !isKnown(uri))).toEqual([]);
    expect(headers.getSetCookie().join()).not.toMatch(/^a=b|evil\.example/m);
    expect(text).not.toMatch(/node_modules|\.ts:\d/);
    const html = headers.get('content-type')?.startsWith('text/html') ?? false;
    // In JSON the text of `state` cannot act as markup, because browsers do not sniff its type.
    if (html) expect(text).not.toMatch(/<script>alert|<img\/src|href="javascript/);
    else if (text !== '') expect(headers.get('x-content-type-options')).toBe('nosniff');
    if (status < 400 || text === '') return;
    if (!html) expect(JSON.parse(text)).toEqual(expect.any(Object));
    const asked = accept.includes('html');
    // A form over the limit is refused before it is read: then Accept alone decides on the type.
    if (status === 413 && asked) return;
    // A target that is too long is refused by the HTTP layer, which has no pages.
    const expected = FOR_PEOPLE.test(pattern) && status !== 414 ? asked || html : false;
    expect([pattern, status, html]).toEqual([pattern, status, expected]);
  }

  async function visit(asked: Visit): Promise<void> {
    const { pattern, method, uid, accept, query, form, cookies, type, origin = '' } = asked;
    const headers = {
      accept,
      cookie: cookies.filter(Boolean).join('; '),
      origin,
      'content-type': method === 'POST' ? type : '',
    };
    const path = pattern.replace(':uid', uid === 'good' ? good.interaction : uid);
    const response = await fetch(`${browser.base}${path}?${query}`, {
      method,
      redirect: 'manual',
      headers: Object.entries(headers).filter(([, value]) => value !== ''),
      ...(method === 'POST' && { body: form }),
    });
    await check(asked, response);
  }

  const ownCookies = () => browser.cookies.map(({ name, value }) => `${name}=${value}`);

  const asked = fc.record({
    endpoint: fc.constantFrom(...Object.entries(ENDPOINTS)),
    turn: fc.nat(10),
    uid: often(['good', 'x'], fc.stringMatching(/^[\w-]{1,64}$/)),
    accept: fc.constantFrom(HTML, 'application/json'),
    query: parameters,
    form: parameters,
    known: fc.boolean(),
    signedIn: fc.boolean(),
    type: often(
      [FORM, `${FORM}; charset=latin1`],
      fc.constantFrom('application/json', 'text/plain', 'multipart/form-data; boundary=x', 'x'),
    ),
    origin: often([''], fc.constantFrom('null', 'https://evil.example', 'x')),
    cookie: often(
      [''],
      fc.constantFrom(
        'countersign-session=x',
        'countersign-csrf=',
        'countersign-interaction=__proto__; countersign-resume=%00',
        'a; =; countersign-known=.',
      ),
    ),
  });

  test('random parameters in any place of any path', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ endpoint: [pattern, { methods }], turn, ...rest }) => {
        await visit({
          ...rest,
          pattern,
          method: methods[turn % methods.length] ?? 'GET',
          query: written(rest.query, rest.known ? good.query : undefined),
          form: written(rest.form, rest.known ? good.form : undefined),
          cookies: [...(rest.signedIn ? ownCookies() : []), rest.cookie],
        });
      }),
      { numRuns: 1500 },
    );
    await isAlive();
  });

  const OVERSIZE: Readonly<Record<string, string>> = {
    'one value of 100 kB': `name=${'a'.repeat(100_000)}`,
    'one value of 20 kB': `name=${'a'.repeat(20_000)}`,
    '1,000 parameters': Array.from({ length: 1000 }, (_, at) => `p${at}=x`).join('&'),
    'one parameter 1,000 times': Array.from({ length: 1000 }, () => 'item=x').join('&'),
    'a name of 20 kB': `${'a'.repeat(20_000)}=x`,
    '10,000 separators': '&'.repeat(10_000),
    'arrays within arrays': `a${'[a]'.repeat(3000)}=x`,
  };

  test.each(Object.entries(OVERSIZE))('an oversize request with %s', async (_what, many) => {
    const cookies = ownCookies();
    // All at once, because a form waits if another request has taken its interaction.
    const visits = Object.entries(ENDPOINTS).map(async ([pattern, { methods }]) => {
      for (const method of methods) {
        const query = method === 'POST' ? '' : `${good.query.toString()}&${many}`;
        const form = `${good.form.toString()}&${many}`;
        for (const accept of [HTML, 'application/json']) {
          await visit({ pattern, method, uid: 'good', accept, query, form, cookies, type: FORM });
        }
      }
    });
    await Promise.all(visits);
    await isAlive();
  });
});
