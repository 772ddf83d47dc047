import { personNamed } from '#shared/people/people.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { withStores } from '../stores/with-stores.ts';

export const userKeyRemove: Command = {
  name: 'user key remove',
  store: 'opens',
  summary: 'remove a key of a person; the next request with it is refused',
  operands: ['NAME', 'FINGERPRINT'],
  run: ({ operands: [asked = '', id = ''] }, shell) =>
    withStores(shell, async ({ people, publicKeys }) => {
      const person = await personNamed(people, asked);
      const owner = (await publicKeys.get(id))?.owner;
      const theirs = owner?.kind === 'person' && owner.id === person.id;
      if (!theirs || !(await publicKeys.remove(id))) {
        throw new Failure(`${person.name} has no key ${id}`);
      }
      return {
        json: { fingerprint: id, person: person.name, removed: true },
        lines: [`Removed the key ${id} of ${person.name}.`],
      };
    }),
};
