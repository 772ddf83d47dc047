import { recordOf } from '#shared/client-documents/record.ts';
import { keepRegistered, readDocument } from '#shared/operations/clients/client-from-document.ts';
import { Conflict, InputError } from '#shared/operations/operation.ts';
import { Failure } from '../arguments/command.ts';
import type { Item } from './step.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

/**
 * Returns the item of a client that a Client ID Metadata Document describes, registered as by `client add --document`.
 * The document is fetched at the first planning, before any transaction, so that no other process waits for its host.
 * If the client is registered already, the document is not fetched.
 */
export function documentItem(url: string): Item {
  let reading: ReturnType<typeof readDocument> | undefined;
  let isPlanned = false;

  return {
    async plan(house) {
      const was = await house.stores.clients.get(url);
      const isFirst = !isPlanned;
      isPlanned = true;
      if (was?.document?.registered === true) return undefined;
      if (isFirst) reading = readDocument(url, house);
      if (reading === undefined)
        throw new Conflict(saidOfFile('client-removed-meanwhile', { id: url }));
      const { document, fresh } = await reading.catch(refuse(url));
      const found = { now: house.clock.now(), fresh, was, registered: true } as const;
      return {
        change: {
          kind: 'client',
          name: url,
          change: was === undefined ? 'added' : 'changed',
          members: { document: { new: url } },
        },
        async run(held) {
          if (was === undefined) await held.stores.declared.add({ kind: 'client', id: url });
          await keepRegistered(recordOf(url, document, found), was, held);
        },
      };
    },
  };
}

/** The error message names the client in place of the member of `client add`. */
const refuse = (url: string) => (error: unknown) => {
  if (!(error instanceof InputError)) throw error;
  throw Failure.of(error, `the document ${url} ${error.message}`);
};
