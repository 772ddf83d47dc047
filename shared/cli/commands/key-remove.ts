import { type Command, Failure } from '../command.ts';
import { withStores } from '../with-stores.ts';

export const keyRemove: Command = {
  name: 'key remove',
  summary: 'remove an API key; it is refused by the very next request',
  operands: ['ID'],
  run: ({ operands: [id = ''] }, shell) =>
    withStores(shell, async ({ apiKeys }) => {
      if (!(await apiKeys.remove(id))) throw new Failure(`there is no key ${id}`);
      return { json: { id, removed: true }, lines: [`Removed the key ${id}.`] };
    }),
};
