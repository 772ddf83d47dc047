import { type CacheReports, REPORT_LIFE } from '../../cache/cache-reports.ts';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { milliseconds } from '../connection/milliseconds.ts';

/** KEYS: the processes, scored by when each reported; each names the key of its report. */
const key = `local function key(process) return KEYS[1] .. ':' .. process end
`;

/** ARGV: process, report, milliseconds. Drops the processes that have not reported for so long. */
const put = script(`${key}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', key(ARGV[1]), ARGV[2], 'PX', ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[3]))
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
`);

/** Replies with processes and their reports in turn. */
const all = script(`${key}
local reports = {}
for _, process in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local report = redis.call('GET', key(process))
  if report then
    reports[#reports + 1] = process
    reports[#reports + 1] = report
  end
end
return reports
`);

/** `{prefix:cache-reports}` and, with `:{process}` after it, the reports. Waits for no replica: the next one comes soon. */
export function redisCacheReports(redis: Connection, prefix: string): CacheReports {
  const processes = `{${prefix}:cache-reports}`;
  return {
    async put(process, report) {
      await redis.script(put, [processes], process, report, milliseconds(REPORT_LIFE));
    },
    async all() {
      const found = await redis.script<string[]>(all, [processes]);
      const reports = new Map<string, string>();
      for (let n = 0; n + 1 < found.length; n += 2) reports.set(found[n] ?? '', found[n + 1] ?? '');
      return reports;
    },
  };
}
