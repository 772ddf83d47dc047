import { expect, test } from '@jest/globals';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { format } from '../report.ts';
import { measureLists, queriesOf } from './lists.ts';

const WHOLE = { people: 100_000, clients: 10_000, events: 1_000_000 };
const FEW = { people: 300, clients: 120, events: 1_000 };

/** `LISTS=whole npm run test:bench -- e2e/bench/lists` takes two minutes, and prints the table. */
const isWhole = process.env['LISTS'] === 'whole';
const LONGEST = 3_600_000;

test('every reading operation has a query', () => {
  const reading = OPERATIONS.filter(({ effect }) => effect === 'reads').map(({ name }) => name);
  expect(Object.keys(queriesOf(FEW)).toSorted()).toEqual(reading.toSorted());
});

test(
  'each query and its page gets an answer on each store, and its cost is measured',
  async () => {
    const told: string[] = [];
    const findings = await measureLists(isWhole ? WHOLE : FEW, (text) => {
      told.push(text);
      if (isWhole) process.stderr.write(`${text}\n`);
    });
    expect(told.at(-1)).toMatch(/^PostgreSQL, Redis: (\d+) of \1 links of events$/);
    const rows = findings.tables.flatMap((table) => table.rows);
    const asked = Object.values(queriesOf(FEW)).flat().length;
    expect(rows).toHaveLength(3 * asked);
    for (const row of rows) expect(row['page ms']).toBeGreaterThan(0);
    if (isWhole) process.stdout.write(`${format(findings)}\n`);
  },
  LONGEST,
);
