import * as z from 'zod';
import { operation } from '../operation.ts';

export const showRevocationStatus = operation({
  name: 'revocation status',
  summary: 'show the revocation feed as a resource server that starts now would read it',
  effect: 'reads',
  input: z.strictObject({}),
  operands: [],
  output: z.strictObject({
    entries: z.int(),
    epoch: z
      .string()
      .exactOptional()
      .describe('absent: no authorization server has used this store yet'),
    cursor: z.string().describe('the position in the feed'),
    silence: z.number().describe('milliseconds since the last answer of the store'),
    trusted: z.boolean().describe('false: resource servers answer 503'),
  }),
  run: async (_, { stores: { revocations } }) => {
    await using feed = await revocations.feed();
    const { epoch, ...status } = feed.status();
    return { ...status, ...(epoch !== undefined && { epoch }) };
  },
});
