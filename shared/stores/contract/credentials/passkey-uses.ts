import { describe, expect, test } from '@jest/globals';
import type { PasskeyRecord } from '../../credentials/passkeys.ts';
import { fresh, somePasskey } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const NOW = 1_800_000_000_000;
const ATTEMPTS = 10;

export function passkeyUsesContract(contract: () => Contract): void {
  describe('uses of passkeys', () => {
    const added = async (changes: Partial<PasskeyRecord> = {}) => {
      const passkey = { ...somePasskey(fresh()), ...changes };
      expect(await contract().one.passkeys.add(passkey, 1)).toBe('added');
      return passkey;
    };
    const uses = (id: string, counters: readonly number[]) =>
      Promise.all(
        counters.map((counter, n) =>
          (n % 2 === 0 ? contract().one : contract().other).passkeys.use(id, {
            counter,
            backedUp: true,
            at: NOW + n,
          }),
        ),
      );

    test('WebAuthn section 6.1.1: each use is noted, with its counter and whether there is a copy', async () => {
      const { one, other } = contract();
      const passkey = await added({ counter: 3, backedUp: false });
      const first = { counter: 4, backedUp: true };
      expect(await other.passkeys.use(passkey.id, { ...first, at: NOW })).toBe('used');
      expect(await one.passkeys.get(passkey.id)).toEqual({ ...passkey, ...first, used_at: NOW });
      const second = { counter: 4_294_967_295, backedUp: false };
      expect(await one.passkeys.use(passkey.id, { ...second, at: NOW + 1 })).toBe('used');
      expect(await other.passkeys.get(passkey.id)).toEqual({
        ...passkey,
        ...first,
        ...second,
        used_at: NOW + 1,
      });
    });

    test('without a counter every use is accepted, even ten at once', async () => {
      const { id } = await added({ counter: 0 });
      expect(await uses(id, Array<number>(ATTEMPTS).fill(0))).toEqual(Array(ATTEMPTS).fill('used'));
      const noted = await contract().other.passkeys.get(id);
      expect(noted).toMatchObject({ counter: 0, used_at: NOW + ATTEMPTS - 1 });
      expect(noted).not.toHaveProperty('refused_at');
    });

    test('a counter that begins to count is accepted', async () => {
      const { id } = await added({ counter: 0 });
      expect(await contract().one.passkeys.use(id, { counter: 1, backedUp: true, at: NOW })).toBe(
        'used',
      );
      expect(await contract().other.passkeys.get(id)).toMatchObject({ counter: 1 });
    });

    test.each([7, 6, 1, 0])(
      'after the counter 7 the counter %d is refused; the time of the last use and all other members stay',
      async (counter) => {
        const { one, other } = contract();
        const passkey = await added({ counter: 7, used_at: NOW, backedUp: false });
        const use = { counter, backedUp: true, at: NOW + 5 };
        expect(await other.passkeys.use(passkey.id, use)).toBe('refused');
        expect(await one.passkeys.get(passkey.id)).toEqual({ ...passkey, refused_at: NOW + 5 });
        expect(await one.passkeys.use(passkey.id, { ...use, at: NOW + 1 })).toBe('refused');
        expect(await one.passkeys.use(passkey.id, { ...use, counter: 8, at: NOW - 1 })).toBe(
          'used',
        );
        expect(await other.passkeys.get(passkey.id)).toEqual({
          ...passkey,
          counter: 8,
          backedUp: true,
          used_at: NOW,
          refused_at: NOW + 5,
        });
      },
    );

    test('if ten uses have the same counter, one is accepted', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { id } = await added({ counter: round });
        const outcomes = await uses(id, Array<number>(ATTEMPTS).fill(round + 1));
        expect(outcomes.toSorted()).toEqual([
          ...Array<string>(ATTEMPTS - 1).fill('refused'),
          'used',
        ]);
        expect(await contract().one.passkeys.get(id)).toMatchObject({
          counter: round + 1,
          refused_at: expect.any(Number),
        });
      }
    });

    test('if ten counters come at once, the highest stays, and no counter is accepted twice', async () => {
      const { id } = await added({ counter: 1 });
      const counters = [5, 3, 9, 2, 11, 4, 8, 6, 10, 7];
      const outcomes = await uses(id, counters);
      expect(outcomes[counters.indexOf(11)]).toBe('used');
      expect(await contract().other.passkeys.get(id)).toMatchObject({ counter: 11 });
      const again = await uses(id, counters);
      expect(again).toEqual(counters.map(() => 'refused'));
    });
  });
}
