import { clientLines, shownClient } from '../client-lines.ts';
import type { Command } from '../command.ts';
import { findClient } from '../find-client.ts';
import { withStores } from '../with-stores.ts';

export const clientShow: Command = {
  name: 'client show',
  store: 'opens',
  summary: 'show what a client may do, and until when an old secret of it is good',
  operands: ['CLIENT'],
  run: ({ operands: [id = ''] }, shell) =>
    withStores(shell, async ({ clients }) => {
      const client = await findClient(clients, id);
      return { json: shownClient(client), lines: clientLines(client) };
    }),
};
