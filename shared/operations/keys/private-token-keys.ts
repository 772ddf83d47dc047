import * as z from 'zod';
import { listTokenKeys } from '#shared/keys/token-key-lifecycle.ts';
import type { ScheduledTokenKey } from '#shared/keys/token-key-schedule.ts';
import { TOKEN_TYPES } from '#shared/private-token/token-types.ts';
import { operation } from '../operation.ts';
import { pageIn, pageInput, pageOf } from '../page.ts';
import { tokenKeyLife } from './token-keys.ts';
import { tokenTypeName } from './token-type.ts';

const item = z.strictObject({
  id: z.string(),
  type: tokenTypeName,
  state: z
    .enum(['published', 'issuing', 'retiring', 'retired'])
    .describe('retiring: a newer key has replaced this key, which is still valid'),
  not_before: z.iso.datetime().describe('when the key first issues tokens'),
  until: z.iso
    .datetime()
    .exactOptional()
    .describe('when the tokens of the key expire; absent: the tokens have expired'),
});

/** A key of the PrivateToken issuer as operators see it. */
export type ShownTokenKey = z.output<typeof item>;

export const listPrivateTokenKeys = operation({
  name: 'private-token keys',
  summary: 'list the keys of the PrivateToken issuer and the state of each',
  effect: 'reads',
  input: z.strictObject(pageInput),
  operands: [],
  output: pageOf(item),
  run: async (page, house) => {
    const keys = await listTokenKeys(await tokenKeyLife(house));
    return pageIn(keys.map(shown), page, ({ id }) => id);
  },
});

/** `until` is left out for a retired key, which is no longer valid whatever its row says. */
const shown = ({ key, state, until }: ScheduledTokenKey): ShownTokenKey => ({
  id: key.id,
  type: TOKEN_TYPES[key.type].name,
  state,
  not_before: new Date(key.notBefore).toISOString(),
  ...(state !== 'retired' && { until: new Date(until).toISOString() }),
});
