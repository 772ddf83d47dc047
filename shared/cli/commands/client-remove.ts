import { longestLife, rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { Command } from '../arguments/command.ts';
import { findClient } from '../clients/find-client.ts';
import { withStores } from '../stores/with-stores.ts';

/**
 * The generation is raised before the removal, so that a crash between them leaves no living token,
 * and again after it, for a token that was issued between them.
 */
export const clientRemove: Command = {
  name: 'client remove',
  store: 'opens',
  summary: 'remove a client; the next request with one of its tokens is refused',
  operands: ['CLIENT'],
  run: ({ operands: [id = ''] }, shell) =>
    withStores(shell, async ({ clients, revocations }, config) => {
      const { client_name: name } = await findClient(clients, id);
      const until = rememberUntil(shell.clock.now(), longestLife(config));
      await revocations.raise('client', id, until);
      await clients.remove(id);
      await revocations.raise('client', id, until);
      return { json: { client_id: id, removed: true }, lines: [`Removed ${id} (${name}).`] };
    }),
};
