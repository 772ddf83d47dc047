import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import supertest from 'supertest';
import { systemClock } from '#shared/base/clock.ts';
import { removeConsents } from '#shared/people/access/consents.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { ACRS } from '#shared/jose/acr.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import { PASSWORD, testFlow, sent, WEB, type TestFlow } from '../code-flow.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';

const EMAIL = { email: 'alice@example.com', email_verified: true };
const [, PASSWORD_ACR, SECOND_FACTOR] = ACRS;
/** Has no scope `groups`. */
const CLIENT = { ...WEB, client_id: 'namer', scope: 'openid profile email offline_access' };

let flow: TestFlow;
let browser: TestBrowser;
beforeAll(async () => {
  flow = await testFlow();
  await flow.stores.clients.add(CLIENT);
  browser = await flow.signedIn();
  await setProfile(flow, 'alice', () => ({
    display_name: 'Alice Liddell',
    emails: [{ address: EMAIL.email, verified: true }],
    groups: ['staff'],
    attributes: [{ name: 'nickname', value: 'Al' }],
  }));
});
afterAll(async () => flow[Symbol.asyncDispose]());

const request = (claims: unknown, parameters: Readonly<Record<string, string>> = {}) =>
  flow.authorize({
    client_id: CLIENT.client_id,
    scope: 'openid',
    prompt: 'consent',
    claims: typeof claims === 'string' ? claims : JSON.stringify(claims),
    ...parameters,
  });

async function allowed(
  claims: unknown,
  item: readonly string[],
  parameters?: Readonly<Record<string, string>>,
) {
  const page = await browser.open(request(claims, parameters));
  const answer = sent(await browser.submit(page, { decision: 'allow', item }));
  const form = { client_id: CLIENT.client_id };
  return (await flow.redeem(answer.get('code') ?? '', form)).body;
}

const PROTOCOL = new Set('iss sub aud iat exp at_hash acr amr auth_time nonce'.split(' '));

const inIdToken = ({ id_token }: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(decodeJwt(String(id_token))).filter(([claim]) => !PROTOCOL.has(claim)),
  );

async function atUserinfo({ access_token }: Record<string, unknown>) {
  const { body } = await supertest(flow.url)
    .get('/userinfo')
    .set({ authorization: `Bearer ${String(access_token)}` });
  expect(body.sub).toBe(flow.accountId);
  const { sub: _sub, ...claims } = body;
  return claims;
}

/** Returns the error that the client gets. */
const errorOf = async (claims: unknown, parameters?: Readonly<Record<string, string>>) =>
  sent(await browser.open(request(claims, parameters))).get('error');

