import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { every } from './chore.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('an outage of the store gives one log line for each background task, any other failure one line for each run', async () => {
  const lines: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (event: string, fields?: object) => void lines.push([event, fields]),
  };
  const away = new StoreUnavailable('away');
  const failures = [away, away, undefined, away, new Error('odd'), new Error('odd'), away];
  const run = async () => {
    const failure = failures.shift();
    if (failure) throw failure;
  };
  using _ = every({ name: 'keys', seconds: 1, run }, log);
  await jest.advanceTimersByTimeAsync(8_000);
  const said = (reason: string) => ['keys', { reason }];
  expect(lines).toEqual([
    said('StoreUnavailable: away'),
    said('StoreUnavailable: away'),
    said('Error: odd'),
    said('Error: odd'),
    said('StoreUnavailable: away'),
  ]);
});
