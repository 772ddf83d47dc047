import {
  type SignedFields,
  signedBy,
  type TestKey,
  testKey,
  type TestRequest,
} from '#shared/gnap/client.fixture.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { clientIdOf, readKey } from '#shared/gnap/key.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import {
  DEVICE_CODE,
  type DeviceFlow,
  GENEROUS,
  openDeviceFlow,
  signIn,
} from '../device/device.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

export const PHOTOS = 'https://api.example/photos/';
export const CALLBACK = 'https://client.example/back';
export const NONCE = 'LKLTI25DK82FX4T4QFZC';

const SPACES = [
  {
    url: PHOTOS,
    realm: 'photos',
    schemes: ['GNAP', 'Bearer', 'DPoP'],
    scopes: { safe: ['photos:read'], unsafe: ['photos:write'] },
    gnap: {
      access: { 'photo-api': { read: ['photos:read'], write: ['photos:read', 'photos:write'] } },
      enforces: ['datatypes', 'identifier'],
    },
  },
  {
    url: 'https://api.example/mails/',
    realm: 'mails',
    schemes: ['GNAP'],
    scopes: { safe: ['mails:read'], unsafe: ['mails:read'] },
  },
];

export const READ = { access_token: { access: ['photos:read'] } };
export const REDIRECT = {
  start: ['redirect'],
  finish: { method: 'redirect', uri: CALLBACK, nonce: NONCE },
};

/** All members that an answer may have; a test knows which of them exist. */
export interface GnapAnswer {
  readonly access_token: TokenAnswer;
  readonly interact: {
    readonly redirect: string;
    readonly user_code: string;
    readonly user_code_uri: object;
    readonly finish: string;
  };
  readonly continue: { readonly access_token: { readonly value: string } };
  readonly subject: { readonly sub_ids: object[]; readonly assertions: { value: string }[] };
  readonly error: { readonly code: string; readonly description: string };
  /** Only the answer of introspection has this member (RFC 9767 section 3.3). */
  readonly active: boolean;
}

export interface TokenAnswer {
  readonly value: string;
  readonly access: readonly unknown[];
  readonly manage: { readonly uri: string; readonly access_token: { readonly value: string } };
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: GnapAnswer;
}

/** The authorization server with GNAP and clients. */
export interface GnapFlow extends AsyncDisposable {
  readonly flow: DeviceFlow;
  readonly issuer: string;
  readonly key: TestKey;
  now(): number;
  /** Sends a request that a key has signed; the path is relative to the issuer. */
  send(path: string, asked?: Partial<TestRequest>, key?: TestKey): Promise<Told>;
  /** Requests access as a client that sends its key. */
  ask(body: object, key?: TestKey): Promise<Told>;
  /** Continues after the time that a client has to wait. */
  proceed(told: Told, json?: unknown, method?: string, key?: TestKey): Promise<Told>;
  register(key: TestKey, more?: Partial<ClientRecord>): Promise<ClientRecord>;
  /** Returns a browser in which a person has opened the page of a request. */
  onPage(told: Told, name?: 'alice' | 'bob'): Promise<{ browser: TestBrowser; page: Page }>;
  /** Allows the requested access, and returns the URL to which the browser goes. */
  allow(told: Told): Promise<URL>;
}

export async function openGnap(
  settings: Readonly<Record<string, unknown>> = {},
): Promise<GnapFlow> {
  const flow = await openDeviceFlow({
    ...GENEROUS,
    spaces: SPACES,
    gnap: { clients: 'anybody' },
    ...settings,
  });
  const { authz, clock } = flow;
  const { issuer } = authz.config;
  const own = testKey();
  const now = () => Math.floor(clock.now() / 1000);

  async function deliver(
    path: string,
    method: string,
    { fields, content }: SignedFields,
  ): Promise<Told> {
    const response = await fetched(authz.url + path, {
      method,
      headers: fields,
      ...(content !== undefined && { body: content }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : {}) as GnapAnswer,
    };
  }

  const send: GnapFlow['send'] = (path, asked = {}, key = own) => {
    const method = asked.method ?? 'POST';
    return deliver(path, method, signedBy(key, { url: issuer + path, ...asked, method }, now()));
  };

  const onPage: GnapFlow['onPage'] = async (told, name = 'alice') => {
    const browser = flow.browser();
    const first = await browser.open(told.body.interact.redirect);
    return { browser, page: await signIn(browser, first, name) };
  };

  return {
    flow,
    issuer,
    key: own,
    now,
    send,
    ask: (body, key = own) =>
      send(
        '/gnap',
        { json: { client: { key: key.byValue, display: { name: 'Prints' } }, ...body } },
        key,
      ),
    proceed(told, json, method = 'POST', key = own) {
      clock.advance(5);
      const { access_token: token } = told.body.continue;
      return send(
        '/gnap/continue',
        { method, token: token.value, ...(json !== undefined && { json }) },
        key,
      );
    },
    async register(key, more = {}) {
      const record: ClientRecord = {
        client_id: clientIdOf(readKey(key.byValue)),
        client_name: 'Registered',
        grant_types: ['client_credentials', 'authorization_code', DEVICE_CODE],
        token_endpoint_auth_method: 'none',
        redirect_uris: [CALLBACK],
        scope: 'openid email photos:read photos:write mails:read',
        gnap: { key: key.byValue },
        created_at: clock.now(),
        ...more,
      };
      await authz.stores.clients.add(record);
      return record;
    },
    onPage,
    async allow(told) {
      const { browser, page } = await onPage(told);
      const end = await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
      return new URL(end.headers.get('location') ?? end.url, issuer);
    },
    [Symbol.asyncDispose]: () => flow[Symbol.asyncDispose](),
  };
}
