import * as z from 'zod';
import { operation } from '../operation.ts';
import { pageFrom, pageInput, pageOf } from '../page.ts';
import { clientSchema, shownClient } from './client-shown.ts';

export const listClients = operation({
  name: 'client list',
  summary: 'list the registered clients',
  effect: 'reads',
  input: z.strictObject({
    prefix: z
      .string()
      .max(512)
      .optional()
      .describe('only clients whose client_id begins with this'),
    ...pageInput,
  }),
  operands: [],
  output: pageOf(clientSchema),
  run: async ({ limit, ...range }, { stores: { clients } }) => {
    const rows = await clients.page({ ...range, limit: limit + 1 });
    return pageFrom(rows.map(shownClient), limit, ({ client_id: id }) => id);
  },
});
