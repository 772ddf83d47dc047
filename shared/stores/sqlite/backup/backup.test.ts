import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { systemRandom } from '#shared/base/random.ts';
import {
  edit,
  everybodyIn,
  FAR,
  fresh,
  passkeysIn,
  publicKeysIn,
  puts,
  putWith,
  secondFactorsIn,
  someApiKey,
  someClient,
  someDocument,
  someKey,
  somePerson,
  somePasskey,
  somePublicKey,
  someOutboxMessage,
  someSecondFactor,
  someTokenKey,
  someVerifier,
} from '../../contract/samples.ts';
import { startRacer } from '../../contract/racing/start-racer.ts';
import type { Stores } from '../../stores.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { backupSqlite } from './backup.ts';
import { openSqlite } from '../open.ts';
import { restore, sqliteUnderTest, type SqliteUnderTest } from '../under-test.ts';

let store: SqliteUnderTest;
let stores: Stores;
let target: string;
beforeEach(async () => {
  store = await sqliteUnderTest();
  stores = await store.open();
  target = join(store.folder, 'backup');
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
  await store.end();
});

const until = () => store.clock.now() + 3_600_000;
const backup = async () => backupSqlite(store.spec().data, target);
const openBackup = () => openSqlite({ folder: target, clock: store.clock, random: systemRandom });
const claims = async (changes: { sub?: string; sub_gen?: number; jti?: string } = {}) => ({
  jti: fresh(),
  kid: fresh(),
  sub: fresh(),
  client_id: fresh(),
  sub_gen: 0,
  client_gen: 0,
  epoch: (await stores.revocations.epoch(true)) ?? '',
  ...changes,
});

describe('backup', () => {
  test('has all lasting rows, but neither the epoch nor tokens, sessions and other rows that could be used or revoked', async () => {
    const sub = fresh();
    const person = { ...somePerson('alice'), aliases: ['kerberos:alice@EXAMPLE.COM'] };
    const verifier = someVerifier('realm');
    const apiKey = someApiKey('k1');
    await stores.revocations.epoch(true);
    await stores.revocations.raise('person', sub, until());
    await stores.clients.add(someClient('batch'));
    await stores.people.add(person, [verifier]);
    await stores.apiKeys.add(apiKey);
    await stores.apiKeys.expire(apiKey.id, 1);
    await stores.publicKeys.add(somePublicKey('of a backup'), 1);
    await stores.passkeys.add(somePasskey('of a backup'), 1);
    await stores.secondFactors.add(someSecondFactor('alice'));
    await stores.outbox.add(someOutboxMessage('of a backup'));
    await stores.keys.add(someKey('k1', 'ES256'));
    await stores.gatewayKeys.add(someKey('g1', 'ES256'));
    const [retired, tokenKey] = [someTokenKey(VOPRF, 7), someTokenKey(VOPRF, 8)];
    await stores.tokenKeys.add(retired, undefined);
    await stores.tokenKeys.add(tokenKey, retired.id);
    await stores.tokenKeys.retire(VOPRF, retired.id);
    await stores.spentTokens.spend(Buffer.from('spent'), FAR);
    const document = someDocument('x');
    const content = systemRandom(16_384);
    await edit(stores, 'a', [...puts(document), putWith('y', content, { file: 'short' })]);
    await stores.artefacts.put({ kind: 'RefreshToken', id: 'secret-rt', payload: { n: 1 } });
    const [long, many] = ['a secret'.repeat(10_000), Array.from({ length: 300 }, (_, n) => `${n}`)];
    await Promise.all(
      many.map((id) =>
        stores.artefacts.put({
          kind: 'Session',
          id: `secret-id-${id}`,
          payload: {
            uid: `secret-uid-${id}`,
            grantId: `secret-grant-${id}`,
            long: long.slice(Number(id) * 100),
          },
        }),
      ),
    );
    const signIn = { uid: 'secret-session', accountId: person.id };
    await stores.artefacts.put({ kind: 'SignIn', id: signIn.uid, payload: signIn });
    expect(await backup()).toBe(join(target, 'state.db'));

    const bytes = readFileSync(join(target, 'state.db'), 'latin1');
    for (const secret of ['secret-', 'a secret']) expect(bytes.includes(secret)).toBe(false);
    await using copy = await openBackup();
    expect(await copy.revocations.epoch(false)).toBeUndefined();
    expect(await copy.artefacts.get('RefreshToken', 'secret-rt')).toBeUndefined();
    expect(await copy.artefacts.listByAccount('SignIn', person.id)).toEqual([]);
    expect(await copy.clients.list()).toEqual([someClient('batch')]);
    expect(await everybodyIn(copy)).toEqual([person]);
    expect(await copy.people.getWhole(person.id)).toEqual({ person, verifiers: [verifier] });
    expect(await copy.people.getByName('alice')).toEqual(person);
    expect(await copy.people.getByAlias('kerberos:alice@EXAMPLE.COM')).toEqual(person);
    expect(await copy.apiKeys.list()).toEqual([{ ...apiKey, expires_at: 1, planned: {} }]);
    expect(await publicKeysIn(copy)).toEqual([somePublicKey('of a backup')]);
    expect(await passkeysIn(copy)).toEqual([somePasskey('of a backup')]);
    expect(await secondFactorsIn(copy)).toEqual([someSecondFactor('alice')]);
    expect(await copy.outbox.add(someOutboxMessage('of a backup'))).toBe(false);
    expect(await copy.keys.list()).toEqual([someKey('k1', 'ES256')]);
    expect(await copy.gatewayKeys.list()).toEqual([someKey('g1', 'ES256')]);
    const { sealed: _, ...withoutPrivatePart } = retired;
    expect(await copy.tokenKeys.list()).toEqual([withoutPrivatePart, tokenKey]);
    const again = await copy.tokenKeys.add(someTokenKey(VOPRF, 7), tokenKey.id);
    expect(again).toBe('collides');
    expect(await copy.spentTokens.spend(Buffer.from('spent'), FAR)).toBe(false);
    expect(await copy.trees.get('a', 'x')).toEqual(document);
    expect(await copy.trees.content('a', 'short')).toEqual(content);
    expect(await copy.revocations.generation('person', sub)).toBe(1);
    expect(await stores.revocations.epoch(false)).toBeDefined();
    expect(await stores.artefacts.get('RefreshToken', 'secret-rt')).toEqual({ n: 1 });
  });

  test('can be read only by its owner, and leaves no other file in the folder', async () => {
    await backup();
    expect(readdirSync(target)).toEqual(['state.db']);
    expect(statSync(target).mode & 0o777).toBe(0o700);
    expect(statSync(join(target, 'state.db')).mode & 0o777).toBe(0o600);
  });

  test('is refused if the target exists, even if it is empty, and does not change the target', async () => {
    mkdirSync(target);
    writeFileSync(join(target, 'state.db'), '');
    await expect(backup()).rejects.toThrow(StoreUnavailable);
    expect(readFileSync(join(target, 'state.db'))).toHaveLength(0);
    expect(readdirSync(target)).toEqual(['state.db']);
  });

  test('is refused in a folder without a store, and makes no store there', async () => {
    const nowhere = join(store.folder, 'nowhere');
    mkdirSync(nowhere);
    expect(() => backupSqlite(nowhere, target)).toThrow('there is no such file');
    expect(readdirSync(nowhere)).toEqual([]);
    expect(existsSync(join(target, 'state.db'))).toBe(false);
  });

  test('shows one moment, even while another process writes: it has no generation without its revocation', async () => {
    await using racer = await startRacer(store.spec());
    const sub = fresh();
    const raising = racer.carryOut({ raise: sub, attempts: 3_000, at: 0 });
    while ((await stores.revocations.generation('person', sub)) < 100) {
      await new Promise(setImmediate);
    }
    await backup();
    const later = await stores.revocations.generation('person', sub);
    await raising;
    await using copy = await openBackup();
    const generation = await copy.revocations.generation('person', sub);
    expect(generation).toBeGreaterThanOrEqual(100);
    expect(generation).toBeLessThanOrEqual(later);
    const epoch = (await copy.revocations.epoch(true)) ?? '';
    await using feed = await copy.revocations.feed();
    const token = { ...(await claims({ sub, sub_gen: generation })), epoch };
    expect(feed.current().revokedBy(token)).toBeUndefined();
    expect(feed.current().revokedBy({ ...token, sub_gen: generation - 1 })).toBe('person');
  });
});

