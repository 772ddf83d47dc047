import type { Stores } from '#shared/stores/stores.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { withStores } from '../stores/with-stores.ts';

export const keyRemove: Command = {
  name: 'key remove',
  store: 'opens',
  summary: 'remove a key of an application; the next request with it is refused',
  operands: ['ID'],
  run: ({ operands: [id = ''] }, shell) =>
    withStores(shell, async (stores) => {
      if (!(await remove(stores, id))) throw new Failure(`there is no key ${id}`);
      return { json: { id, removed: true }, lines: [`Removed the key ${id}.`] };
    }),
};

async function remove({ apiKeys, publicKeys }: Stores, id: string): Promise<boolean> {
  if (await apiKeys.remove(id)) return true;
  const owner = (await publicKeys.get(id))?.owner;
  return owner?.kind === 'application' && publicKeys.remove(id);
}
