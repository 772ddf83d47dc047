import { recordOf } from '#shared/client-documents/record.ts';
import { keepRegistered, readDocument } from '#shared/operations/clients/client-from-document.ts';
import { Conflict, InputError } from '#shared/operations/operation.ts';
import { Failure } from '../arguments/command.ts';
import type { Item } from './step.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

/**
 * A client that its document describes, registered as `client add --document` does it. The document is fetched when the
 * item is planned first, before any transaction: others must not wait for its host. One that is registered is not fetched.
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

/** In place of the member of `client add`, the message names the client. */
const refuse = (url: string) => (error: unknown) => {
  if (!(error instanceof InputError)) throw error;
  throw Failure.of(error, `the document ${url} ${error.message}`);
};
