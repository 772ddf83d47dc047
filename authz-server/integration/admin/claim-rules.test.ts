import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { perform } from '#shared/operations/operation.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { houseOf } from '../../base/house.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { ALICE } from '../pages/at-consent.fixture.ts';
import { testSite, type TestSite, WEB } from '../site.fixture.ts';
import { type TestAdmin, testAdmin } from './admin.fixture.ts';

const said = ({ text }: Page) => text.replaceAll('&quot;', '"').replaceAll(/\s+/g, ' ');

describe('the forms of an administrator', () => {
  let site: TestSite;
  let browser: TestBrowser;
  beforeAll(async () => {
    const often = { burst: 100_000, per: 1 };
    site = await testSite({ limits: { address: often, signIn: often } }, systemClock, true);
    await perform(setUser, { name: 'alice', admin: true }, houseOf(site.server));
    browser = site.browser();
    await browser.submit(await browser.open('/account'), ALICE);
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  const client = () => site.server.stores.clients.get(WEB.client_id);
  const person = () => site.server.stores.people.getByName('bob');
  const set = async (claim_rules: string, language = 'en') => {
    const path = `/admin/client-set?client_id=${WEB.client_id}`;
    browser.fields['accept-language'] = language;
    return browser.submit(await browser.open(path), { claim_rules });
  };

  test('set the rules of a client, one a line, show them, and clear them', async () => {
    const before = await client();
    expect((await set('role=admin if group "Chess club"\r\nrole=user\r\n')).status).toBe(200);
    const claim_rules = ['role="admin" if group "Chess club"', 'role="user"'];
    expect(await client()).toEqual({ ...before, claim_rules });
    const shown = said(await browser.open(`/admin/client-show?client_id=${WEB.client_id}`));
    for (const rule of claim_rules) expect(shown).toContain(rule);
    const path = `/admin/client-set?client_id=${WEB.client_id}`;
    expect((await browser.submit(await browser.open(path), { without: ['claim'] })).status).toBe(
      200,
    );
    expect(await client()).toEqual(before);
  });

  test('refuse a reserved claim beside the field, in both languages, and keep what was typed', async () => {
    const before = await client();
    const english = await set('role=user\r\nSub=root');
    expect(english.status).toBe(422);
    expect(english.text).toMatch(/aria-describedby="field-claim_rules-problem /);
    expect(said(english)).toContain('has Sub, by which servers recognise a token');
    expect(said(english)).toContain('role=user');
    expect(said(await set('sub=root', 'de'))).toContain('hat sub, woran Server ein Token erkennen');
    expect(await client()).toEqual(before);
  });

  test('note the names in rules that no person has', async () => {
    const done = await set('role=admin if person ghost');
    expect([done.status, said(done)]).toEqual([
      200,
      expect.stringContaining('do not exist: ghost.'),
    ]);
    const none = await set('role=admin if person bob');
    expect([none.status, said(none).includes('do not exist')]).toEqual([200, false]);
  });

  test('set the attributes of a person, one a line, and clear them', async () => {
    browser.fields['accept-language'] = 'en';
    const form = () => browser.open('/admin/user-set?name=bob');
    const attributes = 'department=research\r\nformula=a=b\r\n';
    expect((await browser.submit(await form(), { attributes })).status).toBe(200);
    expect((await person())?.profile?.attributes).toEqual([
      { name: 'department', value: 'research' },
      { name: 'formula', value: 'a=b' },
    ]);
    const wrong = await browser.submit(await form(), { attributes: 'department' });
    expect([wrong.status, said(wrong).includes('visible text in one line')]).toEqual([422, true]);
    expect((await browser.submit(await form(), { without: ['attribute'] })).status).toBe(200);
    expect((await person())?.profile).toBeUndefined();
  });
});

describe('over HTTP', () => {
  let admin: TestAdmin;
  let client_id: string;
  beforeAll(async () => {
    admin = await testAdmin();
    const { body } = await admin.change('client-add', {
      client_name: 'Wiki',
      grant_types: ['authorization_code'],
      redirect_uris: ['https://wiki.example/back'],
      scope: 'openid',
      claim_rules: ['role=user'],
    });
    client_id = body.client_id;
  });
  afterAll(async () => admin.authz[Symbol.asyncDispose]());

  const RESERVED = 'iss sub aud exp iat jti nonce azp sid cnf client_id scope acr amr auth_time';

  test.each(RESERVED.split(' '))('a rule for %s is refused, and changes nothing', async (claim) => {
    const before = await admin.authz.stores.clients.get(client_id);
    const claim_rules = ['role=admin', `${claim}=x`];
    const { status, body } = await admin.change('client-set', { client_id, claim_rules });
    expect([status, body.code, body.path]).toEqual([422, 'claim-reserved', '/claim_rules/1']);
    expect(await admin.authz.stores.clients.get(client_id)).toEqual(before);
  });

  test.each([
    ['no rule', []],
    ['65 rules', Array.from({ length: 65 }, (_, n) => `c${n}=x`)],
    ['a rule that is too long', [`role="${'x'.repeat(1024)}"`]],
    ['claims of more than 8,192 octets', Array.from({ length: 32 }, (_, n) => `c${n}=attribute a`)],
    ['a number', [1]],
    ['a text', 'role=user'],
    ['an object', [{ claim: 'role', value: { text: 'admin' } }]],
  ])('%s instead of rules is refused', async (_, claim_rules) => {
    const before = await admin.authz.stores.clients.get(client_id);
    const { status, body } = await admin.change('client-set', { client_id, claim_rules });
    expect([status, String(body.path)]).toEqual([422, expect.stringMatching(/^\/claim_rules/)]);
    expect(await admin.authz.stores.clients.get(client_id)).toEqual(before);
  });

  test.each(['allow_groups', 'allow_people'])('more than 1,000 %s are refused', async (member) => {
    const names = Array.from({ length: 1001 }, (_, n) => `n${n}`);
    const tooMany = await admin.change('client-set', { client_id, [member]: names });
    expect([tooMany.status, tooMany.body.code]).toEqual([422, 'too-many']);
    const most = await admin.change('client-set', { client_id, [member]: names.slice(1) });
    expect(most.status).toBe(200);
  });

  test.each([
    ['65 attributes', Array.from({ length: 65 }, (_, n) => ({ name: `a${n}`, value: 'x' }))],
    ['a value of 257 octets', [{ name: 'a', value: 'x'.repeat(257) }]],
    ['a name of 65 characters', [{ name: 'a'.repeat(65), value: 'x' }]],
    ['an attribute twice', [1, 2].map((n) => ({ name: 'a', value: String(n) }))],
    ['a prototype', [{ name: '__proto__', value: 'x' }]],
    ['a map', { department: 'research' }],
    ['a further member', [{ name: 'a', value: 'x', verified: true }]],
  ])('%s of a person is refused', async (_, attributes) => {
    const { status, body } = await admin.change('user-add', { name: 'carol', attributes });
    expect([status, String(body.path)]).toEqual([422, expect.stringMatching(/^\/attributes/)]);
    expect(await admin.authz.stores.people.getByName('carol')).toBeUndefined();
  });
});