describe('OpenID Connect Core 1.0 section 5.5: claims that are named one by one', () => {
  test('each claim is told where the request names it, and no other claim of its scope', async () => {
    const tokens = await allowed(
      { userinfo: { name: { essential: true } }, id_token: { email: null } },
      ['openid', 'profile', 'email'],
    );
    expect(inIdToken(tokens)).toEqual({ email: EMAIL.email });
    expect(await atUserinfo(tokens)).toEqual({ name: 'Alice Liddell' });
    expect(tokens['scope']).toBe('openid');
  });

  test('the consent page asks for the whole scope, with its values', async () => {
    const { text } = await browser.open(request({ userinfo: { name: null } }));
    expect(text).toContain('Alice Liddell');
    expect(text).not.toContain(EMAIL.email);
  });

  test('a claim that the person does not allow is told nowhere, even if it is essential', async () => {
    const name = { name: { essential: true } };
    const tokens = await allowed({ userinfo: name, id_token: name }, ['openid']);
    expect(inIdToken(tokens)).toEqual({});
    expect(await atUserinfo(tokens)).toEqual({});
  });

  test('without a page the client gets consent_required', async () => {
    const { stores, accountId, config } = flow;
    const store = { stores, clock: systemClock, longestLife: longestLife(config) };
    await removeConsents(store, accountId, () => true);
    const other = await flow.signedIn();
    await other.submit(await other.open(request({ userinfo: {} })), {
      decision: 'allow',
      item: ['openid'],
    });
    const page = await other.open(request({ userinfo: { nickname: null } }, { prompt: 'none' }));
    expect(sent(page).get('error')).toBe('consent_required');
    const silent = await other.open(request({ userinfo: {} }, { prompt: 'none' }));
    expect(sent(silent).get('code')).not.toBeNull();
  });

  test('claims of a scope that the client may not request are ignored', async () => {
    const page = await browser.open(request({ userinfo: { groups: { essential: true } } }));
    expect(page.text).not.toContain('staff');
    const tokens = await allowed({ userinfo: { groups: null }, id_token: { groups: null } }, [
      'openid',
      'groups',
    ]);
    expect(inIdToken(tokens)).toEqual({});
    expect(await atUserinfo(tokens)).toEqual({});
  });

  test('claims of a scope that the client loses are told no more', async () => {
    const tokens = await allowed({ userinfo: { nickname: null } }, ['openid', 'profile']);
    expect(await atUserinfo(tokens)).toEqual({ nickname: 'Al' });
    await flow.stores.clients.replace({ ...CLIENT, scope: 'openid' });
    expect(await atUserinfo(tokens)).toEqual({});
    await flow.stores.clients.replace(CLIENT);
  });

  test('the address of the scope email is in the ID token only if the request names it', async () => {
    const items = ['openid', 'email'];
    const scope = { scope: 'openid email' };
    expect(inIdToken(await allowed({ id_token: {} }, items, scope))).toEqual({});
    const named = await allowed({ id_token: { email: null, email_verified: null } }, items, scope);
    expect(inIdToken(named)).toEqual(EMAIL);
    expect(await atUserinfo(named)).toEqual(EMAIL);
  });

  test('a refresh tells what the request named', async () => {
    const scope = { scope: 'openid offline_access' };
    const claims = { userinfo: { nickname: null }, id_token: { name: null } };
    const items = ['openid', 'offline_access', 'profile'];
    const first = await allowed(claims, items, scope);
    const refreshed = await flow.refresh(String(first['refresh_token']), {
      client_id: CLIENT.client_id,
    });
    expect(inIdToken(refreshed.body)).toEqual({ name: 'Alice Liddell' });
    expect(await atUserinfo(refreshed.body)).toEqual({ nickname: 'Al' });
  });

  test('unknown claims are ignored, also those with names of JavaScript', async () => {
    const claims = { 'example.org': null, constructor: null, toString: { essential: true } };
    const tokens = await allowed({ userinfo: claims, id_token: claims, other: 1 }, ['openid']);
    expect(inIdToken(tokens)).toEqual({});
    expect(await atUserinfo(tokens)).toEqual({});
  });

  test('a pushed request (RFC 9126) names claims, too', async () => {
    const form = Object.fromEntries(
      new URL(request({ id_token: { name: null, acr: { value: PASSWORD_ACR } } }), 'http://x/')
        .searchParams,
    );
    const pushed = await supertest(flow.url).post('/request').type('form').send(form);
    expect(pushed.status).toBe(201);
    const { request_uri } = pushed.body;
    const query = new URLSearchParams({ client_id: CLIENT.client_id, request_uri });
    const page = await browser.open(`/auth?${query.toString()}`);
    const answer = sent(
      await browser.submit(page, { decision: 'allow', item: ['openid', 'profile'] }),
    );
    const { body } = await flow.redeem(answer.get('code') ?? '', { client_id: CLIENT.client_id });
    expect(inIdToken(body)).toEqual({ name: 'Alice Liddell' });
  });
});

