import * as z from 'zod';
import { withRights } from '#shared/client-documents/record.ts';
import { operation } from '../operation.ts';
import { clientId } from './client-id.ts';
import { clientSchema, shownClient } from './client-shown.ts';
import { findClient } from './find-client.ts';

export const showClient = operation({
  name: 'client show',
  summary: 'show the settings of a client, and how long its old secret stays valid',
  effect: 'reads',
  input: z.strictObject({ client_id: clientId }),
  operands: ['client_id'],
  output: clientSchema,
  async run({ client_id: id }, { stores: { clients }, config }) {
    const client = await findClient(clients, id);
    return shownClient(client.document ? withRights(config, client) : client);
  },
});