describe('a backup restored under a running feed', () => {
  test('loses no revocation made since the backup: the new epoch refuses every older token', async () => {
    const sub = fresh();
    const old = await claims({ sub, sub_gen: 1 });
    await stores.revocations.raise('person', sub, until());
    await using feed = await stores.revocations.feed();
    await backup();
    const revoked = await claims();
    await stores.revocations.revoke('token', revoked.jti, until());
    await stores.revocations.raise('person', sub, until());
    expect(feed.current().revokedBy(revoked)).toBe('token');
    expect(feed.current().revokedBy(old)).toBe('person');

    await restore(join(target, 'state.db'), store.statePath);
    store.clock.advance(1);
    expect(() => feed.current()).toThrow(StoreUnavailable);
    expect(feed.status().trusted).toBe(false);

    // The running authorization server goes on with the restored file.
    const generation = await stores.revocations.generation('person', sub);
    const renewed = await claims({ sub, sub_gen: generation });
    expect(generation).toBe(1);
    expect(renewed.epoch).not.toBe(old.epoch);
    expect(feed.current().revokedBy(renewed)).toBeUndefined();
    expect(feed.current().revokedBy(old)).toBe('epoch');
    expect(feed.current().revokedBy(revoked)).toBe('epoch');

    await stores.revocations.revoke('token', renewed.jti, until());
    expect(feed.current().revokedBy(renewed)).toBe('token');
    await using late = await stores.revocations.feed();
    expect(late.current().revokedBy(renewed)).toBe('token');
  });

  test('RFC 9577 section 2.2: refuses a token that was spent since the backup, since its key belongs to the former epoch', async () => {
    const epoch = (await stores.revocations.epoch(true)) ?? '';
    const key = someTokenKey(VOPRF, 7, { epoch });
    await stores.tokenKeys.add(key, undefined);
    await backup();
    const token = Buffer.from('spent since');
    expect(await stores.spentTokens.spend(token, FAR)).toBe(true);
    await restore(join(target, 'state.db'), store.statePath);
    expect(await stores.tokenKeys.list()).toEqual([key]);
    expect(await stores.revocations.epoch(false)).toBeUndefined();
    expect(await stores.revocations.epoch(true)).not.toBe(epoch);
    expect(await stores.spentTokens.spend(token, FAR)).toBe(true);
  });

  test('writes after the restore are in the restored file, and survive the end of the old connections', async () => {
    await stores.clients.add(someClient('before'));
    await backup();
    await using feed = await stores.revocations.feed();
    await stores.clients.add(someClient('lost with the old file'));
    await restore(join(target, 'state.db'), store.statePath);
    expect(await stores.clients.add(someClient('after'))).toBe(true);
    await feed[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
    stores = await store.open();
    expect((await stores.clients.list()).map((client) => client.client_id)).toEqual([
      'after',
      'before',
    ]);
  });
});
