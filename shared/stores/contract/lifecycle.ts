import { describe, expect, test } from '@jest/globals';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import {
  edit,
  everybodyIn,
  FAR,
  fresh,
  passkeysIn,
  publicKeysIn,
  removeTokenKeys,
  secondFactorsIn,
  NO_QUOTA,
  onceFor,
  puts,
  someApiKey,
  someClient,
  someDocument,
  someInvalidation,
  someKey,
  somePerson,
  somePasskey,
  somePublicKey,
  someOutboxMessage,
  someSecondFactor,
  someTokenKey,
} from './samples.ts';
import type { Contract } from './store-under-test.ts';

export function lifecycleContract(contract: () => Contract): void {
  describe('lifecycle', () => {
    test('ping resolves while the store answers', async () => {
      await expect(contract().one.ping()).resolves.toBeUndefined();
    });

    test('all lasting data is still there after the store was closed and opened again', async () => {
      const { store } = contract();
      const [client, document, id] = [someClient(fresh()), someDocument(fresh()), fresh()];
      const person = { ...somePerson(fresh()), aliases: [fresh()] };
      const apiKey = someApiKey(fresh());
      const publicKey = somePublicKey(fresh());
      const passkey = somePasskey(fresh());
      const secondFactor = someSecondFactor(fresh());
      const mail = someOutboxMessage(fresh());
      const tokenKey = someTokenKey(VOPRF, 7);
      let kept: string;
      {
        await using stores = await store.open();
        await stores.clients.add(client);
        await stores.people.add(person);
        await stores.apiKeys.add(apiKey);
        await stores.publicKeys.add(publicKey, 1);
        await stores.passkeys.add(passkey, 1);
        await stores.secondFactors.add(secondFactor);
        await stores.outbox.add(mail);
        await stores.keys.add(someKey(id, 'RS256'));
        await stores.gatewayKeys.add(someKey(`gateway ${id}`, 'ES256'));
        await removeTokenKeys(stores);
        await stores.tokenKeys.add(tokenKey, undefined);
        await stores.spentTokens.spend(Buffer.from(id), FAR);
        await edit(stores, '/a', puts(document));
        await stores.invalidations.add([someInvalidation(id)]);
        kept = await stores.kept.put('alice', id, { seconds: 600, most: 1 });
        await stores.artefacts.put({ kind: 'Grant', id, payload: { id } });
        await stores.revocations.raise('client', id, store.clock.now() + 60_000);
        await stores.replay.unique('jti', id, 600);
        await stores.useCounts.use('nc', id, 1, onceFor(600));
        await stores.proofs.spend('dpop', id, onceFor(600));
      }
      await using stores = await store.open();
      expect(await stores.clients.get(client.client_id)).toEqual(client);
      expect(await stores.people.getByName(person.name)).toEqual(person);
      for (const alias of person.aliases) {
        expect(await stores.people.getByAlias(alias)).toEqual(person);
      }
      expect(await stores.apiKeys.get(apiKey.id)).toEqual(apiKey);
      expect(await stores.publicKeys.of(publicKey.owner)).toEqual([publicKey]);
      expect(await stores.passkeys.of(passkey.accountId)).toEqual([passkey]);
      expect(await stores.secondFactors.get(secondFactor.accountId)).toEqual(secondFactor);
      expect(await stores.outbox.add(mail)).toBe(false);
      expect((await stores.keys.list()).map((key) => key.kid)).toContain(id);
      expect((await stores.gatewayKeys.list()).map((key) => key.kid)).toContain(`gateway ${id}`);
      expect(await stores.tokenKeys.list()).toEqual([tokenKey]);
      expect(await stores.spentTokens.spend(Buffer.from(id), FAR)).toBe(false);
      expect(await stores.trees.get('/a', document.path)).toEqual(document);
      expect(await stores.invalidations.list('target', 1)).toMatchObject([{ value: id }]);
      expect(await stores.kept.get('alice', kept)).toBe(id);
      expect(await stores.artefacts.get('Grant', id)).toEqual({ id });
      expect(await stores.revocations.generation('client', id)).toBe(1);
      expect(await stores.replay.unique('jti', id, 600)).toBe(false);
      expect(await stores.useCounts.use('nc', id, 1, onceFor(600))).toBe('used');
      expect(await stores.proofs.spend('dpop', id, onceFor(600))).toBe('used');
    });

    test('every operation of a closed store rejects with StoreUnavailable, rather than answering that a row is absent', async () => {
      const closed = await contract().store.open();
      await closed[Symbol.asyncDispose]();
      const verbs: Readonly<Record<string, () => Promise<unknown>>> = {
        ping: () => closed.ping(),
        sweep: () => closed.sweep(),
        'apiKeys.add': () => closed.apiKeys.add(someApiKey('x')),
        'apiKeys.get': () => closed.apiKeys.get('x'),
        'apiKeys.list': () => closed.apiKeys.list(),
        'apiKeys.expire': () => closed.apiKeys.expire('x', 1),
        'apiKeys.touch': () => closed.apiKeys.touch('x', 1),
        'apiKeys.remove': () => closed.apiKeys.remove('x'),
        'artefacts.put': () => closed.artefacts.put({ kind: 'Grant', id: 'x', payload: {} }),
        'artefacts.get': () => closed.artefacts.get('Grant', 'x'),
        'artefacts.getByUid': () => closed.artefacts.getByUid('Session', 'x'),
        'artefacts.getByUserCode': () => closed.artefacts.getByUserCode('DeviceCode', 'x'),
        'artefacts.consume': () => closed.artefacts.consume('Grant', 'x'),
        'artefacts.settle': () => closed.artefacts.settle('Grant', 'x', 'a'),
        'artefacts.replace': () =>
          closed.artefacts.replace({ kind: 'Grant', id: 'x', payload: {} }, {}),
        'artefacts.countByAccount': () => closed.artefacts.countByAccount('SignIn', 'x'),
        'artefacts.listByAccount': () => closed.artefacts.listByAccount('SignIn', 'x'),
        'artefacts.pageByClient': () => closed.artefacts.pageByClient('Access', 'x', { limit: 1 }),
        'artefacts.remove': () => closed.artefacts.remove('Grant', 'x'),
        'artefacts.removeByGrant': () => closed.artefacts.removeByGrant('x'),
        'cacheReports.put': () => closed.cacheReports.put('x', 'x'),
        'cacheReports.all': () => closed.cacheReports.all(),
        'clients.add': () => closed.clients.add(someClient('x')),
        'clients.get': () => closed.clients.get('x'),
        'clients.list': () => closed.clients.list(),
        'clients.replace': () => closed.clients.replace(someClient('x')),
        'clients.withKey': () => closed.clients.withKey('x'),
        'clients.remove': () => closed.clients.remove('x'),
        'gatewayKeys.list': () => closed.gatewayKeys.list(),
        'gatewayKeys.add': () => closed.gatewayKeys.add(someKey('x', 'ES256')),
        'gatewayKeys.remove': () => closed.gatewayKeys.remove('x'),
        'invalidations.add': () => closed.invalidations.add([someInvalidation('x')]),
        'invalidations.list': () => closed.invalidations.list('target', 1),
        'kept.put': () => closed.kept.put('a', 'x', { seconds: 1, most: 1 }),
        'kept.get': () => closed.kept.get('a', 'x'),
        'keys.list': () => closed.keys.list(),
        'keys.add': () => closed.keys.add(someKey('x', 'ES256')),
        'keys.remove': () => closed.keys.remove('x'),
        'lastBackup.note': () => closed.lastBackup.note(1),
        'lastBackup.get': () => closed.lastBackup.get(),
        'limits.spend': async () => closed.limits.spend('sign-in-name', 'x', { burst: 1, per: 1 }),
        'limits.take': () => closed.limits.take('whole-trees', 'x', { burst: 1, per: 1 }, 1),
        'limits.giveBack': () => closed.limits.giveBack('sign-in-name', 'x', { burst: 1, per: 1 }),
        'people.add': () => closed.people.add(somePerson('x')),
        'people.get': () => closed.people.get('x'),
        'people.getByName': () => closed.people.getByName('x'),
        'people.getByAlias': () => closed.people.getByAlias('x'),
        'people.getVerifier': () => closed.people.getVerifier('x', 'y', { name: 'x' }),
        'people.getWhole': () => closed.people.getWhole('x'),
        'people.list': () => everybodyIn(closed),
        'people.replace': () => closed.people.replace(somePerson('x')),
        'people.remove': () => closed.people.remove(somePerson('x')),
        'people.isFormerName': () => closed.people.isFormerName('x'),
        'passkeys.add': () => closed.passkeys.add(somePasskey('x'), 1),
        'passkeys.get': () => closed.passkeys.get('x'),
        'passkeys.of': () => closed.passkeys.of('x'),
        'passkeys.list': () => passkeysIn(closed),
        'passkeys.use': () => closed.passkeys.use('x', { counter: 0, backedUp: false, at: 1 }),
        'passkeys.rename': () => closed.passkeys.rename('x', 'x', 'y'),
        'passkeys.remove': () => closed.passkeys.remove('x', 'x', 0),
        'passkeys.removeAll': () => closed.passkeys.removeAll('x'),
        'secondFactors.add': () => closed.secondFactors.add(someSecondFactor('x')),
        'secondFactors.setUp': () =>
          closed.secondFactors.setUp({ factor: someSecondFactor('x'), generation: 0, until: 1 }),
        'secondFactors.get': () => closed.secondFactors.get('x'),
        'secondFactors.list': () => secondFactorsIn(closed),
        'secondFactors.useStep': () => closed.secondFactors.useStep('x', 'x', 1, 1),
        'secondFactors.useRecovery': () => closed.secondFactors.useRecovery('x', 'x', 1),
        'secondFactors.renewRecovery': () =>
          closed.secondFactors.renewRecovery(someSecondFactor('x'), []),
        'secondFactors.remove': () => closed.secondFactors.remove('x'),
        'declared.add': () => closed.declared.add({ kind: 'person', id: 'x' }),
        'declared.list': () => closed.declared.list(),
        'declared.remove': () => closed.declared.remove({ kind: 'person', id: 'x' }),
        together: () => closed.together(async (stores) => stores.declared.list()),
        'logouts.due': () => closed.logouts.due(1),
        'logouts.take': () => closed.logouts.take('x', 1, 2, 1),
        'logouts.endedBefore': () => closed.logouts.endedBefore(1, 1),
        'logouts.postpone': () => closed.logouts.postpone('x', 1),
        'logouts.remove': () => closed.logouts.remove('x'),
        'logouts.backlog': () => closed.logouts.backlog(),
        'logouts.waiting': () => closed.logouts.waiting('x'),
        'outbox.add': () => closed.outbox.add(someOutboxMessage('x')),
        'outbox.take': () => closed.outbox.take(1, 2, 1),
        'outbox.postpone': () => closed.outbox.postpone('x', 1),
        'outbox.remove': () => closed.outbox.remove('x'),
        'proofs.spend': () => closed.proofs.spend('dpop', 'x', onceFor(1)),
        'publicKeys.add': () => closed.publicKeys.add(somePublicKey('x'), 1),
        'publicKeys.get': () => closed.publicKeys.get('x'),
        'publicKeys.of': () => closed.publicKeys.of({ kind: 'person', id: 'x' }),
        'publicKeys.list': () => publicKeysIn(closed),
        'publicKeys.touch': () => closed.publicKeys.touch('x', 1),
        'publicKeys.signOut': () => closed.publicKeys.signOut('x', 1),
        'publicKeys.remove': () => closed.publicKeys.remove('x'),
        'replay.unique': () => closed.replay.unique('a', 'x', 1),
        'replay.seen': () => closed.replay.seen('a', 'x'),
        'sessions.put': () => closed.sessions.put('x', 1),
        'sessions.get': () => closed.sessions.get('x'),
        'sessions.take': () => closed.sessions.take('x'),
        'spentTokens.spend': () => closed.spentTokens.spend(Buffer.from('x'), FAR),
        'tokenKeys.list': () => closed.tokenKeys.list(),
        'tokenKeys.add': () => closed.tokenKeys.add(someTokenKey(VOPRF, 7), undefined),
        'tokenKeys.retire': () => closed.tokenKeys.retire(VOPRF, 'x'),
        'tokenKeys.remove': () => closed.tokenKeys.remove(VOPRF, 'x'),
        'trees.get': () => closed.trees.get('/a', 'x'),
        'trees.look': () => closed.trees.look('a', ['x']),
        'trees.version': () => closed.trees.version('a'),
        'trees.members': () => closed.trees.members('a', { path: '' }, '', 1),
        'trees.list': () => closed.trees.list('/a', '', '', 1),
        'trees.below': () => closed.trees.below('a', '', 1),
        'trees.commit': () =>
          closed.trees.commit('a', {
            seen: new Map(),
            locksVersion: '0',
            edits: [],
            quota: NO_QUOTA,
          }),
        'trees.files': () => closed.trees.files('a'),
        'useCounts.use': () => closed.useCounts.use('a', 'x', 1, onceFor(1)),
        'revocations.revoke': () => closed.revocations.revoke('token', 'x', 1),
        'revocations.raise': () => closed.revocations.raise('person', 'x', 1),
        'revocations.generation': () => closed.revocations.generation('person', 'x'),
        'revocations.epoch': () => closed.revocations.epoch(true),
      };
      for (const [name, verb] of Object.entries(verbs)) {
        const outcome = await verb().then(
          () => 'resolved',
          (error: unknown) => (error instanceof StoreUnavailable ? 'unavailable' : String(error)),
        );
        expect([name, outcome]).toEqual([name, 'unavailable']);
      }
    });

    test('a store can be closed twice', async () => {
      const stores = await contract().store.open();
      await stores[Symbol.asyncDispose]();
      await expect(stores[Symbol.asyncDispose]()).resolves.toBeUndefined();
    });
  });
}
