import * as z from 'zod';
import { groupOf } from '#shared/http/spelling.ts';
import { operation } from '../operation.ts';
import { SPELLINGS } from '../texts.ts';
import { cachedUrl, soft } from './cache-members.ts';
import { cachedAddress } from './cached-space.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

export const purgeCached = operation({
  name: 'cache purge',
  summary: 'remove all stored answers of a URL from all caches',
  effect: 'changes',
  input: z.strictObject({
    urls: z
      .array(cachedUrl)
      .min(1, fault(said('too-few', { least: 1 })))
      .max(1000, fault(said('too-many', { most: 1000 })))
      .register(SPELLINGS, { value: 'URL' }),
    soft,
  }),
  operands: ['urls'],
  output: z.array(
    z.strictObject({
      space: z.string().describe('the path of the space'),
      target: z.string().describe('path and query, in the spelling of the caches'),
      soft: z.boolean(),
    }),
  ),
  check: ({ urls }, config) => {
    for (const url of urls) cachedAddress(config, url);
  },
  async run({ urls, soft: isSoft }, { config, recorder }) {
    const purged = urls.map((url) => {
      const { space, target } = cachedAddress(config, url);
      return { space, target: groupOf(target), soft: isSoft };
    });
    const event = { kind: 'cache.purged', count: purged.length } as const;
    await recorder
      .changing('invalidations', event)
      .add(purged.map(({ target, ...one }) => ({ ...one, kind: 'target', value: target })));
    return purged;
  },
});