describe('section 5.5.1: sub and acr', () => {
  test('the sub of the person who is signed in is accepted, and another sub never gives a code', async () => {
    const named = (sub: unknown) => ({ id_token: { sub }, userinfo: {} });
    const tokens = await allowed(named({ value: flow.accountId }), ['openid']);
    expect(decodeJwt(String(tokens['id_token'])).sub).toBe(flow.accountId);
    for (const other of [
      { id_token: { sub: { value: 'bob' } } },
      { userinfo: { sub: { values: ['bob'] } } },
    ]) {
      expect(await errorOf(other, { prompt: 'none' })).toBe('login_required');
      const page = await browser.open(request(other, { prompt: '' }));
      expect(page.url).not.toContain('code=');
      expect(page.text).toContain('This is for another person');
      const again = await browser.open(`${new URL(page.url).pathname}?account=other`);
      const answer = await browser.submit(again, { name: 'alice', password: PASSWORD });
      expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
      expect(answer.text).toContain('This is for another person');
    }
    const two = { id_token: { sub: { value: 'a' } }, userinfo: { sub: { value: 'b' } } };
    expect(await errorOf(two)).toBe('invalid_request');
  });

  test('acr with a stronger value than the sign-in asks for that sign-in, essential or not', async () => {
    for (const acr of [
      { essential: true, value: SECOND_FACTOR },
      { essential: true, values: ['urn:other', SECOND_FACTOR] },
      { values: [SECOND_FACTOR] },
    ]) {
      expect(await errorOf({ id_token: { acr } }, { prompt: 'none' })).toBe('login_required');
      const page = await browser.open(request({ id_token: { acr } }));
      expect(page.text).toContain('second factor');
    }
    const weak = { id_token: { acr: { essential: true, value: PASSWORD_ACR } } };
    expect((await browser.open(request(weak))).text).toContain('name="decision"');
  });

  test('acr_values does not weaken the acr of claims', async () => {
    const claims = { id_token: { acr: { essential: true, value: SECOND_FACTOR } } };
    expect(await errorOf(claims, { acr_values: PASSWORD_ACR })).toBe('invalid_request');
  });

  test('an unknown acr is refused if it is essential, and otherwise ignored', async () => {
    const acr = { values: ['urn:mace:incommon:iap:silver'] };
    const essential = { id_token: { acr: { ...acr, essential: true } } };
    expect(await errorOf(essential)).toBe('unmet_authentication_requirements');
    expect((await browser.open(request({ id_token: { acr } }))).text).toContain('name="decision"');
  });
});

test.each([
  ['no JSON', '{'],
  ['no object', '[]'],
  ['null', 'null'],
  ['neither member', '{}'],
  ['a member twice', '{"id_token":{"acr":{"essential":true,"value":"x"},"acr":null}}'],
  ['the whole twice', '{"id_token":{},"id_token":{"name":null}}'],
  ['__proto__', '{"id_token":{"__proto__":{"essential":true}}}'],
  ['a list of claims', '{"userinfo":["name"]}'],
  ['a claim that is a text', '{"userinfo":{"name":"essential"}}'],
  ['sub that is a text', '{"id_token":{"sub":"bob"}}'],
  ['sub that is a number', '{"id_token":{"sub":{"value":1}}}'],
  ['essential that is no truth value', '{"userinfo":{"name":{"essential":"yes"}}}'],
  ['values that are no list', '{"id_token":{"acr":{"essential":true,"values":"x"}}}'],
  ['acr with an object', '{"id_token":{"acr":{"essential":true,"values":[{}]}}}'],
  ['too much', JSON.stringify({ userinfo: { ['x'.repeat(4096)]: null } })],
])('a parameter with %s is invalid_request', async (_what, claims) => {
  expect(await errorOf(claims)).toBe('invalid_request');
});

test('without openid the parameter is refused', async () => {
  const error = await errorOf({ userinfo: { name: null } }, { scope: 'offline_access' });
  expect(error).toMatch(/^invalid_/);
});
