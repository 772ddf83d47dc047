import * as z from 'zod';
import { type House, Missing, operation } from '../operation.ts';
import { keyId } from './key-id.ts';
import { said } from '#shared/refusals/operations.ts';

export const removeKey = operation({
  name: 'key remove',
  summary: 'remove a key of an application; the next request with the key is refused',
  effect: 'changes',
  input: z.strictObject({ id: keyId }),
  operands: ['id'],
  output: z.strictObject({ id: z.string(), removed: z.literal(true) }),
  async run({ id }, house) {
    if (!(await remove(house, id))) throw new Missing(said('no-key', { id }));
    return { id, removed: true as const };
  },
});

/** A person's key does not belong to an application, so it is not removed here. */
async function remove({ stores, recorder }: House, id: string): Promise<boolean> {
  const ofApi = recorder.changing('apiKeys', { kind: 'api-key.removed', key: id });
  if (await ofApi.remove(id)) return true;
  const owner = (await stores.publicKeys.get(id))?.owner;
  if (owner?.kind !== 'application') return false;
  const removed = { kind: 'public-key.removed', key: id, client: owner.id } as const;
  return recorder.changing('publicKeys', removed).remove(id);
}
