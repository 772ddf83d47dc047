import * as z from 'zod';
import { banMembers } from '#shared/http/ban-rule.ts';
import { InputError, operation } from '../operation.ts';
import { cachedUrl, soft } from './cache-members.ts';
import { cachedAddress } from './cached-space.ts';
import { said } from '#shared/refusals/operations.ts';

const { path, tag, status } = banMembers.shape;

export const banCached = operation({
  name: 'cache ban',
  summary: 'remove stored answers of a space by path, tag or status from all caches',
  effect: 'changes',
  input: z.strictObject({
    url: cachedUrl,
    path: path.describe('answers of this path below the space, such as "/images/*" or "*.png"'),
    tag: tag.describe('answers with this tag from the application (Surrogate-Key, Cache-Tag)'),
    status: status.describe('answers with this status: 404, 5xx'),
    soft,
  }),
  operands: ['url'],
  output: z.strictObject({
    space: z.string().describe('the path of the space'),
    banned: z.strictObject({
      path: z.string().optional(),
      tag: z.string().optional(),
      status: z.string().optional(),
    }),
    soft: z.boolean(),
  }),
  check({ url, ...given }, config) {
    if ([given.path, given.tag, given.status].every((member) => member === undefined)) {
      throw new InputError([], said('empty-ban'));
    }
    cachedAddress(config, url);
  },
  async run({ url, soft: isSoft, ...rule }, { config, recorder }) {
    const { space } = cachedAddress(config, url);
    const value = JSON.stringify(rule);
    const event = { kind: 'cache.banned', count: 1 } as const;
    await recorder
      .changing('invalidations', event)
      .add([{ space, kind: 'ban', value, soft: isSoft }]);
    return { space, banned: rule, soft: isSoft };
  },
});
