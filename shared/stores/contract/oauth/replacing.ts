import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Artefact } from '../../oauth/artefacts.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

type Payload = Artefact['payload'];

/** `artefacts.replace`: it stores a decision about a device code (RFC 8628 section 3.3), once. */
export function replacingContract(contract: () => Contract): void {
  describe('replacing an artefact', () => {
    const kind = 'DeviceCode';
    const put = async (payload: Payload, seconds = 60) => {
      const id = fresh();
      await contract().one.artefacts.put({ kind, id, payload, seconds });
      return id;
    };
    const replace = (id: string, payload: Payload, was: Payload, seconds = 60) =>
      contract().other.artefacts.replace({ kind, id, payload, seconds }, was);

    test('RFC 8628 section 3.3: the first decision about a device code counts, and a second is refused', async () => {
      const { one } = contract();
      const userCode = fresh();
      const id = await put({ userCode });
      const was = (await one.artefacts.get(kind, id)) ?? {};
      expect(await replace(id, { ...was, accountId: 'alice' }, was)).toBe(true);
      expect(await replace(id, { ...was, error: 'access_denied' }, was)).toBe(false);
      expect(await one.artefacts.get(kind, id)).toEqual({ userCode, accountId: 'alice' });
      expect(await one.artefacts.getByUserCode(kind, userCode)).toEqual({
        userCode,
        accountId: 'alice',
      });
    });

    test.each<[string, Payload]>([
      ['more', { a: 1, b: 2 }],
      ['less', {}],
      ['other values', { a: '1' }],
      ['deeper values', { a: { a: 1 } }],
      ['a consumption that did not happen', { a: 1, consumed: 1 }],
    ])('a replacement is refused if the read artefact had %s', async (_, was) => {
      const { one } = contract();
      const id = await put({ a: 1 });
      expect(await replace(id, { a: 2 }, was)).toBe(false);
      expect(await one.artefacts.get(kind, id)).toEqual({ a: 1 });
    });

    test('an artefact with any JSON is replaced once, and a second replacement of the same version is refused', async () => {
      const { one } = contract();
      await fc.assert(
        fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (value, next) => {
          const id = await put({ value });
          const was = (await one.artefacts.get(kind, id)) ?? {};
          expect(await replace(id, { value: next, replaced: true }, was)).toBe(true);
          expect(await replace(id, {}, was)).toBe(false);
        }),
        { numRuns: 50 },
      );
    });

    test('replacing an artefact of another kind, or an absent, removed or expired one, is refused and makes no artefact', async () => {
      const { one, other, store } = contract();
      const [userCode, grantId] = [fresh(), fresh()];
      const was = { userCode };
      const payload = { ...was, grantId };
      const [removed, expired, living] = [await put(was), await put(was, 60), await put(was, 600)];
      await one.artefacts.remove(kind, removed);
      await store.passSeconds(120);
      for (const id of [fresh(), removed, expired]) {
        expect(await replace(id, payload, was)).toBe(false);
        expect(await replace(id, payload, {})).toBe(false);
        expect(await one.artefacts.get(kind, id)).toBeUndefined();
      }
      expect(
        await other.artefacts.replace({ kind: 'Session', id: living, payload, seconds: 60 }, was),
      ).toBe(false);
      expect(await one.artefacts.get('Session', living)).toBeUndefined();
      expect(await one.artefacts.get(kind, living)).toEqual(was);
    });

    test('RFC 6749 section 4.1.2: a consumed artefact is not replaced, whether it was read before or after', async () => {
      const { one } = contract();
      const id = await put({ a: 1 });
      const before = (await one.artefacts.get(kind, id)) ?? {};
      await one.artefacts.consume(kind, id);
      const after = (await one.artefacts.get(kind, id)) ?? {};
      expect(await replace(id, { a: 2 }, before)).toBe(false);
      expect(await replace(id, { a: 2 }, after)).toBe(false);
      expect(await one.artefacts.get(kind, id)).toEqual(after);
      expect(await one.artefacts.consume(kind, id)).toBe('again');
    });

    test('a replaced artefact can be consumed once', async () => {
      const { one } = contract();
      const id = await put({});
      expect(await replace(id, { a: 1 }, {})).toBe(true);
      expect(await one.artefacts.consume(kind, id)).toBe('first');
      expect(await one.artefacts.consume(kind, id)).toBe('again');
      expect(await replace(id, { a: 2 }, { a: 1 })).toBe(false);
    });

    test('a replaced artefact is found by its new uid and user code, and not by the former uid', async () => {
      const { one } = contract();
      const [old, uid, userCode] = [fresh(), fresh(), fresh()];
      const was = { uid: old };
      const id = await put(was);
      expect(await replace(id, { uid, userCode }, was)).toBe(true);
      expect(await one.artefacts.getByUid(kind, old)).toBeUndefined();
      expect(await one.artefacts.getByUid(kind, uid)).toEqual({ uid, userCode });
      expect(await one.artefacts.getByUserCode(kind, userCode)).toEqual({ uid, userCode });
    });

    test('a replaced artefact has the new lifetime, also for its lookup keys', async () => {
      const { one, store } = contract();
      const userCode = fresh();
      const [longer, shorter] = [await put({ userCode }, 60), await put({}, 6_000)];
      expect(await replace(longer, { userCode, a: 1 }, { userCode }, 600)).toBe(true);
      expect(await replace(shorter, { a: 1 }, {}, 60)).toBe(true);
      await store.passSeconds(300);
      expect(await one.artefacts.getByUserCode(kind, userCode)).toEqual({ userCode, a: 1 });
      expect(await one.artefacts.get(kind, shorter)).toBeUndefined();
    });

    test('RFC 9700 section 4.14.2: a device code that got its grant by a replacement is removed with the grant', async () => {
      const { one } = contract();
      const [grantId, userCode] = [fresh(), fresh()];
      const id = await put({ userCode });
      expect(await replace(id, { userCode, grantId }, { userCode })).toBe(true);
      await one.artefacts.removeByGrant(grantId);
      expect(await one.artefacts.get(kind, id)).toBeUndefined();
      expect(await one.artefacts.getByUserCode(kind, userCode)).toBeUndefined();
      expect(await one.artefacts.consume(kind, id)).toBe('absent');
    });

    test('removing the grant of a refused replacement does not remove the artefact', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 20; round++) {
        const id = await put({});
        const grants = Array.from({ length: 10 }, () => fresh());
        const won = await Promise.all(
          grants.map((grantId, n) =>
            (n % 2 === 0 ? one : other).artefacts.replace(
              { kind, id, payload: { grantId }, seconds: 60 },
              {},
            ),
          ),
        );
        const winner = grants[won.indexOf(true)];
        expect(won.filter((each) => each)).toHaveLength(1);
        const lost = grants.filter((grantId) => grantId !== winner);
        await Promise.all(lost.map((grantId) => one.artefacts.removeByGrant(grantId)));
        expect(await other.artefacts.get(kind, id)).toEqual({ grantId: winner });
      }
    });

    test('an artefact that left a grant is not removed with it', async () => {
      const { one } = contract();
      const [former, grantId] = [fresh(), fresh()];
      const [replaced, again] = [await put({ grantId: former }), await put({ grantId: former })];
      expect(await replace(replaced, { grantId }, { grantId: former })).toBe(true);
      await one.artefacts.put({ kind, id: again, payload: { grantId }, seconds: 60 });
      await one.artefacts.removeByGrant(former);
      expect(await one.artefacts.get(kind, replaced)).toEqual({ grantId });
      expect(await one.artefacts.get(kind, again)).toEqual({ grantId });
      await one.artefacts.removeByGrant(grantId);
      expect(await one.artefacts.get(kind, replaced)).toBeUndefined();
      expect(await one.artefacts.get(kind, again)).toBeUndefined();
    });

    test('RFC 9700 section 4.14.2: an artefact that joins a grant during its removal is removed by the next removal at the latest', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 10; round++) {
        const grantId = fresh();
        const ids = await Promise.all(Array.from({ length: 20 }, () => put({})));
        await Promise.all(
          ids.flatMap((id) => [
            one.artefacts.replace({ kind, id, payload: { grantId }, seconds: 60 }, {}),
            other.artefacts.removeByGrant(grantId),
          ]),
        );
        await other.artefacts.removeByGrant(grantId);
        for (const id of ids) expect(await one.artefacts.get(kind, id)).toBeUndefined();
      }
    });

    test('an artefact that is replaced and removed at once stays removed', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 20; round++) {
        const id = await put({});
        await Promise.all([
          one.artefacts.replace({ kind, id, payload: { grantId: fresh() }, seconds: 60 }, {}),
          other.artefacts.remove(kind, id),
        ]);
        expect(await one.artefacts.get(kind, id)).toBeUndefined();
        expect(await one.artefacts.consume(kind, id)).toBe('absent');
      }
    });
  });
}
