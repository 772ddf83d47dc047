import { clientLines, shownClient } from '../clients/client-lines.ts';
import type { Command } from '../arguments/command.ts';
import { findClient } from '../clients/find-client.ts';
import { withStores } from '../stores/with-stores.ts';

export const clientShow: Command = {
  name: 'client show',
  store: 'opens',
  summary: 'show the settings of a client, and how long its old secret stays valid',
  operands: ['CLIENT'],
  run: ({ operands: [id = ''] }, shell) =>
    withStores(shell, async ({ clients }) => {
      const client = await findClient(clients, id);
      return { json: shownClient(client), lines: clientLines(client) };
    }),
};
