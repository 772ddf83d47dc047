import * as z from 'zod';
import { byOctets } from '#shared/base/name-range.ts';
import { hasWords, rarestKeyOf } from '#shared/base/word-keys.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { operation } from '../operation.ts';
import { pageFrom, pageInput, pageOf } from '../page.ts';
import { clientSchema, shownClient } from './client-shown.ts';

export const listClients = operation({
  name: 'client list',
  summary: 'list the registered clients',
  effect: 'reads',
  input: z.strictObject({
    search: z
      .string()
      .max(512)
      .optional()
      .describe('only clients whose client_id, or a word of whose name, begins with this'),
    ...pageInput,
  }),
  operands: [],
  output: pageOf(clientSchema),
  async run({ search = '', after = '', limit }, { stores: { clients } }) {
    const word = rarestKeyOf(search);
    const [byId, byName] = await Promise.all([
      clients.page({ after, prefix: search, limit: limit + 1 }),
      word === undefined ? [] : clients.searchBeginning(word),
    ]);
    const isNamed = ({ client_id: id, client_name: name }: ClientRecord) =>
      byOctets(id, after) > 0 && hasWords(name, search);
    const rows = new Map([...byId, ...byName.filter(isNamed)].map((row) => [row.client_id, row]));
    const inOrder = [...rows.values()].toSorted((a, b) => byOctets(a.client_id, b.client_id));
    return pageFrom(inOrder.map(shownClient), limit, ({ client_id: id }) => id);
  },
});
