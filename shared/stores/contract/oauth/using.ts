import { describe, expect, test } from '@jest/globals';
import type { Artefact, Use } from '../../oauth/artefacts.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** `artefacts.consume` with a successor: the use and its successor are written together or not at all. */
export function usingContract(contract: () => Contract): void {
  describe('using an artefact', () => {
    const kind = 'RefreshToken';
    const put = async (payload: Artefact['payload'] = {}) => {
      const id = fresh();
      await contract().one.artefacts.put({ kind, id, payload, seconds: 60 });
      return id;
    };
    const successor = (payload: Artefact['payload'] = {}): Artefact => ({
      kind,
      id: fresh(),
      payload,
      seconds: 60,
    });
    const use = (id: string, how: Use) => contract().other.artefacts.consume(kind, id, how);
    const get = (id: string) => contract().one.artefacts.get(kind, id);

    test('RFC 6749 section 6: the first use of a token adds the next token, and a second use adds none', async () => {
      const grantId = fresh();
      const id = await put({ grantId });
      const [first, second] = [successor({ grantId, n: 1 }), successor({ grantId, n: 2 })];
      expect(await use(id, { attempt: 'a', successor: first })).toBe('first');
      expect(await use(id, { attempt: 'b', successor: second })).toBe('again');
      expect(await get(id)).toEqual({ grantId, consumed: expect.any(Number), attempt: 'a' });
      expect([await get(first.id), await get(second.id)]).toEqual([first.payload, undefined]);
      await contract().one.artefacts.removeByGrant(grantId);
      expect([await get(id), await get(first.id)]).toEqual([undefined, undefined]);
    });

    test('the use of an absent token adds no next token', async () => {
      const id = fresh();
      const next = successor({ grantId: fresh() });
      expect(await use(id, { attempt: 'a', successor: next })).toBe('absent');
      expect(await get(next.id)).toBeUndefined();
    });

    test('an attempt to use a token that is not yet settled can be replaced by one other attempt', async () => {
      const id = await put();
      const [first, second, third] = [successor({ n: 1 }), successor({ n: 2 }), successor()];
      await use(id, { attempt: 'a', successor: first });
      expect(await use(id, { attempt: 'b', instead: 'x', successor: third })).toBe('again');
      expect(await use(id, { attempt: 'b', instead: 'a', successor: second })).toBe('first');
      expect(await use(id, { attempt: 'c', instead: 'a', successor: third })).toBe('again');
      expect(await get(id)).toEqual({ consumed: expect.any(Number), attempt: 'b' });
      expect([await get(second.id), await get(third.id)]).toEqual([{ n: 2 }, undefined]);
    });

    test('a settled use of a token is final, and only the attempt under way can be settled', async () => {
      const { one } = contract();
      const id = await put();
      await use(id, { attempt: 'a' });
      await one.artefacts.settle(kind, id, 'another');
      expect(await get(id)).toMatchObject({ attempt: 'a' });
      await one.artefacts.settle(kind, id, 'a');
      expect(await get(id)).toEqual({ consumed: expect.any(Number) });
      expect(await use(id, { attempt: 'b', instead: 'a' })).toBe('again');
      await one.artefacts.settle(kind, fresh(), 'a');
    });

    test('settling the use of an artefact replaces its content by the given remainder', async () => {
      const { one } = contract();
      const grantId = fresh();
      const id = await put({ grantId, long: 'x'.repeat(1000) });
      await use(id, { attempt: 'a' });
      await one.artefacts.settle(kind, id, 'another', { n: 1 });
      expect(await get(id)).toMatchObject({ attempt: 'a', grantId });
      await one.artefacts.settle(kind, id, 'a', { grantId });
      expect(await get(id)).toEqual({ grantId, consumed: expect.any(Number) });
      await one.artefacts.settle(kind, id, 'a', { n: 2 });
      expect(await get(id)).toEqual({ grantId, consumed: expect.any(Number) });
      await one.artefacts.removeByGrant(grantId);
      expect(await get(id)).toBeUndefined();
      await one.artefacts.settle(kind, id, 'a', { grantId });
      expect(await get(id)).toBeUndefined();
    });

    test('a use without an attempt is settled at once', async () => {
      const id = await put();
      expect(await contract().one.artefacts.consume(kind, id)).toBe('first');
      expect(await use(id, { attempt: 'b', instead: '' })).toBe('again');
      expect(await get(id)).toEqual({ consumed: expect.any(Number) });
    });

    test('RFC 9700 section 4.14.2: a used successor stays used, even if it is written again', async () => {
      const id = await put();
      const next = successor({ n: 1 });
      await use(id, { attempt: 'a', successor: next });
      await contract().one.artefacts.consume(kind, next.id);
      expect(await use(id, { attempt: 'b', instead: 'a', successor: next })).toBe('first');
      expect(await get(next.id)).toEqual({ n: 1, consumed: expect.any(Number) });
    });

    test('an artefact that is written again keeps its attempt, unless it had expired', async () => {
      const { one, store } = contract();
      const id = await put();
      await use(id, { attempt: 'a' });
      await one.artefacts.put({ kind, id, payload: { n: 2 }, seconds: 60 });
      expect(await get(id)).toEqual({ n: 2, consumed: expect.any(Number), attempt: 'a' });
      await store.passSeconds(100);
      await one.artefacts.put({ kind, id, payload: { n: 3 }, seconds: 60 });
      expect(await get(id)).toEqual({ n: 3 });
    });

    test('if a grant ends while its token is used, neither the token nor its successor remains', async () => {
      for (let round = 0; round < 20; round += 1) {
        const grantId = fresh();
        const id = await put({ grantId });
        const next = successor({ grantId });
        await Promise.all([
          use(id, { attempt: 'a', successor: next }),
          contract().one.artefacts.removeByGrant(grantId),
        ]);
        await contract().one.artefacts.removeByGrant(grantId);
        expect([await get(id), await get(next.id)]).toEqual([undefined, undefined]);
      }
    });
  });
}
