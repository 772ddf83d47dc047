import * as z from 'zod';
import { fieldName, networks } from '#shared/base/members.ts';

const MIB = 1024 * 1024;

const octets = z
  .int()
  .min(MIB)
  .max(1024 ** 4);

/** The settings of the cache of an application's answers (RFC 9111). */
export const cacheSchema = z.strictObject({
  kind: z
    .enum(['shared', 'private'])
    .default('shared')
    .describe(
      '`shared`: the cache reuses an answer for all callers who may get it. `private`: the cache keeps separate answers for each person and client.',
    ),
  maxBytes: octets
    .default(64 * MIB)
    .describe(
      'Memory of the cache of a server, all workers together. One answer may use a quarter of it.',
    ),
  disk: z
    .strictObject({
      maxBytes: octets.describe('Disk space of the cache of a server, all workers together.'),
      longerThan: z
        .int()
        .min(0)
        .max(MIB)
        .default(65_536)
        .describe(
          'The cache keeps answers up to this size, in bytes, in memory only, so a restart deletes these answers.',
        ),
    })
    .optional()
    .describe(
      'Keeps answers that are longer than `longerThan` on disk, in `data/cache`. Such answers survive a restart.',
    ),
  heuristic: z
    .boolean()
    .default(false)
    .describe(
      'Also keeps answers whose only information about freshness is `Last-Modified`, for a tenth of their age (RFC 9111 section 4.2.2).',
    ),
  targeted: z
    .array(fieldName)
    .default(['CDN-Cache-Control'])
    .describe(
      'Answer fields that this cache obeys in place of Cache-Control. The cache uses the first of these fields that an answer has (RFC 9213).',
    ),
  purge: z
    .strictObject({
      networks: networks
        .default([])
        .describe('Addresses and networks that need no credentials for PURGE and BAN.'),
    })
    .optional()
    .describe('Turns PURGE and BAN on.'),
});

export type CacheConfig = z.infer<typeof cacheSchema>;

/**
 * The name of a space in invalidations. It has no origin, since both origins of a space lead to the same application.
 */
export const cacheName = (url: string) => new URL(url).pathname;
