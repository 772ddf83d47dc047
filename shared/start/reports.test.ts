import type { Worker } from 'node:cluster';
import { expect, test } from '@jest/globals';
import { createMetrics } from '#shared/server/metrics/metrics.ts';
import { textOf } from '#shared/server/metrics/text-format.js';
import { Reports } from './reports.js';

type Behaviour = 'answers' | 'hangs' | 'is gone';

/** Two workers that count refused connections, and what a scrape says. */
function together() {
  const reports = new Reports('authz');
  const workers = [1, 2].map((number) => {
    const metrics = createMetrics('authz', number);
    let behaviour: Behaviour = 'answers';
    const worker = {
      send(_: unknown, sent: (error: Error | null) => void) {
        if (behaviour === 'is gone') sent(new Error('channel closed'));
        if (behaviour === 'answers') reports.hear(worker, structuredClone(metrics.report()));
      },
    } as unknown as Worker;
    return {
      worker,
      count: (amount: number) => metrics.count('connectionsRefused', amount),
      becomes: (how: Behaviour) => (behaviour = how),
    };
  });
  const [one, two] = workers as [(typeof workers)[0], (typeof workers)[0]];
  let running = new Map<number, Worker | undefined>(
    workers.map(({ worker }, index) => [index + 1, worker]),
  );
  async function scrape(): Promise<readonly string[]> {
    const text = textOf(await reports.collect(running));
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  }
  const ends = (worker: Worker) => {
    reports.end(worker);
    running = new Map([...running].map(([number, it]) => [number, it === worker ? undefined : it]));
  };
  return { reports, one, two, scrape, ends };
}

const REFUSED = 'countersign_connections_refused_total{server="authz"}';
const up = (worker: number, value: number) =>
  `countersign_worker_up{server="authz",worker="${worker}"} ${value}`;

test('counters of all workers are summed', async () => {
  const { one, two, scrape } = together();
  one.count(2);
  two.count(3);
  expect(await scrape()).toEqual([`${REFUSED} 5`, up(1, 1), up(2, 1)]);
});

test('a worker that hangs holds nobody up: it is named, and its last numbers count', async () => {
  const { one, two, scrape } = together();
  one.count(2);
  two.count(3);
  await scrape();
  one.count(1);
  two.count(1);
  two.becomes('hangs');
  expect(await scrape()).toEqual([`${REFUSED} 6`, up(1, 1), up(2, 0)]);
});

test('a counter never goes back when a worker dies, and dead workers are counted once', async () => {
  const { reports, one, two, scrape, ends } = together();
  one.count(2);
  two.count(3);
  await scrape();
  ends(two.worker);
  expect(await scrape()).toEqual([`${REFUSED} 5`, up(1, 1), up(2, 0)]);
  ends(one.worker);
  expect(await scrape()).toEqual([`${REFUSED} 5`, up(1, 0), up(2, 0)]);
  // It had ended before, so that it has nothing to add.
  reports.end(one.worker);
  expect(await scrape()).toEqual([`${REFUSED} 5`, up(1, 0), up(2, 0)]);
});

test('a worker that cannot be asked, or that ends while it is asked, holds nobody up', async () => {
  const { one, two, scrape, ends } = together();
  one.count(2);
  one.becomes('is gone');
  two.becomes('hangs');
  const scraping = scrape();
  ends(two.worker);
  expect(await scraping).toEqual([up(1, 0), up(2, 0)]);
});

test('before the first scrape there is nothing but who is there', async () => {
  const { scrape } = together();
  expect(await scrape()).toEqual([up(1, 1), up(2, 1)]);
});
