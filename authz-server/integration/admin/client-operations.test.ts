import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import { type TestAdmin, testAdmin } from './admin.fixture.ts';

let admin: TestAdmin;
beforeEach(async () => (admin = await testAdmin()));
afterEach(async () => admin.authz[Symbol.asyncDispose]());

const WEB = {
  client_name: 'Pictures',
  grant_types: ['authorization_code'],
  redirect_uris: ['https://pictures.example/back'],
  scope: 'openid',
};

describe('client-add and client-set over HTTP', () => {
  test('the secret is in only one answer, and the given values replace the former ones', async () => {
    const added = await admin.change('client-add', WEB);
    expect([added.status, added.headers['cache-control']]).toEqual([200, 'no-store']);
    const { client_id, client_secret } = added.body;
    expect(client_secret).toMatch(/^[\w-]{32,}$/);
    const redirect_uris = ['https://pictures.example/other'];
    const changed = await admin.change('client-set', { client_id, redirect_uris });
    expect(changed.status).toBe(200);
    const shown = await admin.read(`client-show?client_id=${client_id}`);
    expect(shown.body).toMatchObject({ client_name: 'Pictures', redirect_uris });
    expect(changed.text + shown.text).not.toContain(client_secret);
  });

  test.each([
    [{ ...WEB, redirect_uris: ['javascript:alert(1)'] }, '/redirect_uris'],
    [{ ...WEB, redirect_uris: ['https://pictures.example/#part'] }, '/redirect_uris'],
    [{ ...WEB, redirect_uris: 'https://pictures.example/' }, '/redirect_uris'],
    [{ ...WEB, grant_types: ['password'] }, '/grant_types'],
    [{ ...WEB, client_secret: 'mine' }, '/client_secret'],
    [{ ...WEB, admin: 'yes' }, '/admin'],
  ])('client-add of %j is refused, and registers no client', async (content, path) => {
    const before = await admin.authz.stores.clients.list();
    const { status, body } = await admin.change('client-add', content);
    expect([status, String(body.path).startsWith(path)]).toEqual([422, true]);
    expect(await admin.authz.stores.clients.list()).toEqual(before);
  });

  test('a refusal names members, not options of the command line', async () => {
    const { body } = await admin.change('client-add', { ...WEB, redirect_uris: undefined });
    expect(body.detail).toBe(
      'redirect_uris is missing: grant_types authorization_code sends its code there.',
    );
  });

  test('a change of an unknown client gets 404, and a refused change does nothing', async () => {
    const nobody = await admin.change('client-set', { client_id: 'nobody', client_name: 'X' });
    expect(nobody.status).toBe(404);
    const { body: client } = await admin.change('client-add', WEB);
    const { client_id } = client;
    const before = await admin.authz.stores.clients.get(client_id);
    for (const wrong of [{ redirect_uris: ['data:,x'] }, { scope: 'a "b"' }, { other: 1 }]) {
      const { status } = await admin.change('client-set', { client_id, ...wrong });
      expect([wrong, status]).toEqual([wrong, 422]);
    }
    expect(await admin.authz.stores.clients.get(client_id)).toEqual(before);
  });
});

/** Makes a public key, and the content of `key-add` for it. */
function newKey() {
  const { publicKey } = generateKeyPairSync('ed25519');
  const jwk = { ...publicKey.export({ format: 'jwk' }), alg: 'EdDSA' };
  const public_key = JSON.stringify(jwk);
  return { jwk, content: { application: 'App', concealed: true, public_key, key_name: 'card' } };
}

describe('key-list and key-add over HTTP', () => {
  test('the pages of a list have each key once and no secret', async () => {
    const { apiKeys } = admin.authz.stores;
    const ids = ['k1', 'k2', 'k3', 'k4', 'k5'];
    for (const [created_at, id] of ids.entries()) {
      const key = { id, application: 'shop', realm: 'r', secret_hash: `hash-${id}`, scopes: [] };
      await apiKeys.add({ ...key, created_at });
    }
    const seen: string[] = [];
    for (let after = ''; ;) {
      const page = await admin.read(`key-list?limit=2${after}`).expect(200);
      expect(page.text).not.toContain('hash');
      expect(page.body.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.body.items.map(({ id }: { id: string }) => id));
      if (page.body.next === undefined) break;
      after = `&after=${encodeURIComponent(page.body.next)}`;
    }
    expect(seen).toEqual(ids);
  });

  test.each(['limit=0', 'limit=x', 'limit=1&limit=2', 'after=%00', 'other=1'])(
    'a list by %s is refused',
    async (query) => {
      const { status, body } = await admin.read(`key-list?${query}`);
      expect([status, body.path]).toEqual([422, `/${query.split('=')[0]}`]);
    },
  );

  test.each([
    { application: 'App' },
    { application: 'App', realm: 'nowhere', scope: 'a' },
    { application: '', realm: 'nowhere', scope: 'a' },
    { application: 'App', realm: 'nowhere', scope: 'a', secret: 'mine' },
  ])('key-add of %j is refused, and makes no key', async (content) => {
    expect((await admin.change('key-add', content)).status).toBe(422);
    expect(await admin.authz.stores.apiKeys.list()).toEqual([]);
  });

  test('key-add of the public half of a key for Concealed (RFC 9729) stores it once, and records its event', async () => {
    const { jwk, content } = newKey();
    const { status, body } = await admin.change('key-add', content);
    expect([status, body]).toEqual([
      200,
      { id: keptJwk(jwk)?.id, application: 'App', scheme: 'Concealed', name: 'card' },
    ]);
    const { publicKeys, audit } = admin.authz.stores;
    expect(await publicKeys.get(body.id)).toMatchObject({
      owner: { kind: 'application', id: 'App' },
      scheme: 'Concealed',
    });
    const { texts } = await audit.open();
    expect(texts.filter((text) => text.includes(body.id))).toHaveLength(1);
    expect((await admin.change('key-add', content)).status).toBe(409);
  });

  test('RFC 9729 section 8: key-add of the key of a client gets 409, and makes no key', async () => {
    const { jwk, content } = newKey();
    await admin.authz.stores.clients.add({ ...someClient('robot'), jwks: { keys: [jwk] } });
    expect((await admin.change('key-add', content)).status).toBe(409);
    const { publicKeys, clients } = admin.authz.stores;
    const id = keptJwk(jwk)?.id ?? '';
    expect(await publicKeys.get(id)).toBeUndefined();
    expect(await clients.withKey(id)).toEqual(['robot']);
  });
});
