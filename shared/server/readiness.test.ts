import { beforeEach, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { Outage } from '#shared/stores/outage/outage.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { RevocationView } from '#shared/stores/revocation/revocations.ts';
import { createReady } from './readiness.ts';

const VIEW = {} as RevocationView;

let clock: ManualClock;
let lines: string[];
let store: Outage;
let isDown: boolean;
let isCutOff: boolean;
beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  [isDown, isCutOff] = [false, false];
  store = new Outage('PostgreSQL', log, () => clock.monotonic());
});

const note = (event: string, { part }: LogFields = {}) => lines.push(`${event} ${part}`);
const log = { ...silentLog, warn: note, error: note };

const readiness = (isNew = false) =>
  createReady({
    stores: {
      ping: async () => {
        if (!isDown) return store.worked();
        const error = new StoreUnavailable('down');
        store.failed(error);
        throw error;
      },
      check: () => store.check(),
    },
    feed: {
      latest: () => {
        if (isCutOff) throw new StoreUnavailable('no verdict');
        return VIEW;
      },
    },
    log,
    monotonic: () => clock.monotonic(),
    isNew,
  });

/** Returns for each second from now on whether the server is ready. */
async function asked(ready: ReturnType<typeof readiness>, seconds: number): Promise<boolean[]> {
  const told: boolean[] = [];
  for (let second = 0; second < seconds; second += 1) {
    told.push(
      await ready().then(
        () => true,
        () => false,
      ),
    );
    clock.advance(1);
  }
  return told;
}

test('an outage of the store gives one log line, and its end another one', async () => {
  const ready = readiness();
  expect(await asked(ready, 2)).toEqual([true, true]);
  isDown = true;
  expect(await asked(ready, 3)).toEqual([false, false, false]);
  isDown = false;
  const told = await asked(ready, 20);
  expect(told.slice(-10)).not.toContain(false);
  expect(lines).toEqual(['store.failing PostgreSQL', 'store.working PostgreSQL']);
});

test('the readiness check reports a failure that no part of the store has reported', async () => {
  const ready = readiness();
  await asked(ready, 1);
  isCutOff = true;
  await asked(ready, 3);
  isCutOff = false;
  await asked(ready, 10);
  expect(lines).toEqual(['store.failing readiness', 'store.working readiness']);
});

test('a server whose store is new is not ready, and reports no failure', async () => {
  const ready = readiness(true);
  isCutOff = true;
  expect(await asked(ready, 2)).toEqual([false, false]);
  isCutOff = false;
  expect(await asked(ready, 1)).toEqual([true]);
  expect(lines).toEqual([]);
});
