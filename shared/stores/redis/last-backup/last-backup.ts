import type { LastBackup } from '../../last-backup/last-backup.ts';
import type { Connection } from '../connection/connection.ts';

/** The key `{prefix:last-backup}`. */
export function redisLastBackup(redis: Connection, prefix: string): LastBackup {
  const key = `{${prefix}:last-backup}`;
  return {
    async note(at) {
      await redis.durableCommand('SET', key, String(Math.floor(at)));
    },
    async get() {
      const at = await redis.command<string | null>('GET', key);
      return at === null ? undefined : Number(at);
    },
  };
}
