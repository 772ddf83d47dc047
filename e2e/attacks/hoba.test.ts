import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createInvitations } from '#shared/auth/schemes/hoba/invitations.ts';
import { signedIn } from '#shared/auth/schemes/hoba/signed-in.fixture.ts';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { valuesOf } from '../clients/digest/exchange.ts';
import type { Field, HttpResponse } from '../clients/digest/exchange.ts';
import { get } from '../clients/digest/answers.fixture.ts';
import { signed as signedBy } from '../clients/hoba/hoba-client.ts';
import { newKey, pemOf } from '../clients/hoba/keys.ts';
import type { HobaKey } from '../clients/hoba/keys.ts';
import type { ToBeSigned } from '../clients/hoba/to-be-signed.ts';
import { STORE_KINDS } from '../flows/flow.ts';
import { startTokenServers } from './private-token.fixture.ts';
import type { TokenServers } from './private-token.fixture.ts';

/** Attacks on HOBA (RFC 7486) and on its registration, at two resource servers with TLS on one store. */
const SPACES = {
  hoba: { schemes: ['HOBA'], serves: 'identity' },
  single: { schemes: ['HOBA'], serves: 'identity', hoba: { maxAge: 0 } },
};

describe.each(STORE_KINDS)('on %s', (kind) => {
  let servers: TokenServers;
  let origin: string;
  beforeAll(async () => {
    servers = await startTokenServers(kind, {
      spaces: SPACES,
      settings: { people: { secondFactor: { required: ['careful'] } } },
    });
    origin = servers.flow.pair.resourceTls;
  });
  afterAll(async () => servers[Symbol.asyncDispose]());

  const send = (
    server: number,
    method: string,
    target: string,
    fields: readonly Field[] = [],
    content = '',
    host = new URL(origin).host,
  ): Promise<HttpResponse> =>
    servers.originTls(server)({
      method,
      target,
      fields: [['Host', host], ...fields],
      content: Buffer.from(content),
    });
  const post = (name: string, fields: readonly Field[] = [], content = '', server = 0) =>
    send(server, 'POST', `/.well-known/hoba/${name}`, fields, content);

  const fresh = async (server = 0) => (await post('getchal', [], '', server)).content.toString();

  function signed(
    key: HobaKey,
    challenge: string,
    said: { kid?: string; origin?: string } = {},
  ): Field {
    const prepare = (fields: ToBeSigned) => ({ ...fields, ...said });
    const { fields } = signedBy(get('/'), { challenge }, { key, origin, prepare });
    return ['Authorization', valuesOf(fields, 'Authorization')[0] ?? ''];
  }

  const visit = (fields: readonly Field[], server = 0, space = 'hoba') =>
    send(server, 'GET', `/${space}/`, fields);

  async function invite(person: string, at = origin, assurance = BY_PASSWORD): Promise<string> {
    const { stores } = servers.flow;
    const invitations = createInvitations({ stores, random: systemRandom });
    const invited = await signedIn(
      { stores, clock: systemClock, longestLife: 600 },
      person,
      assurance,
    );
    return new URL(await invitations.invite(invited, at)).hash.slice(1);
  }

  const FORM: Field = ['Content-Type', 'application/x-www-form-urlencoded'];
  async function register(key: HobaKey, secret: string, server = 0): Promise<HttpResponse> {
    const form = new URLSearchParams({ pub: pemOf(key), kid: key.kid, did: 'laptop', secret });
    return post('register', [FORM, signed(key, await fresh())], form.toString(), server);
  }

  async function newcomer(): Promise<{ key: HobaKey; id: string; name: string }> {
    const name = `p${randomBytes(8).toString('hex')}`;
    const { id } = await servers.flow.pair.addPerson(name);
    const key = newKey();
    const answer = await register(key, await invite(id));
    expect([answer.status, valuesOf(answer.fields, 'Hobareg')]).toEqual([200, ['regok']]);
    return { key, id, name };
  }

  const statuses = (answers: readonly HttpResponse[]) => answers.map(({ status }) => status);

  /** Expects the usual refusal with a fresh challenge. */
  function expectRefused(answer: HttpResponse): void {
    expect(answer.status).toBe(401);
    const [challenge = ''] = valuesOf(answer.fields, 'WWW-Authenticate');
    expect(challenge).toMatch(/^HOBA challenge="[\w-]{51}", max-age="(60|0)"$/);
  }

  test('both servers admit a client with the registered key', async () => {
    const { key, name } = await newcomer();
    for (const server of [0, 1]) {
      const answer = await visit([signed(key, await fresh(server))], 1 - server);
      expect(JSON.parse(answer.content.toString())).toMatchObject({
        scheme: 'HOBA',
        principal: { name },
      });
    }
  });

  test('once a second factor is required, both servers refuse a key added without it, and admit a key added with it', async () => {
    const { key, id, name } = await newcomer();
    const byPasskey = newKey();
    const assurance = { acr: 'urn:countersign:acr:passkey', amr: ['swk', 'user', 'mfa'] } as const;
    await register(byPasskey, await invite(id, origin, assurance));
    const visits = async (of: HobaKey) =>
      statuses([
        await visit([signed(of, await fresh())], 0),
        await visit([signed(of, await fresh())], 1),
      ]);
    for (const one of [key, byPasskey]) expect(await visits(one)).toEqual([200, 200]);
    await servers.flow.pair.cli('user', 'set', name, '--group', 'careful');
    expect(await visits(key)).toEqual([401, 401]);
    expect(await visits(byPasskey)).toEqual([200, 200]);
  });

  describe('replay', () => {
    test.each(['hoba', 'single'])(
      '%s: if fifty requests with one signature run at once at two processes, one is admitted',
      async (space) => {
        const { key } = await newcomer();
        const credentials = signed(key, await fresh());
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, n) => visit([credentials], n % 2, space)),
        );
        expect(statuses(answers).filter((status) => status === 200)).toHaveLength(1);
        for (const answer of answers.filter(({ status }) => status !== 200)) expectRefused(answer);
      },
    );

    test('max-age 0: a challenge accepts one signature, and no second one by another key or at another address', async () => {
      const [one, two] = [await newcomer(), await newcomer()];
      const challenge = await fresh();
      expect((await visit([signed(one.key, challenge)], 0, 'single')).status).toBe(200);
      expectRefused(await visit([signed(two.key, challenge)], 1, 'single'));
      expectRefused(await post('logout', [signed(one.key, challenge)]));
    });

    test('sign-out at one server voids earlier challenges at both, and its replay is refused', async () => {
      const { key } = await newcomer();
      const before = await fresh(1);
      const out = signed(key, await fresh());
      expect((await post('logout', [out])).status).toBe(204);
      for (const server of [0, 1]) expectRefused(await visit([signed(key, before)], server));
      expect((await post('logout', [out], '', 1)).status).toBe(401);
      const after = await fresh();
      expect((await visit([signed(key, after)])).status).toBe(200);
    });
  });

  describe('credentials of somebody else or for something else are refused:', () => {
    test("another key under this kid, another origin, or another's challenge", async () => {
      const [alice, mallory] = [await newcomer(), await newcomer()];
      const { kid } = alice.key;
      expectRefused(await visit([signed(mallory.key, await fresh(), { kid })]));
      expectRefused(await visit([signed(alice.key, await fresh(), { kid: mallory.key.kid })]));
      for (const at of [
        origin.replace('https', 'http'),
        'https://evil.example:443',
        `${origin}/`,
      ]) {
        expectRefused(await visit([signed(alice.key, await fresh(), { origin: at })]));
      }
      expectRefused(await visit([signed(alice.key, randomBytes(38).toString('base64url'))]));
      expectRefused(await visit([signed(newKey(), await fresh())]));
    });

    test('a request whose Host is another name of this server (RFC 7486 section 3)', async () => {
      const { key } = await newcomer();
      const { port } = new URL(origin);
      const credentials = signed(key, await fresh());
      const answer = await send(0, 'GET', '/hoba/', [credentials], '', `127.0.0.1:${port}`);
      expectRefused(answer);
      expect((await visit([credentials])).status).toBe(200);
    });

    test('in clear text the server sends no challenge, and serves nothing below /.well-known/hoba/', async () => {
      const { key } = await newcomer();
      const fields: Field[] = [signed(key, await fresh())];
      const clear = servers.origin(0);
      const content = Buffer.alloc(0);
      const answer = await clear({ method: 'GET', target: '/hoba/', fields, content });
      expect([answer.status, valuesOf(answer.fields, 'WWW-Authenticate')]).toEqual([403, []]);
      for (const name of ['register', 'getchal', 'logout', 'key']) {
        const target = `/.well-known/hoba/${name}`;
        expect((await clear({ method: 'POST', target, fields, content })).status).toBe(404);
      }
      expect((await visit(fields)).status).toBe(200);
    });

    test('both servers refuse a removed key and a disabled person from the next request on', async () => {
      const [one, two] = [await newcomer(), await newcomer()];
      await servers.flow.stores.publicKeys.remove(one.key.kid);
      await servers.flow.pair.cli('user', 'disable', two.name);
      for (const server of [0, 1]) {
        expectRefused(await visit([signed(one.key, await fresh())], server));
        expectRefused(await visit([signed(two.key, await fresh())], server));
      }
    });
  });

  describe('malformed credentials', () => {
    test('are refused with each part cut, longer, empty, missing, huge, or in another alphabet', async () => {
      const { key } = await newcomer();
      const [, value] = signed(key, await fresh());
      const parts = value.slice('HOBA result="'.length, -1).split('.');
      const changes = [
        (part: string) => part.slice(0, -1),
        (part: string) => `${part}A`,
        (part: string) => `${part}\u00e9`,
        (part: string) => `${part}%00`,
        (part: string) => `+/${part}`,
        (part: string) => `A${part.slice(1)}B`,
        () => '',
        () => 'A'.repeat(5000),
      ];
      for (const index of parts.keys()) {
        for (const change of changes) {
          const result = parts.with(index, change(parts[index] ?? '')).join('.');
          expectRefused(await visit([['Authorization', `HOBA result="${result}"`]]));
        }
        const result = parts.toSpliced(index, 1).join('.');
        expectRefused(await visit([['Authorization', `HOBA result="${result}"`]]));
      }
      expect((await visit([['Authorization', value]])).status).toBe(200);
    });

    test('are refused with two results in one field, or with two fields', async () => {
      const { key } = await newcomer();
      const credentials = signed(key, await fresh());
      const [name, value] = credentials;
      expect((await visit([[name, `${value}, ${value.slice(5)}`]])).status).toBe(401);
      expect((await visit([credentials, credentials])).status).toBe(400);
      expect((await visit([credentials, ['Authorization', 'Basic YTpi']])).status).toBe(400);
      expectRefused(await visit([[name, value.replace('result', 'Result2')]]));
      expectRefused(await visit([[name, 'HOBA YWJj']]));
      expect((await visit([credentials])).status).toBe(200);
    });

    test('a registration that is too long, broken or of another kind is refused', async () => {
      for (const [fields, content, status] of [
        [[FORM], 'x'.repeat(65_537), 413],
        [[FORM], 'pub=%ff&secret=a', 403],
        [[FORM], '', 403],
        [[], 'pub=a', 415],
        [[FORM], `secret=${'A'.repeat(22)}&pub=a`, 422],
        [[FORM], 'secret=a&secret=b', 400],
      ] as const) {
        expect((await post('register', fields, content)).status).toBe(status);
      }
    });

    test('other methods get 405, and no script of another origin may call', async () => {
      for (const name of ['register', 'getchal', 'logout']) {
        const target = `/.well-known/hoba/${name}`;
        for (const method of ['GET', 'PUT', 'DELETE']) {
          expect((await send(0, method, target)).status).toBe(405);
        }
        const preflight = await send(0, 'OPTIONS', target, [
          ['Origin', 'https://evil.example'],
          ['Access-Control-Request-Method', 'POST'],
          ['Access-Control-Request-Headers', 'authorization'],
        ]);
        const granted = preflight.fields.filter(([field]) => /^access-control/i.test(field));
        expect(granted).toEqual([]);
      }
    });
  });

  describe('registration needs a valid link', () => {
    test('a registration without a link, or with an invented, used or foreign link, gets 403', async () => {
      const { id } = await newcomer();
      const used = await invite(id);
      expect((await register(newKey(), used)).status).toBe(200);
      const elsewhere = await invite(id, 'https://evil.example');
      for (const secret of ['', 'A'.repeat(22), used, elsewhere]) {
        const key = newKey();
        const answer = await register(key, secret, 1);
        expect([answer.status, valuesOf(answer.fields, 'Hobareg')]).toEqual([403, []]);
        expectRefused(await visit([signed(key, await fresh())]));
      }
    });

    test('ten registrations at once with one link, at two processes, add one key', async () => {
      const { id } = await newcomer();
      const secret = await invite(id);
      const keys = Array.from({ length: 10 }, () => newKey());
      const answers = await Promise.all(keys.map((key, n) => register(key, secret, n % 2)));
      const passed = statuses(answers).filter((status) => status !== 403);
      expect(passed).toEqual([200]);
      const owned = await servers.flow.stores.publicKeys.of({ kind: 'person', id });
      expect(owned).toHaveLength(2);
    });

    test('a person cannot register a key that belongs to another person', async () => {
      const [alice, mallory] = [await newcomer(), await newcomer()];
      const form = (secret: string) =>
        new URLSearchParams({ pub: pemOf(alice.key), secret }).toString();
      const [secret, again] = [await invite(mallory.id), await invite(mallory.id)];
      const posing = signed(mallory.key, await fresh(), { kid: alice.key.kid });
      expect((await post('register', [FORM, posing], form(secret))).status).toBe(401);
      expect((await register(alice.key, again)).status).toBe(409);
      const answer = await visit([signed(alice.key, await fresh())]);
      expect(JSON.parse(answer.content.toString())).toMatchObject({
        principal: { name: alice.name },
      });
    });
  });
});
