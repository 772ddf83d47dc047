import { hostname } from 'node:os';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { processChore } from './process-chore.ts';

test('the first report checks only the store, later reports check the whole server, and the last report says that the process has ended', async () => {
  const asked: string[] = [];
  const reports: string[] = [];
  const answer = (name: string, well: boolean) => () => {
    asked.push(name);
    return well ? Promise.resolve() : Promise.reject(new Error(name));
  };
  const chore = processChore(
    'resource',
    { store: answer('store', true), ready: answer('keys of the issuer', false) },
    {
      stores: {
        cacheReports: {
          put: (_process: string, report: string) => {
            reports.push(report);
            return Promise.resolve();
          },
        } as never,
      },
      clock: new ManualClock(),
      random: systemRandom,
    },
  );
  await chore.run();
  await chore.run();
  await chore.run();
  await chore.end();
  await chore.run();
  expect(asked.slice(0, 3)).toEqual(['store', 'keys of the issuer', 'keys of the issuer']);
  expect(reports.map((report) => report.includes('"ended":true'))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  expect(reports.every((report) => report.includes(`"host":"${hostname()}"`))).toBe(true);
  expect(reports.map((report) => /"ready":(true|false)/.exec(report)?.[1])).toEqual([
    'true',
    'false',
    'false',
    'false',
  ]);
});
