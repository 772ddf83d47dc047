import * as z from 'zod';
import { untoldApplications, untoldClient } from '#shared/people/access/untold.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** The member that names the applications where sessions of a person may go on for now. */
export const untoldShown = {
  untold: z
    .array(z.string())
    .exactOptional()
    .describe('names of the applications that the server could not tell yet of the end'),
};

/** Returns the member about a person, or about a client, whose sessions have ended. */
export async function untold(
  stores: Pick<Stores, 'logouts' | 'clients'>,
  id: string,
  of: 'person' | 'client' = 'person',
): Promise<{ readonly untold?: string[] }> {
  const names = await (of === 'person' ? untoldApplications : untoldClient)(stores, id);
  return names.length > 0 ? { untold: [...names] } : {};
}
