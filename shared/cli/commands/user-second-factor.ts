import { endEverything } from '#shared/people/access/everything.ts';
import { personNamed } from '#shared/people/people.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { withPeople } from '../stores/with-people.ts';

export const userSecondFactor: Command = {
  name: 'user second-factor',
  store: 'opens',
  summary: 'show whether a person has a second factor, or remove it and end everything of theirs',
  operands: ['NAME'],
  options: {
    remove: { help: 'remove it, for a person who has lost their phone and their recovery codes' },
  },
  details: [
    'After the removal the password alone lets the person in. If one is demanded of them (setting people.secondFactor),',
    'they set up another at the next sign-in: make sure who asks, since anybody who knows the password could do that.',
  ],
  run: ({ operands: [asked = ''], flag }, shell) =>
    withPeople(shell, async (store) => {
      const { id, name } = await personNamed(store.stores.people, asked);
      const factor = await store.stores.secondFactors.get(id);
      if (flag('remove')) {
        if (!(await store.stores.secondFactors.remove(id))) {
          throw new Failure(`${name} has no second factor`);
        }
        await endEverything(store, id);
        return {
          json: { person: name, removed: true },
          lines: [`Removed the second factor of ${name}. All their sign-ins have ended.`],
        };
      }
      if (factor === undefined) {
        return {
          json: { person: name, set_up: false },
          lines: [`${name} has no second factor.`],
        };
      }
      const { created_at, used_at, recovery } = factor;
      return {
        json: { person: name, set_up: true, created_at, used_at, recovery_codes: recovery.length },
        lines: [
          `${name} has a second factor since ${minute(created_at)}: ${lastUse(used_at)}, recovery codes left: ${recovery.length}.`,
        ],
      };
    }),
};
