import { hash } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { SpentTokens } from '../../authentication/spent-tokens.ts';
import type { Database } from '../sql.ts';

export function sqlSpentTokens(database: Database, clock: Clock): SpentTokens {
  return {
    spend: (token, until) =>
      database.write(async (sql) => {
        const now = clock.now();
        if (until <= now) return false;
        const inserted = await sql.last.run(
          `INSERT INTO spent_token (digest, until) VALUES (?1, ?2)
           ON CONFLICT (digest) DO UPDATE SET until = ?2 WHERE spent_token.until <= ?3`,
          hash('sha256', token, 'buffer'),
          // Rounded up, so that the rows do not tell which of two tokens was first.
          Math.ceil(until / 1000) * 1000,
          now,
        );
        return inserted === 1;
      }),
  };
}
