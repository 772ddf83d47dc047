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
  summary: 'say what applications are told of a person; nothing of theirs ends',
  operands: ['NAME'],
  options: { ...PROFILE_OPTIONS, ...WITHOUT_OPTION },
  details: [
    'What no option names stays. All addresses, and all groups, are given at once and take the place of those',
    'before. What an application has got it keeps; it is told anew when it asks.',
  ],
  run: async (input, shell) => {
    const [asked = ''] = input.operands;
    const given = profileFrom(input);
    const gone = new Set<string>(withoutFrom(input));
    if (Object.keys(given).length + gone.size === 0) {
      throw new UsageError('nothing is said of them: give an option, see --help');
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
