import { type CacheReports, REPORT_LIFE } from '../../cache/cache-reports.ts';
import { type Connection, script } from '../connection/connection.ts';
import { milliseconds } from '../connection/milliseconds.ts';

/** KEYS: processes by the time of their last report, and the report of one. ARGV: the process, report, milliseconds. */
const put = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[3]))
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
`);

/** The keys are `{prefix:cache-reports}` and `{prefix:cache-reports}:{process}`. No write waits for replicas. */
export function redisCacheReports(redis: Connection, prefix: string): CacheReports {
  const processes = `{${prefix}:cache-reports}`;
  const keyOf = (process: string) => `${processes}:${process}`;
  return {
    async put(process, report) {
      const keys = [processes, keyOf(process)] as const;
      await redis.script(put, keys, process, report, milliseconds(REPORT_LIFE));
    },
    async all() {
      const known = await redis.command<string[]>('ZRANGE', processes, '0', '-1');
      const [first, ...others] = known.map(keyOf);
      if (first === undefined) return new Map();
      const reports = await redis.command<(string | null)[]>('MGET', first, ...others);
      return new Map(
        known.flatMap((process, n) => {
          const report = reports[n];
          return report == null ? [] : [[process, report] as const];
        }),
      );
    },
  };
}
