import { endAccessOfClient } from '#shared/operations/clients/client-end.ts';
import { commandOf } from '../stores/of-operation.ts';

export const clientEnd = commandOf(endAccessOfClient, {
  details: ['`client access CLIENT` lists the ids.'],
  lines: ({ client_id: id, grant }) => [
    grant === undefined
      ? `Everything that people had allowed ${id} has ended, and so have all of its tokens. A session of its own may go on.`
      : `The grant ${grant} of ${id} has ended.`,
  ],
});
