import { randomUUID } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify, type JWTPayload } from 'jose';
import { TestBrowser } from '../../../authz-server/integration/browser.fixture.ts';
import type { Changes, Page } from '../../../authz-server/integration/browser.fixture.ts';
import type { Pair, Person } from '../../pair/pair.ts';
import { CALLBACK } from '../../pair/people-client.ts';

/** Parameters that replace the usual ones; undefined leaves one out. */
export type Parameters = Readonly<Record<string, string | undefined>>;

export interface Registered {
  readonly id: string;
  readonly secret: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

/** The state of a person's browser after a request. */
export interface Arrival {
  readonly page: Page;
  /** How many sign-in pages the person filled in. */
  readonly signIns: number;
}

/** The highest number of pages with a question on the way to a client. */
const MOST_PAGES = 4;

const lastSegment = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** A person with a browser without JavaScript, in which nobody is signed in at first. */
export class Visitor {
  readonly browser: TestBrowser;
  readonly #answers: Readonly<Record<string, Changes>>;

  constructor({ issuer }: Pick<Pair, 'issuer'>, { name, password }: Person) {
    this.browser = new TestBrowser(issuer, issuer);
    this.#answers = { login: { name, password }, consent: { decision: 'allow' } };
  }

  /** Sends an authorization request, signs in and consents if asked. */
  async arrive(issuer: string, request: URLSearchParams, method = 'GET'): Promise<Arrival> {
    const form = method === 'POST' ? request : undefined;
    const query = form === undefined ? `?${request.toString()}` : '';
    const first = await this.browser.request(method, `${issuer}/auth${query}`, form);
    let page = await this.browser.follow(first);
    for (let signIns = 0, asked = 0; asked < MOST_PAGES; asked += 1) {
      const action = page.forms
        .map((each) => each.action)
        .find((path) => lastSegment(path) in this.#answers);
      if (action === undefined) return { page, signIns };
      if (lastSegment(action) === 'login') signIns += 1;
      page = await this.browser.submit(page, this.#answers[lastSegment(action)], action);
    }
    throw new Error(`${page.url} asks again: ${page.text}`);
  }
}

/** A client as the conformance suite plays it, without PKCE. */
export class SuiteClient {
  readonly pair: Pair;
  readonly registered: Registered;
  readonly #mode: 'query' | 'form_post';
  readonly #auth: 'client_secret_basic' | 'client_secret_post';

  constructor(
    pair: Pair,
    registered: Registered,
    mode: 'query' | 'form_post' = 'query',
    auth: 'client_secret_basic' | 'client_secret_post' = 'client_secret_basic',
  ) {
    this.pair = pair;
    this.registered = registered;
    this.#mode = mode;
    this.#auth = auth;
  }

  /** Returns an authorization request. */
  request(changes: Parameters = {}): URLSearchParams {
    const all = {
      client_id: this.registered.id,
      redirect_uri: CALLBACK,
      response_type: 'code',
      ...(this.#mode === 'form_post' && { response_mode: 'form_post' }),
      scope: 'openid',
      state: randomUUID(),
      nonce: randomUUID(),
      ...changes,
    };
    return new URLSearchParams(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  /** Returns what the client gets at the redirect URI; undefined if the browser does not go there. */
  received({ headers, forms }: Page): URLSearchParams | undefined {
    const location = headers.get('location');
    if (this.#mode === 'form_post') {
      const form = forms.find(({ action, method }) => action === CALLBACK && method === 'post');
      return form && new URLSearchParams(form.fields.map(([name, value]) => [name, value]));
    }
    return location?.startsWith(`${CALLBACK}?`) ? new URL(location).searchParams : undefined;
  }

  /** Sends a request as the person; throws if the client gets no answer, or one that is not for the request. */
  async answer(
    visitor: Visitor,
    request = this.request(),
    method?: string,
  ): Promise<{ readonly answer: URLSearchParams; readonly signIns: number }> {
    const { page, signIns } = await visitor.arrive(this.pair.issuer, request, method);
    const answer = this.received(page);
    if (answer === undefined) throw new Error(`no answer: ${page.status} ${page.url} ${page.text}`);
    if (answer.get('state') !== request.get('state')) throw new Error('another state');
    if (answer.get('iss') !== this.pair.issuer) throw new Error('another issuer');
    return { answer, signIns };
  }

  /** Sends a form with the secret of the client. */
  async post(path: string, form: Readonly<Record<string, string>>): Promise<Answer> {
    const { id, secret } = this.registered;
    const isBasic = this.#auth === 'client_secret_basic';
    const response = await fetch(`${this.pair.issuer}${path}`, {
      method: 'POST',
      headers: isBasic ? { authorization: `Basic ${btoa(`${id}:${secret}`)}` } : {},
      body: new URLSearchParams({
        ...form,
        ...(!isBasic && { client_id: id, client_secret: secret }),
      }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    return { status: response.status, headers: response.headers, body };
  }

  redeem(code: string, form: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const grant = { grant_type: 'authorization_code', redirect_uri: CALLBACK };
    return this.post('/token', { ...grant, code, ...form });
  }

  refresh(refresh_token: string): Promise<Answer> {
    return this.post('/token', { grant_type: 'refresh_token', refresh_token });
  }

  /** Redeems the code of an answer; throws if the answer has none, or the ID token is not for the request. */
  async redeemed(
    answer: URLSearchParams,
    request: URLSearchParams,
    form?: Readonly<Record<string, string>>,
  ): Promise<{ readonly tokens: Tokens; readonly claims: JWTPayload }> {
    const code = answer.get('code');
    if (code === null) throw new Error(`no code: ${answer.toString()}`);
    const { status, headers, body } = await this.redeem(code, form);
    if (status !== 200) throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`);
    if (headers.get('cache-control') !== 'no-store') throw new Error('the tokens may be stored');
    const tokens = body as unknown as Tokens;
    const claims = await this.claims(tokens.id_token);
    if (claims['nonce'] !== (request.get('nonce') ?? undefined)) throw new Error('another nonce');
    return { tokens, claims };
  }

  /** Runs the whole flow, with checks of each answer. */
  async signIn(
    visitor: Visitor,
    changes: Parameters = {},
    form?: Readonly<Record<string, string>>,
  ) {
    const request = this.request(changes);
    const { answer, signIns } = await this.answer(visitor, request);
    return { ...(await this.redeemed(answer, request, form)), signIns };
  }

  /** Returns the claims of an ID token; throws if it is not valid for this client (OpenID Connect Core 3.1.3.7). */
  async claims(token: string): Promise<JWTPayload> {
    const { issuer } = this.pair;
    const keys = (await (await fetch(`${issuer}/jwks`)).json()) as JSONWebKeySet;
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer,
      audience: this.registered.id,
      algorithms: ['RS256'],
      requiredClaims: ['sub', 'iat', 'exp', 'auth_time'],
    });
    return payload;
  }

  /** Resolves to the answer of userinfo. */
  async userinfo(
    { access_token }: Pick<Tokens, 'access_token'>,
    how: 'get' | 'post-header' | 'post-body' = 'get',
  ): Promise<Answer> {
    const response = await fetch(`${this.pair.issuer}/userinfo`, {
      method: how === 'get' ? 'GET' : 'POST',
      headers: how === 'post-body' ? {} : { authorization: `Bearer ${access_token}` },
      ...(how === 'post-body' && { body: new URLSearchParams({ access_token }) }),
    });
    const text = await response.text();
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    return { status: response.status, headers: response.headers, body };
  }
}
