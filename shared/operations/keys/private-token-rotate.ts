import * as z from 'zod';
import { replaceCompromisedTokenKeys, rotateTokenKey } from '#shared/keys/token-key-lifecycle.ts';
import { tokenTypeNamed } from '#shared/private-token/token-types.ts';
import { operation } from '../operation.ts';
import { tokenKeyLife } from './token-keys.ts';
import { tokenTypeName } from './token-type.ts';

export const rotatePrivateTokenKey = operation({
  name: 'private-token rotate',
  summary: 'replace a key of the PrivateToken issuer before the schedule does',
  effect: 'changes',
  input: z.strictObject({
    type: tokenTypeName,
    compromised: z
      .boolean()
      .default(false)
      .describe('the keys may have leaked: refuse all tokens of these keys at once'),
  }),
  operands: [],
  output: z.strictObject({
    ended: z.array(z.string()).exactOptional().describe('the ids of the keys that were dropped'),
    id: z.string().describe('that of the new key'),
    type: tokenTypeName,
    not_before: z.iso.datetime().exactOptional().describe('when it issues first; absent: at once'),
  }),
  async run({ type, compromised }, house) {
    const life = await tokenKeyLife(house);
    if (!compromised) {
      const { id, notBefore } = await rotateTokenKey(life, tokenTypeNamed(type));
      return { id, type, not_before: new Date(notBefore).toISOString() };
    }
    const { ended, key } = await replaceCompromisedTokenKeys(life, tokenTypeNamed(type));
    return { ended: ended.map(({ id }) => id), type, id: key.id };
  },
});
