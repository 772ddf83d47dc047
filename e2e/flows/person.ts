/** The shared parts of people's flows: a person with browsers, and an application. */
import { createHash, randomUUID } from 'node:crypto';
import { systemClock } from '#shared/base/clock.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import type { ListedAccess } from '#shared/people/access/grants.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Page } from '../../authz-server/integration/browser.fixture.ts';
import type { Answered, Person } from '../pair/pair.ts';
import { addPeopleClient, CALLBACK, CODE_GRANTS, DEVICE_FLOW } from '../pair/people-client.ts';
import type { Flow } from './flow.ts';

export type Parameters = Readonly<Record<string, string>>;

export const VERIFIER = 'v'.repeat(43);
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** Adds a new person, because limits per person would affect other tests. */
export const newPerson = (flow: Flow): Promise<Person> =>
  flow.pair.addPerson(`person-${randomUUID()}`);

/** Registers a public client for the device flow; resolves to its client_id. */
export async function addDevice({ pair }: Flow): Promise<string> {
  return (await addPeopleClient(pair, '--public', ...DEVICE_FLOW)).id;
}

/** A new browser at one of the authorization servers. */
export function browserAt({ pair }: Flow, server = 0): TestBrowser {
  return new TestBrowser(pair.authz[server]?.url ?? '', pair.issuer);
}

/** The same browser at another authorization server, as behind a load balancer. */
export function alsoAt(flow: Flow, browser: TestBrowser, server: number): TestBrowser {
  const same = browserAt(flow, server);
  same.plant(browser);
  return same;
}

export async function signedIn(flow: Flow, person: Person, server = 0): Promise<TestBrowser> {
  const browser = browserAt(flow, server);
  const page = await browser.open('/account');
  const { status, text } = await signIn(browser, page, person);
  if (status !== 200) throw new Error(`signing in gave ${status}: ${text}`);
  return browser;
}

/** Submits the sign-in form, and follows redirects. */
export function signIn(browser: TestBrowser, page: Page, { name, password }: Person) {
  return browser.submit(page, { name, password });
}

/** Whether the page asks for a password. */
export const asksToSignIn = ({ text }: Page) => text.includes('type="password"');

/** Returns the person's accesses that are not revoked. */
export function accesses(
  { stores, config }: Flow,
  { id }: Person,
): Promise<readonly ListedAccess[]> {
  return listAccess({ stores, clock: systemClock, longestLife: longestLife(config) }, id);
}

/** Sends a form to one of the authorization servers, as a program. */
export async function post(
  { pair }: Flow,
  path: string,
  form: Parameters,
  headers: Parameters = {},
  server = 0,
): Promise<Answered> {
  const body = new URLSearchParams(form);
  const url = `${pair.authz[server]?.url}${path}`;
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  const members = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { status: response.status, headers: response.headers, body: members };
}

/** Status and error of an answer, for a single comparison. */
export const refusal = ({ status, body }: Answered) => [status, body['error']];

export const INVALID_GRANT = [400, 'invalid_grant'];

/** A public application in a browser that may request every scope. */
export class App {
  readonly #flow: Flow;
  readonly id: string;

  constructor(flow: Flow, id: string) {
    this.#flow = flow;
    this.id = id;
  }

  static async add(flow: Flow, ...more: readonly string[]): Promise<App> {
    const options = ['--public', ...CODE_GRANTS, '--redirect-uri', CALLBACK, ...more];
    return new App(flow, (await addPeopleClient(flow.pair, ...options)).id);
  }

  /** An authorization request (RFC 6749 section 4.1.1); '' omits a parameter. */
  request(parameters: Parameters = {}): URLSearchParams {
    const all = {
      client_id: this.id,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'documents:read documents:write',
      state: 'the state',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...parameters,
    };
    return new URLSearchParams(Object.entries(all).filter(([, value]) => value !== ''));
  }

  url(parameters?: Parameters): string {
    return `/auth?${this.request(parameters).toString()}`;
  }

  /** Opens the request and allows it if asked; resolves to the parameters for the client. */
  async allow(browser: TestBrowser, parameters?: Parameters): Promise<URLSearchParams> {
    const page = await browser.open(this.url(parameters));
    return sent(page.status === 200 ? await browser.submit(page, { decision: 'allow' }) : page);
  }

  async code(browser: TestBrowser, parameters?: Parameters): Promise<string> {
    return (await this.allow(browser, parameters)).get('code') ?? '';
  }

  redeem(code: string, form: Parameters = {}, headers?: Parameters, server?: number) {
    const grant = { grant_type: 'authorization_code', redirect_uri: CALLBACK };
    const proof = { client_id: this.id, code_verifier: VERIFIER };
    return post(this.#flow, '/token', { ...grant, ...proof, code, ...form }, headers, server);
  }

  refresh(token: string, form: Parameters = {}, headers?: Parameters, server?: number) {
    const grant = { grant_type: 'refresh_token', client_id: this.id, refresh_token: token };
    return post(this.#flow, '/token', { ...grant, ...form }, headers, server);
  }

  /** The tokens for a new code; rejects if there are none. */
  async tokens(browser: TestBrowser, parameters?: Parameters): Promise<Tokens> {
    return tokensIn(await this.redeem(await this.code(browser, parameters)));
  }
}

export interface Tokens {
  readonly access: string;
  /** '' if there is no refresh token; likewise for `id`. */
  readonly refresh: string;
  readonly id: string;
}

/** Throws if the answer is a refusal. */
export function tokensIn({ status, body }: Answered): Tokens {
  if (status !== 200) throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`);
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : '');
  return { access: text('access_token'), refresh: text('refresh_token'), id: text('id_token') };
}

/** The parameters with which the browser returns to the client; throws if it does not return. */
export function sent(page: Page): URLSearchParams {
  const location = page.headers.get('location') ?? '';
  if (!location.startsWith(`${CALLBACK}?`)) {
    throw new Error(`${page.status} ${page.url} ${location}: ${page.text}`);
  }
  return new URL(location).searchParams;
}

/** Calls `work` ten times at once, alternately for two authorization servers. */
export function tenTimes<T>(work: (server: number, turn: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: 10 }, (_, turn) => work(turn % 2, turn)));
}
