import * as z from 'zod';
import { listKeys } from '#shared/keys/signing-key-lifecycle.ts';
import type { ScheduledKey } from '#shared/keys/signing-key-schedule.ts';
import { operation } from '../operation.ts';
import { pageIn, pageInput, pageOf } from '../page.ts';
import { gateway, lifeOf } from './signing-keys.ts';

const item = z.strictObject({
  kid: z.string(),
  alg: z.string(),
  state: z
    .enum(['published', 'signing', 'retiring', 'retired'])
    .describe('retiring: it signs no more, but what it signed still lives'),
  until: z.iso
    .datetime()
    .exactOptional()
    .describe('when its state changes next; absent: not before another rotation'),
});

/** A signing key as operators see it. */
export type ShownSigningKey = z.output<typeof item>;

export const listSigningKeys = operation({
  name: 'signing-keys list',
  summary: 'list the signing keys and the state of each',
  effect: 'reads',
  input: z.strictObject({ gateway, ...pageInput }),
  operands: [],
  output: pageOf(item),
  run: async ({ gateway: ofGateway, ...page }, house) => {
    const keys = await listKeys(await lifeOf(house, ofGateway));
    return pageIn(keys.map(shown), page, ({ kid }) => kid);
  },
});

const shown = ({ key: { kid, alg }, state, until }: ScheduledKey): ShownSigningKey => ({
  kid,
  alg,
  state,
  ...(until !== undefined && { until: new Date(until).toISOString() }),
});
