import { describe, expect, test } from '@jest/globals';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function sessionsContract(contract: () => Contract): void {
  describe('sessions', () => {
    test('RFC 7804 section 5: the state of an exchange is kept under an unguessable id', async () => {
      const { one, other } = contract();
      const value = { nonce: 'fyko+d2lbbFgONRv9qkxdawL', legs: [1, 2], text: 'ä\u0000😀' };
      const id = await one.sessions.put(value, 60);
      expect(Buffer.from(id, 'base64url').length).toBeGreaterThanOrEqual(16);
      expect(await one.sessions.put(value, 60)).not.toBe(id);
      expect(await other.sessions.get(id)).toEqual(value);
      expect(await one.sessions.get(id)).toEqual(value);
    });

    test('a session that is put with an id replaces the session of this id, with the new lifetime', async () => {
      const { one, other, store } = contract();
      const id = fresh();
      expect(await one.sessions.put('first', 60, id)).toBe(id);
      await store.passSeconds(30);
      expect(await other.sessions.put('second', 60, id)).toBe(id);
      expect(await one.sessions.get(id)).toBe('second');
      await store.passSeconds(45);
      expect(await one.sessions.get(id)).toBe('second');
      expect(await one.sessions.take(id)).toBe('second');
      expect(await other.sessions.get(id)).toBeUndefined();
    });

    test('`take` returns a session and removes it', async () => {
      const { one, other } = contract();
      const id = await one.sessions.put({ leg: 1 }, 60);
      expect(await other.sessions.take(id)).toEqual({ leg: 1 });
      expect(await one.sessions.take(id)).toBeUndefined();
      expect(await one.sessions.get(id)).toBeUndefined();
    });

    test('a session with an unknown id, however odd, is not found', async () => {
      const { one } = contract();
      for (const id of [fresh(), '', '*', "' OR 1=1 --", '\u0000', 'x'.repeat(10_000)]) {
        expect(await one.sessions.get(id)).toBeUndefined();
        expect(await one.sessions.take(id)).toBeUndefined();
      }
    });

    test('an expired session is not found, whether or not it was swept', async () => {
      const { one, store } = contract();
      const [read, taken] = [await one.sessions.put(1, 60), await one.sessions.put(2, 60)];
      await store.passSeconds(30);
      expect(await one.sessions.get(read)).toBe(1);
      await store.passSeconds(60);
      expect(await one.sessions.get(read)).toBeUndefined();
      expect(await one.sessions.take(taken)).toBeUndefined();
    });
  });
}
