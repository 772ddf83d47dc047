import { endEverything } from '#shared/people/access/everything.ts';
import { personNamed } from '#shared/people/people.ts';
import type { Command } from '../command.ts';
import { keysLeft } from '../keys-left.ts';
import { withPeople } from '../with-people.ts';

export const userEnd: Command = {
  name: 'user end',
  store: 'opens',
  summary: "end all of a person's sessions, grants and tokens at once; they can sign in anew",
  operands: ['NAME'],
  run: ({ operands: [asked = ''] }, shell) =>
    withPeople(shell, async (store) => {
      const { id, name } = await personNamed(store.stores.people, asked);
      await endEverything(store, id);
      return {
        json: { id, name, ended: true },
        lines: [
          `Everything that ${name} had opened has ended.`,
          ...(await keysLeft(store.stores.publicKeys, { id, name })),
        ],
      };
    }),
};
