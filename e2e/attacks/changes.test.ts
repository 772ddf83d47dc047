import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { disablePerson, enablePerson, setPassword } from '#shared/people/people.ts';
import { digestClient } from '../clients/digest/digest-client.ts';
import type { HttpResponse, SchemeClient } from '../clients/digest/exchange.ts';
import { scramClient } from '../clients/scram/scram-client.ts';
import { STORE_KINDS } from '../flows/flow.ts';
import {
  asked,
  basic,
  get,
  inTurn,
  startAttackedPair,
  UNLIMITED,
  converse,
} from './attacked-pair.fixture.ts';
import type { Realm, Somebody, AttackedPair } from './attacked-pair.fixture.ts';

/**
 * Credentials that both processes accepted a moment ago. After a change, the next request must be refused.
 */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let attacked: AttackedPair;
  beforeAll(async () => {
    attacked = await startAttackedPair(kind, { credentials: UNLIMITED, signIn: UNLIMITED });
  });
  afterAll(() => attacked[Symbol.asyncDispose]());

  type Ask = () => Promise<HttpResponse>;
  /** For each realm, clients of both servers with the state of their earlier requests. */
  type Asks = readonly (readonly [Realm, readonly Ask[]])[];

  const SERVERS = [0, 1] as const;
  const withClients = (realm: Realm, client: () => SchemeClient) =>
    [
      realm,
      SERVERS.map((server) => {
        const own = client();
        return async () => (await converse(own, get(realm), attacked.send(server))).answer;
      }),
    ] as const;

  const clientsOf = (who: Somebody): Asks => [
    ['basic', SERVERS.map((server) => () => attacked.send(server)(get('basic', [basic(who)])))],
    ['beside', SERVERS.map((server) => () => attacked.send(server)(get('beside', [basic(who)])))],
    withClients('digest', () => digestClient(who)),
    withClients('hashed', () => digestClient({ ...who, algorithm: 'SHA-256' })),
    withClients('scram-1', () => scramClient({ ...who, hash: 'SHA-1' })),
    withClients('scram-256', () => scramClient({ ...who, hash: 'SHA-256' })),
  ];
  /** Each client asks twice: the second time Basic is cached, Digest has its nonce and SCRAM its `sr`. */
  async function inUse(who: Somebody): Promise<Asks> {
    const asks = clientsOf(who);
    for (const round of [1, 2]) await expectAll(asks, 200, `round ${round}`);
    return asks;
  }
  async function expectAll(asks: Asks, status: number, when: string): Promise<void> {
    const answers = asks.flatMap(([realm, both]) => both.map((ask) => [realm, ask] as const));
    const got = await inTurn(answers, async ([realm, ask]) => {
      const answer = await ask();
      return [when, realm, answer.status, status === 401 ? asked(answer, 'stale') : undefined];
    });
    expect(got).toEqual(answers.map(([realm]) => [when, realm, status, undefined]));
  }

  test('a disabled person is refused by every scheme and process; after `enable`, valid credentials work again', async () => {
    const who = await attacked.newcomer();
    const asks = await inUse(who);
    await disablePerson(attacked.people, who.username);
    await expectAll(asks, 401, 'disabled');
    await expectAll(clientsOf(who), 401, 'disabled, anew');
    await enablePerson(attacked.people, who.username);
    await expectAll(clientsOf(who), 200, 'enabled');
  });

  test('after a password change the old password is refused and the new password works, for every scheme and process', async () => {
    const who = await attacked.newcomer();
    const asks = await inUse(who);
    const changed = { ...who, password: 'quite another one' };
    await setPassword(attacked.people, who.username, changed.password);
    await expectAll(asks, 401, 'changed');
    await expectAll(clientsOf(who), 401, 'the old one anew');
    await expectAll(clientsOf(changed), 200, 'the new one');
  });

  test('if a password changes ten times during sign-ins, only the newest password works after each change', async () => {
    const { username, password } = await attacked.newcomer([]);
    const passwords = [password, ...Array.from({ length: 10 }, (_, index) => `password ${index}`)];
    for (const [index, next] of passwords.slice(1).entries()) {
      const old = { username, password: passwords[index] ?? '' };
      const who = { username, password: next };
      const ask = (one: Somebody, server: number) =>
        attacked.send(server)(get('basic', [basic(one)]));
      const fire = inTurn([old, old, old, old], ask);
      await setPassword({ ...attacked.people, realms: [] }, username, next);
      const after = await inTurn([old, old, who, who], ask);
      expect(after.map(({ status }) => status)).toEqual([401, 401, 200, 200]);
      for (const { status } of await fire) expect([200, 401]).toContain(status);
    }
  });

  test('both processes refuse an API key that was removed or has expired, and accept a third key', async () => {
    const ask = (key: string) =>
      Promise.all(
        SERVERS.map(
          async (server) => (await attacked.send(server)(get('keys', [['X-API-Key', key]]))).status,
        ),
      );
    const keys = [];
    for (let count = 0; count < 3; count += 1) keys.push(await attacked.newKey('keys'));
    for (const { key } of keys) expect(await ask(key)).toEqual([200, 200]);
    await attacked.stores.apiKeys.remove(keys[0]?.id ?? '');
    await attacked.stores.apiKeys.expire(keys[1]?.id ?? '', Date.now());
    const after = [];
    for (const { key } of keys) after.push(await ask(key));
    expect(after).toEqual([
      [403, 403],
      [403, 403],
      [200, 200],
    ]);
  });
});
