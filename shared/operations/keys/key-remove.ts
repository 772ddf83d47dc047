import { z } from 'zod';
import type { Stores } from '#shared/stores/stores.ts';
import { Missing, operation } from '../operation.ts';
import { keyId } from './key-id.ts';

export const removeKey = operation({
  name: 'key remove',
  summary: 'remove a key of an application; the next request with it is refused',
  effect: 'changes',
  input: z.strictObject({ id: keyId }),
  operands: ['id'],
  output: z.strictObject({ id: z.string(), removed: z.literal(true) }),
  async run({ id }, { stores }) {
    if (!(await remove(stores, id))) throw new Missing(`there is no key ${id}`);
    return { id, removed: true as const };
  },
});

/** The key of a person is none of an application. */
async function remove({ apiKeys, publicKeys }: Stores, id: string): Promise<boolean> {
  if (await apiKeys.remove(id)) return true;
  const owner = (await publicKeys.get(id))?.owner;
  return owner?.kind === 'application' && publicKeys.remove(id);
}
