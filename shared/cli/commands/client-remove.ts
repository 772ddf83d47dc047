import { removeClient } from '#shared/operations/clients/client-remove.ts';
import { commandOf } from '../stores/of-operation.ts';

export const clientRemove = commandOf(removeClient, {
  lines: ({ client_id: id, client_name: name }) => [`Removed ${id} (${name}).`],
});
