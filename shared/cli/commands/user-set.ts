import { setProfile } from '#shared/people/people.ts';
import { type Command, UsageError } from '../arguments/command.ts';
import {
  PROFILE_OPTIONS,
  profileFrom,
  profileLines,
  WITHOUT_OPTION,
  withoutFrom,
} from '../arguments/profile-options.ts';
import { withPeople } from '../stores/with-people.ts';

export const userSet: Command = {
  name: 'user set',
  store: 'opens',
  summary: 'change the profile of a person, which applications read; ends no session and no token',
  operands: ['NAME'],
  options: { ...PROFILE_OPTIONS, ...WITHOUT_OPTION },
  details: [
    'Settings without an option stay as they are. Give all addresses, or all groups, at once: they replace the earlier',
    'ones. Applications see the change when they ask again.',
  ],
  run: async (input, shell) => {
    const [asked = ''] = input.operands;
    const given = profileFrom(input);
    const gone = new Set<string>(withoutFrom(input));
    if (Object.keys(given).length + gone.size === 0) {
      throw new UsageError('no setting is given: name at least one option, see --help');
    }
    const { id, name, profile } = await withPeople(shell, (store) =>
      setProfile(store, asked, (former) =>
        Object.fromEntries(
          Object.entries({ ...former, ...given }).filter(([member]) => !gone.has(member)),
        ),
      ),
    );
    return { json: { id, name, ...profile }, lines: [`name: ${name}`, ...profileLines(profile)] };
  },
};
