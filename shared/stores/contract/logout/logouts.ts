import { describe, expect, test } from '@jest/globals';
import { FAR, fresh, someClient } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const NOW = 1_800_000_000_000;

/** A grant of a person at a client, in the browser with this sign-in. */
interface Grant {
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly uid?: string;
}

export function logoutsContract(contract: () => Contract): void {
  const given = async (more: Partial<Grant> = {}): Promise<Required<Grant>> => {
    const grant = {
      grantId: fresh(),
      accountId: fresh(),
      clientId: fresh(),
      uid: fresh(),
      ...more,
    };
    const artefact = { kind: 'Access', id: grant.grantId, payload: { ...grant }, seconds: 600 };
    await contract().one.artefacts.put(artefact);
    return grant;
  };

  /** Takes all logouts of a client, and returns whom each tells of. */
  const taken = async (clientId: string) =>
    (await contract().other.logouts.take(clientId, NOW, FAR, 1000)).map(({ accountId, uid }) =>
      Object.assign({}, accountId && { accountId }, uid && { uid }),
    );

  describe('logouts', () => {
    test.each([
      [
        'a revoked grant',
        ({ grantId }: Grant) => contract().one.revocations.revoke('grant', grantId, FAR),
        true,
      ],
      [
        'a removed grant',
        ({ grantId }: Grant) => contract().one.artefacts.removeByGrant(grantId),
        true,
      ],
      [
        'the sign-in of its browser',
        ({ uid = '' }: Grant) => contract().one.artefacts.remove('SignIn', uid),
        true,
      ],
      [
        'all of its person',
        ({ accountId }: Grant) => contract().one.revocations.raise('person', accountId, FAR),
        false,
      ],
    ])('%s leaves its logouts once, also if the end is repeated', async (_, end, isOfBrowser) => {
      const grant = await given();
      const { accountId, clientId, uid } = grant;
      await end(grant);
      const told = [...(isOfBrowser ? [] : [{ accountId }]), { accountId, uid }];
      expect(await taken(clientId)).toEqual(told);
      await end(grant);
      await contract().one.artefacts.removeByGrant(grant.grantId);
      expect(await taken(clientId)).toEqual([]);
    });

    test('a grant without a browser leaves no logout', async () => {
      const grantId = fresh();
      const payload = { grantId, accountId: fresh(), clientId: fresh() };
      const { one, other } = contract();
      await one.artefacts.put({ kind: 'Access', id: grantId, payload });
      await one.revocations.revoke('grant', grantId, FAR);
      await one.artefacts.removeByGrant(grantId);
      await one.revocations.raise('person', payload.accountId, FAR);
      await one.revocations.raise('client', payload.clientId, FAR);
      expect(await other.logouts.due(FAR)).not.toContain(payload.clientId);
    });

    test('the end of a person tells each application once, and once for each browser', async () => {
      const { accountId, clientId, uid } = await given();
      await given({ accountId, clientId, uid });
      const elsewhere = await given({ accountId, clientId });
      const another = await given({ accountId });
      const { one, other } = contract();
      await one.revocations.raise('person', accountId, FAR);
      expect(await other.logouts.waiting(accountId)).toEqual(
        [clientId, another.clientId].toSorted(),
      );
      const browsers = [uid, elsewhere.uid].toSorted().map((id) => ({ accountId, uid: id }));
      expect(await taken(clientId)).toEqual([{ accountId }, ...browsers]);
    });

    test('a grant made after an end is told of the next end', async () => {
      const { accountId, clientId, uid } = await given();
      const { one } = contract();
      await one.revocations.raise('person', accountId, FAR);
      const later = await given({ accountId, clientId });
      await one.revocations.raise('person', accountId, FAR);
      expect(await taken(clientId)).toEqual([
        { accountId },
        { accountId, uid },
        { accountId },
        { accountId, uid: later.uid },
      ]);
    });

    test('the end of a client leaves one logout for all people, and one for each grant that is removed', async () => {
      const { accountId, clientId, grantId, uid } = await given();
      await given({ clientId });
      const { one } = contract();
      await one.revocations.raise('client', clientId, FAR);
      expect(await taken(clientId)).toEqual([{}]);
      await one.artefacts.removeByGrant(grantId);
      expect(await taken(clientId)).toEqual([{ accountId, uid }]);
    });

    test.each([
      ['a new rule', {}, { allow_groups: ['staff'] }, [{}]],
      ['another rule', { allow_people: ['alice'] }, { allow_people: ['bob'] }, [{}]],
      ['a rule, if the former record is not known', undefined, { minimum_acr: 'passkey' }, [{}]],
      ['the same rule', { allow_groups: ['staff'] }, { allow_groups: ['staff'] }, []],
      ['no rule any more', { allow_groups: ['staff'] }, {}, []],
    ] as const)(
      'a client with %s leaves one logout for all people, or none',
      async (_, was, now, told) => {
        const { clientId } = await given();
        const { one } = contract();
        const client = { ...someClient(clientId), ...was };
        await one.clients.add(client);
        const changed = { ...someClient(clientId), ...now };
        expect(await one.clients.replace(changed, was && client)).toBe(true);
        expect(await taken(clientId)).toEqual(told);
      },
    );

    test('a client without grants leaves no logout when its rule changes', async () => {
      const { one, other } = contract();
      const client = someClient(fresh());
      await one.clients.add(client);
      await one.clients.replace({ ...client, allow_groups: ['staff'] }, client);
      expect(await other.logouts.due(FAR * 2)).not.toContain(client.client_id);
    });

    test('the backlog has a count, and the time of the oldest end', async () => {
      const { one, other } = contract();
      const { grantId, clientId } = await given();
      const before = await one.logouts.backlog();
      await one.revocations.revoke('grant', grantId, FAR);
      const [left] = await other.logouts.take(clientId, FAR, FAR, 9);
      const { count, oldest = NaN } = await other.logouts.backlog();
      expect(count).toBe(before.count + 1);
      expect(oldest).toBe(Math.min(before.oldest ?? Infinity, left?.created ?? NaN));
      await one.logouts.remove(left?.id ?? '');
      expect(await other.logouts.backlog()).toEqual(before);
    });

    test('the logouts of an end before a time are found, the oldest first', async () => {
      const { one, other } = contract();
      const all = [await given(), await given()];
      for (const { grantId } of all) await one.revocations.revoke('grant', grantId, FAR);
      const [first, second] = await Promise.all(
        all.map(async ({ clientId }) => (await one.logouts.take(clientId, FAR, FAR, 1))[0]!),
      );
      const { id, clientId, accountId, uid } = first!;
      const found = await other.logouts.endedBefore(first!.created + 1, 10_000);
      expect(found).toContainEqual({ id, clientId, accountId, uid });
      const later = await other.logouts.endedBefore(
        Math.max(first!.created, second!.created) + 1,
        1,
      );
      expect(later).toHaveLength(1);
      const earlier = await other.logouts.endedBefore(first!.created, 10_000);
      expect(earlier.map((logout) => logout.id)).not.toContain(id);
    });

    test('the logout of a changed rule precedes those of grants', async () => {
      const { one, other } = contract();
      const { clientId, grantId } = await given();
      await given({ clientId });
      const client = someClient(clientId);
      await one.clients.add(client);
      await one.revocations.revoke('grant', grantId, FAR);
      await one.clients.replace({ ...client, allow_groups: ['staff'] }, client);
      const [first] = await other.logouts.take(clientId, NOW, FAR, 1);
      expect(first).not.toHaveProperty('accountId');
    });

    test('an expired grant leaves no logout when it is swept', async () => {
      const { grantId, clientId, ...rest } = await given();
      const { one, other } = contract();
      const payload = { grantId, clientId, ...rest };
      await one.artefacts.put({ kind: 'Access', id: grantId, payload, seconds: -1 });
      await one.sweep();
      await one.artefacts.removeByGrant(grantId);
      expect(await other.logouts.due(FAR)).not.toContain(clientId);
    });

    test('no other process gets taken logouts for a time; then they are due again', async () => {
      const { grantId, clientId } = await given();
      const { one, other } = contract();
      await one.revocations.revoke('grant', grantId, FAR);
      expect(await other.logouts.due(NOW)).toContain(clientId);
      const [first] = await one.logouts.take(clientId, NOW, NOW + 5000, 9);
      expect(first).toMatchObject({ attempt: 1, created: expect.any(Number) });
      expect(await other.logouts.due(NOW + 4999)).not.toContain(clientId);
      expect(await other.logouts.take(clientId, NOW + 4999, FAR, 9)).toEqual([]);
      const [again] = await other.logouts.take(clientId, NOW + 5000, FAR, 9);
      expect(again).toEqual({ ...first, attempt: 2 });
      await one.logouts.postpone(first?.id ?? '', NOW);
      expect(await other.logouts.due(NOW)).toContain(clientId);
      expect(await one.logouts.remove(first?.id ?? '')).toBe(true);
      expect(await other.logouts.remove(first?.id ?? '')).toBe(false);
      expect(await other.logouts.due(FAR * 2)).not.toContain(clientId);
    });

    test('a logout that was never sent precedes those that failed', async () => {
      const { accountId, clientId, grantId } = await given();
      const { one, other } = contract();
      await one.revocations.revoke('grant', grantId, FAR);
      const [failed] = await one.logouts.take(clientId, NOW, NOW + 1, 9);
      const later = await given({ accountId, clientId });
      await one.revocations.revoke('grant', later.grantId, FAR);
      const [first, second] = await other.logouts.take(clientId, NOW + 1, FAR, 9);
      expect([first?.uid, second?.id]).toEqual([later.uid, failed?.id]);
    });
  });
}
