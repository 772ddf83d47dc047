import { describe, expect, test } from '@jest/globals';
import type { Contract } from '../store-under-test.ts';

export function lastBackupContract(contract: () => Contract): void {
  describe('the last good backup', () => {
    test('is the one that was noted last, also of an earlier time, for every process', async () => {
      const { one, other, store } = contract();
      for (const at of [2000, 1000.7, 1_795_000_000_000]) {
        await one.lastBackup.note(at);
        expect(await other.lastBackup.get()).toBe(Math.floor(at));
      }
      await using later = await store.open();
      expect(await later.lastBackup.get()).toBe(1_795_000_000_000);
    });

    test('is one of ten that are noted at once', async () => {
      const { one, other } = contract();
      const times = Array.from({ length: 10 }, (_, n) => 5000 + n);
      await Promise.all(times.map((at) => (at % 2 === 0 ? one : other).lastBackup.note(at)));
      const last = await one.lastBackup.get();
      expect(times).toContain(last);
      expect(await other.lastBackup.get()).toBe(last);
    });
  });
}
