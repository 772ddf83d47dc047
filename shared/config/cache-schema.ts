import { z } from 'zod';
import { fieldName, networks } from '#shared/base/members.ts';

const MIB = 1024 * 1024;

const octets = z
  .int()
  .min(MIB)
  .max(1024 ** 4);

/** What the gateway keeps of an application's answers (RFC 9111). */
export const cacheSchema = z.strictObject({
  kind: z
    .enum(['shared', 'private'])
    .default('shared')
    .describe(
      'shared: an answer is kept for all whom it may be given to; private: for each person and application apart',
    ),
  maxBytes: octets
    .default(64 * MIB)
    .describe('in memory, of a server, all its workers together; one answer has a quarter at most'),
  disk: z
    .strictObject({
      maxBytes: octets.describe('all workers of a server together'),
      longerThan: z
        .int()
        .min(0)
        .max(MIB)
        .default(65_536)
        .describe('bytes; answers up to this are kept in memory alone, and gone after a restart'),
    })
    .optional()
    .describe(
      'answers that are longer than longerThan are kept in data/cache, where they survive a restart',
    ),
  heuristic: z
    .boolean()
    .default(false)
    .describe(
      'also keeps what says only when it was last modified, for a tenth of that time (RFC 9111 section 4.2.2)',
    ),
  targeted: z
    .array(fieldName)
    .default(['CDN-Cache-Control'])
    .describe(
      'fields of answers that hold for this cache in place of Cache-Control; the first one that is there counts (RFC 9213)',
    ),
  purge: z
    .strictObject({
      networks: networks
        .default([])
        .describe('whoever comes from there needs no credentials for PURGE and BAN'),
    })
    .optional()
    .describe('PURGE and BAN are answered here; without this they are not'),
});

export type CacheConfig = z.infer<typeof cacheSchema>;

/** As invalidations name a space: its two origins, where it has them, have one application behind them. */
export const cacheName = (url: string) => new URL(url).pathname;
