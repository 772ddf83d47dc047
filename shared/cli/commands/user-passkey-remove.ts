import { hasOtherWayIn } from '#shared/people/other-ways-in.ts';
import { personNamed } from '#shared/people/people.ts';
import { removePasskey } from '#shared/people/remove-passkey.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { withPeople } from '../stores/with-people.ts';

export const userPasskeyRemove: Command = {
  name: 'user passkey remove',
  store: 'opens',
  summary: 'remove a passkey of a person, and end the sign-ins, grants and tokens that it opened',
  operands: ['NAME', 'ID'],
  options: {
    last: { help: 'remove it even if the person can then not sign in at all' },
  },
  details: [
    '`user passkey list NAME` lists the ids. A passkey is the last way in if the person has no other passkey, no password',
    'and no key. Their device still offers the passkey until they delete it there; it opens nothing.',
  ],
  run: ({ operands: [asked = '', id = ''], flag }, shell) =>
    withPeople(shell, async (store) => {
      const { id: accountId, name } = await personNamed(store.stores.people, asked);
      const mayBeLast = flag('last') || (await hasOtherWayIn(store.stores, accountId));
      const removal = { accountId, id, least: mayBeLast ? 0 : 1 };
      const outcome = await removePasskey(store, removal);
      if (outcome === 'gone') {
        throw new Failure(`${name} has no passkey ${id}: see user passkey list ${name}`);
      }
      if (outcome === 'last') {
        throw new Failure(
          `the passkey ${id} is the last way in of ${name}: give them another first (user recover ${name}), or give --last`,
        );
      }
      return {
        json: { id, person: name, removed: true },
        lines: [`Removed the passkey ${id} of ${name}. All that it opened has ended.`],
      };
    }),
};
