/** A test setup for attacks on GNAP: a server for each test, clients that sign, and people who allow. */
import { hash } from 'node:crypto';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { signedBy, type SignedFields, type TestKey, testKey } from '#shared/gnap/client.fixture.ts';
import { clientIdOf, readKey } from '#shared/gnap/key.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { Changes, Page, TestBrowser } from '../browser.fixture.ts';
import {
  type GnapAnswer,
  type GnapFlow,
  openGnap,
  PHOTOS,
  READ,
  REDIRECT,
  type Told,
} from './gnap.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

export const MAILS = 'https://api.example/mails/';
export const WRITE = { access_token: { access: ['photos:write'] } };
export const BOTH = { access_token: { access: ['photos:read photos:write'] } };
export const WHO = { subject: { sub_id_formats: ['opaque'], assertion_formats: ['id_token'] } };
/** The order of the group of P-256. */
export const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

export type Asked = NonNullable<Parameters<GnapFlow['send']>[1]>;

export let gnap: GnapFlow;
beforeEach(async () => {
  gnap = await openGnap();
});
afterEach(async () => gnap[Symbol.asyncDispose]());

/** Closes the server of a test, and opens one with other settings. */
export async function reopen(settings: Readonly<Record<string, unknown>>): Promise<void> {
  await gnap[Symbol.asyncDispose]();
  gnap = await openGnap(settings);
}

let nonces = 0;
export const nonce = () => `nonce-${(nonces += 1)}`;

/** Sends a signed request with a nonce, since two equal requests within a second are a replay. */
export const send = (path: string, asked: Asked = {}, key = gnap.key) =>
  gnap.send(path, { ...asked, params: { nonce: nonce(), ...asked.params } }, key);

export const ask = (body: object, key = gnap.key) =>
  send('/gnap', { json: { client: { key: key.byValue }, ...body } }, key);

/** Sends fields and content unchanged. */
export async function deliver(
  path: string,
  { fields, content }: { fields: SignedFields['fields']; content?: string | Buffer | undefined },
  method = 'POST',
): Promise<Told> {
  const response = await fetched(gnap.flow.authz.url + path, {
    method,
    headers: fields,
    ...(content !== undefined && { body: Buffer.from(content) }),
  });
  const body = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson ? JSON.parse(body) : {}) as GnapAnswer,
  };
}

/** Signs content that JSON.stringify would not write. */
export function rawFields(content: string | Buffer, type = 'application/json', key = gnap.key) {
  const digest = hash('sha256', content, 'base64');
  const url = `${gnap.issuer}/gnap`;
  const fields = { 'content-type': type, 'content-digest': `sha-256=:${digest}:` };
  const asked = { method: 'POST', url, fields, params: { nonce: nonce() } };
  return signedBy(key, asked, gnap.now()).fields;
}
export const sendRaw = (content: string | Buffer, type?: string, key = gnap.key) =>
  deliver('/gnap', { fields: rawFields(content, type, key), content });

export const errorOf = ({ body }: Told) => body.error?.code;
export const refusedWith = (code: string) => ({ status: 400, body: { error: { code } } });

/** Opens the page of a request in the browser of a signed-in person. */
export async function open(told: Told, browser: TestBrowser): Promise<Page> {
  return browser.open(told.body.interact.redirect);
}
export const decide = (browser: TestBrowser, page: Page, changes: Changes = {}) =>
  browser.submit(page, { decision: 'allow', ...changes }, new URL(page.url).pathname);

/** Returns the reference with which the browser returns to the client. */
export function refOf(page: Page): { interact_ref: string } {
  const location = page.headers.get('location');
  if (location === null) throw new Error(`${page.status} ${page.url}: ${page.text}`);
  return { interact_ref: new URL(location).searchParams.get('interact_ref') ?? '' };
}

export interface Given {
  readonly asked: Told;
  readonly told: Told;
  readonly ref: { readonly interact_ref: string };
  readonly browser: TestBrowser;
}

/** Returns access that a person allows by redirect, for which the client has its tokens. */
export async function given(
  body: object = READ,
  { key = gnap.key, name = 'alice', changes = {} }: GivenBy = {},
): Promise<Given> {
  const asked = await ask({ ...body, interact: REDIRECT }, key);
  const browser = await gnap.flow.signedIn(name);
  const page = await open(asked, browser);
  const ref = refOf(await decide(browser, page, changes));
  const told = await gnap.proceed(asked, ref, 'POST', key);
  return { asked, told, ref, browser };
}
export interface GivenBy {
  readonly key?: TestKey;
  readonly name?: 'alice' | 'bob';
  readonly changes?: Changes;
}

export const tokenOf = ({ body }: Told) => body.access_token.value;
export const pathOf = ({ body }: Told) => new URL(body.access_token.manage.uri).pathname;
export const manage = (told: Told, asked: Asked = {}, key = gnap.key) =>
  send(pathOf(told), { token: told.body.access_token.manage.access_token.value, ...asked }, key);

export const SERVER = testKey('rs', 'ES256');

/** Introspects a token as a resource server that is registered for both spaces. */
export async function introspect(
  access_token: string,
  more: object = {},
  key = SERVER,
): Promise<Told> {
  await gnap.register(SERVER, { introspects: [PHOTOS, MAILS], grant_types: [] });
  return send(
    '/gnap/introspect',
    { json: { access_token, resource_server: { key: key.byValue }, ...more } },
    key,
  );
}
export const isActive = async (token: string) => (await introspect(token)).body;
export const INACTIVE = { active: false };

/** Removes a client as the command does. */
export async function removeClient(id: string): Promise<void> {
  const { clients, revocations } = gnap.flow.authz.stores;
  const until = rememberUntil(gnap.flow.clock.now(), gnap.flow.store.longestLife);
  await revocations.raise('client', id, until);
  await clients.remove(id);
  await revocations.raise('client', id, until);
}
export const idOf = (key: TestKey) => clientIdOf(readKey(key.byValue));

export async function change(key: TestKey, more: Partial<ClientRecord>): Promise<void> {
  const { clients } = gnap.flow.authz.stores;
  const record = await clients.get(idOf(key));
  if (record === undefined) throw new Error('no such client');
  expect(await clients.replace({ ...record, ...more }, record)).toBe(true);
}

export const tenTimes = <T>(work: () => Promise<T>) =>
  Promise.all(Array.from({ length: 10 }, work));
