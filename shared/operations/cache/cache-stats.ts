import * as z from 'zod';
import { spaceReport } from '#shared/stores/cache/reports.ts';
import { operation } from '../operation.ts';
import { pageIn, pageInput, pageOf } from '../page.ts';
import { cacheReports } from './cache-reports.ts';

const item = z.strictObject({ process: z.string(), ...spaceReport.shape });

/** A cache of a process as operators see it. */
export type ShownCache = z.output<typeof item>;

export const showCaches = operation({
  name: 'cache stats',
  summary: 'show the size and the hits of each cache, in each process',
  effect: 'reads',
  input: z.strictObject(pageInput),
  operands: [],
  output: pageOf(item),
  async run(page, { stores }) {
    const reports = await cacheReports(stores.cacheReports);
    const all = reports.flatMap(({ process, report }) =>
      report.map((space) => ({ process, ...space })),
    );
    return pageIn(all, page, ({ process, origin, space }) => `${process} ${origin}${space}`);
  },
});
