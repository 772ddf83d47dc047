import { describe, expect, test } from '@jest/globals';
import type { Contract } from '../store-under-test.ts';

export function lastBackupContract(contract: () => Contract): void {
  describe('the last good backup', () => {
    test('every process gets the backup time that was noted last, even if it is earlier', async () => {
      const { one, other, store } = contract();
      for (const at of [2000, 1000.7, 1_795_000_000_000]) {
        await one.lastBackup.note(at);
        expect(await other.lastBackup.get()).toBe(Math.floor(at));
      }
      await using later = await store.open();
      expect(await later.lastBackup.get()).toBe(1_795_000_000_000);
    });

    test('if ten backup times are noted at once, all processes get the same one', async () => {
      const { one, other } = contract();
      const times = Array.from({ length: 10 }, (_, n) => 5000 + n);
      await Promise.all(times.map((at) => (at % 2 === 0 ? one : other).lastBackup.note(at)));
      const last = await one.lastBackup.get();
      expect(times).toContain(last);
      expect(await other.lastBackup.get()).toBe(last);
    });
  });
}
