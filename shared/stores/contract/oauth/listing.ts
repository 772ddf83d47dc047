import { describe, expect, test } from '@jest/globals';
import type { Artefact } from '../../oauth/artefacts.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** `artefacts.listByAccount`: the artefacts that a person can see and end. */
export function listingContract(contract: () => Contract): void {
  describe('the artefacts of a person', () => {
    const put = async (kind: string, payload: Artefact['payload'], seconds = 60) => {
      const id = fresh();
      await contract().one.artefacts.put({ kind, id, payload: { ...payload, id }, seconds });
      return id;
    };
    /** The ids of the listed artefacts, in order. */
    const listed = async (kind: string, accountId: string) => {
      const found = await contract().other.artefacts.listByAccount(kind, accountId);
      return found.map((payload) => String(payload['id'])).toSorted();
    };

    test('all artefacts of a kind are listed with their payloads, without those of other kinds or people', async () => {
      const { other } = contract();
      const [accountId, somebody] = [fresh(), fresh()];
      const ids = await Promise.all([1, 2, 3].map((n) => put('SignIn', { accountId, n })));
      const access = await put('Access', { accountId });
      const consent = await put('Consent', { accountId });
      await put('SignIn', { accountId: somebody });
      expect(await listed('Consent', accountId)).toEqual([consent]);
      expect(await listed('SignIn', accountId)).toEqual(ids.toSorted());
      expect(await listed('Access', accountId)).toEqual([access]);
      expect(await other.artefacts.listByAccount('Access', accountId)).toEqual([
        { accountId, id: access },
      ]);
      expect(await listed('Access', somebody)).toEqual([]);
    });

    test('a list by account has no sessions, no refresh tokens, and no artefact whose accountId is not a string', async () => {
      const accountId = fresh();
      await put('Session', { accountId });
      await put('RefreshToken', { accountId });
      await put('SignIn', { accountId: 7 });
      await put('SignIn', { accountId: [accountId] });
      await put('SignIn', { accountId: null });
      for (const kind of ['Session', 'RefreshToken', 'SignIn']) {
        expect(await listed(kind, accountId)).toEqual([]);
      }
      for (const account of ['7', 'null', 'undefined', '']) {
        expect(await listed('SignIn', account)).toEqual([]);
      }
    });

    test('accounts with odd ids have only their own artefacts', async () => {
      const { one, other } = contract();
      const base = fresh();
      const tails = ['', ':', '%', '*', '\u0000', "'; --", '"', '{a}', '__proto__', '😀'];
      const odd = [...tails.map((tail) => base + tail), '__proto__', 'x'.repeat(10_000) + base];
      for (const accountId of odd) {
        const payload = { accountId, grantId: accountId };
        await one.artefacts.put({ kind: 'Access', id: accountId, payload, seconds: 60 });
      }
      for (const accountId of odd) {
        expect(await other.artefacts.listByAccount('Access', accountId)).toEqual([
          { accountId, grantId: accountId },
        ]);
        expect(await listed('SignIn', accountId)).toEqual([]);
      }
      for (const accountId of odd) {
        await other.artefacts.removeByGrant(accountId);
        expect(await one.artefacts.listByAccount('Access', accountId)).toEqual([]);
      }
    });

    test('moving characters from the account to the kind gives another list', async () => {
      const accountId = fresh();
      await put('SignIn', { accountId: `x:${accountId}` });
      expect(await listed('SignIn:x', accountId)).toEqual([]);
    });

    test('expired artefacts are not listed, whether or not they were swept; later and endless ones are', async () => {
      const { one, store } = contract();
      const accountId = fresh();
      await put('SignIn', { accountId }, 60);
      const long = await put('SignIn', { accountId }, 600);
      const always = fresh();
      const payload = { accountId, id: always };
      await one.artefacts.put({ kind: 'SignIn', id: always, payload });
      await put('SignIn', { accountId }, 60);
      await store.passSeconds(300);
      expect(await listed('SignIn', accountId)).toEqual([long, always].toSorted());
      while ((await one.sweep()) > 0);
      await store.passSeconds(100_000);
      expect(await listed('SignIn', accountId)).toEqual([always]);
    });

    test('an artefact that was removed, by itself or with its grant, is not listed', async () => {
      const { one } = contract();
      const [accountId, grantId] = [fresh(), fresh()];
      const signIn = await put('SignIn', { accountId });
      const kept = await put('SignIn', { accountId });
      await put('Access', { accountId, grantId });
      const another = await put('Access', { accountId, grantId: fresh() });
      await one.artefacts.remove('SignIn', signIn);
      await one.artefacts.removeByGrant(grantId);
      expect(await listed('SignIn', accountId)).toEqual([kept]);
      expect(await listed('Access', accountId)).toEqual([another]);
    });

    test('an artefact that is written again is listed once, with its new content and account', async () => {
      const { one, other } = contract();
      const [accountId, later] = [fresh(), fresh()];
      const id = await put('SignIn', { accountId });
      const write = (payload: Artefact['payload']) =>
        one.artefacts.put({ kind: 'SignIn', id, payload, seconds: 60 });
      await write({ accountId, n: 2 });
      expect(await other.artefacts.listByAccount('SignIn', accountId)).toEqual([
        { accountId, n: 2 },
      ]);
      await write({ accountId: later });
      expect(await other.artefacts.listByAccount('SignIn', accountId)).toEqual([]);
      expect(await other.artefacts.listByAccount('SignIn', later)).toEqual([{ accountId: later }]);
      await write({});
      expect(await other.artefacts.listByAccount('SignIn', later)).toEqual([]);
    });

    test('an artefact that is replaced by one with an account is listed under this account', async () => {
      const { one, other } = contract();
      const accountId = fresh();
      const id = await put('Access', {});
      const replacement = { kind: 'Access', id, payload: { accountId }, seconds: 60 };
      expect(await one.artefacts.replace(replacement, { id })).toBe(true);
      expect(await other.artefacts.listByAccount('Access', accountId)).toEqual([{ accountId }]);
    });

    test('a list shows that an artefact was consumed', async () => {
      const { one, other } = contract();
      const accountId = fresh();
      const id = await put('Access', { accountId });
      await one.artefacts.consume('Access', id);
      expect(await other.artefacts.listByAccount('Access', accountId)).toEqual([
        { accountId, id, consumed: expect.any(Number) },
      ]);
    });

    test('all of two thousand artefacts are listed', async () => {
      const accountId = fresh();
      const ids: string[] = [];
      for (let n = 0; n < 2_000; n += 100) {
        const batch = Array.from({ length: 100 }, () => put('SignIn', { accountId }));
        ids.push(...(await Promise.all(batch)));
      }
      expect(await listed('SignIn', accountId)).toEqual(ids.toSorted());
    });

    test('the artefacts of an account are listed in slices, the last to expire first, and are counted', async () => {
      const { other } = contract();
      const accountId = fresh();
      const lives = [50, 20, 40, 10, 30];
      for (const seconds of lives) {
        const payload = { accountId, seconds };
        await contract().one.artefacts.put({ kind: 'Access', id: fresh(), payload, seconds });
      }
      const slice = async (skip: number, count: number) => {
        const found = await other.artefacts.listByAccount('Access', accountId, { skip, count });
        return found.map(({ seconds }) => seconds);
      };
      expect(await slice(0, 2)).toEqual([50, 40]);
      expect(await slice(2, 2)).toEqual([30, 20]);
      expect(await slice(4, 2)).toEqual([10]);
      expect(await slice(5, 2)).toEqual([]);
      expect(await slice(0, 1000)).toEqual([50, 40, 30, 20, 10]);
      expect(await other.artefacts.countByAccount('Access', accountId)).toBe(5);
      expect(await other.artefacts.countByAccount('SignIn', accountId)).toBe(0);
      expect(await other.artefacts.countByAccount('Access', fresh())).toBe(0);
    });

    test('artefacts that never expire are listed first, and an artefact that is written again counts once', async () => {
      const { one, other } = contract();
      const [accountId, id] = [fresh(), fresh()];
      const always = { kind: 'SignIn', id, payload: { accountId, id } };
      const long = await put('SignIn', { accountId }, 600);
      await one.artefacts.put(always);
      await one.artefacts.put(always);
      const [first, second] = await other.artefacts.listByAccount('SignIn', accountId);
      expect([first?.['id'], second?.['id']]).toEqual([id, long]);
      expect(await other.artefacts.countByAccount('SignIn', accountId)).toBe(2);
    });

    test('several artefacts are removed together, by their ids or with their grants', async () => {
      const { one, other } = contract();
      const [accountId, ...grants] = [fresh(), fresh(), fresh(), fresh()];
      const ids = await Promise.all(grants.map((grantId) => put('Access', { accountId, grantId })));
      const tokens = await Promise.all(grants.map((grantId) => put('RefreshToken', { grantId })));
      await one.artefacts.removeByGrant(...grants.slice(1));
      expect(await listed('Access', accountId)).toEqual(ids.slice(0, 1));
      expect(await other.artefacts.countByAccount('Access', accountId)).toBe(1);
      const left = await Promise.all(tokens.map((id) => other.artefacts.get('RefreshToken', id)));
      expect(left.map(Boolean)).toEqual([true, false, false]);
      const signIns = [await put('SignIn', { accountId }), await put('SignIn', { accountId })];
      const kept = await put('SignIn', { accountId });
      await one.artefacts.remove('SignIn', ...signIns, fresh());
      expect(await listed('SignIn', accountId)).toEqual([kept]);
      await one.artefacts.remove('SignIn');
      await one.artefacts.removeByGrant();
      expect(await listed('SignIn', accountId)).toEqual([kept]);
    });

    test('if an artefact is written and removed at once, the list has it only if it can be read', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 20; round++) {
        const accountId = fresh();
        const ids = await Promise.all(
          Array.from({ length: 10 }, () => put('SignIn', { accountId })),
        );
        await Promise.all(
          ids.flatMap((id) => [
            one.artefacts.put({ kind: 'SignIn', id, payload: { accountId, id }, seconds: 60 }),
            other.artefacts.remove('SignIn', id),
          ]),
        );
        const there = await Promise.all(ids.map((id) => one.artefacts.get('SignIn', id)));
        const left = ids.filter((_, n) => there[n] !== undefined);
        expect(await listed('SignIn', accountId)).toEqual(left.toSorted());
      }
    });
  });
}
