import { removePerson } from '#shared/people/remove-person.ts';
import type { Command } from '../arguments/command.ts';
import { removeOwnTrees } from '../stores/remove-trees.ts';
import { withPeople } from '../stores/with-people.ts';

export const userRemove: Command = {
  name: 'user remove',
  store: 'opens',
  summary: 'erase a person; the next request with any credential of theirs is refused',
  operands: ['NAME'],
  options: { trees: { help: 'also delete the documents in their own trees' } },
  details: [
    'Gone are sign-ins, grants and tokens, the password and all that was derived from it, keys, and what applications',
    'were told. What stays: lines of the log, which name them, until it is rotated; what they wrote in trees that all',
    'share; their id, by which tokens of theirs stay refused; and a hash of the name, so that nobody gets it who',
    'would get what is granted to it (`user add --reuse-name`). Queries that they kept end within ten minutes.',
  ],
  run: ({ operands: [asked = ''], flag }, shell) =>
    withPeople(shell, async (store, config) => {
      const { id, name } = await removePerson(store, asked);
      const trees = flag('trees') && {
        trees: await removeOwnTrees(store.stores.trees, config, id),
      };
      const granting = config.spaces.filter(({ grants }) => Object.hasOwn(grants.people, name));
      return {
        json: { id, name, removed: true, ...trees },
        lines: [
          `Removed ${name} (${id}).`,
          ...(trees ? [`Removed ${trees.trees} trees of their own.`] : []),
          ...granting.map(({ url }) => `${url} still grants scopes to ${name} (grants.people).`),
        ],
      };
    }),
};
