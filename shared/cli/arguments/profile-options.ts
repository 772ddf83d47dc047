import { profileSchema } from '#shared/people/profile-schema.ts';
import type { Profile } from '#shared/stores/people/people.ts';
import { type Input, type Option, UsageError } from './command.ts';

/** The options for the claims that applications may be told about a person. */
export const PROFILE_OPTIONS: Readonly<Record<string, Option>> = {
  'display-name': { value: 'NAME', help: 'their name for other people' },
  email: {
    value: 'ADDRESS[,verified]',
    multiple: true,
    help: 'the first is the primary one; verified: you have made sure that it is theirs',
  },
  group: { value: 'GROUP', multiple: true, help: 'a group of the person' },
  locale: { value: 'TAG', help: 'their language, such as en-GB' },
  picture: { value: 'URL', help: 'where a picture of them is' },
};

/** The option of each member of a `Profile`. */
const OPTION_OF: Readonly<Record<keyof Profile, string>> = {
  display_name: 'display-name',
  emails: 'email',
  groups: 'group',
  locale: 'locale',
  picture: 'picture',
};

const MEMBERS = Object.entries(OPTION_OF) as [keyof Profile, string][];

export const WITHOUT_OPTION: Readonly<Record<string, Option>> = {
  without: {
    value: 'OPTION',
    multiple: true,
    help: `clear that option: ${Object.values(OPTION_OF).join(', ')}`,
  },
};

/** The members that were given; throws `UsageError` that names the option which is wrong. */
export function profileFrom(input: Input): Profile {
  const [display_name, locale, picture] = ['display-name', 'locale', 'picture'].map(input.text);
  const emails = input.texts('email').map((text) => {
    const address = text.replace(/,verified$/, '');
    return { address, verified: address !== text };
  });
  const groups = input.texts('group');
  const { data, error } = profileSchema.safeParse({
    ...(display_name !== undefined && { display_name }),
    ...(emails.length > 0 && { emails }),
    ...(groups.length > 0 && { groups }),
    ...(locale !== undefined && { locale }),
    ...(picture !== undefined && { picture }),
  });
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const [, option] = MEMBERS.find(([member]) => member === issue?.path[0]) ?? [];
  throw new UsageError(`--${option} ${issue?.message}`);
}

/** The members whose options `--without` names. */
export function withoutFrom(input: Input): readonly (keyof Profile)[] {
  return input.texts('without').map((option) => {
    const [member] = MEMBERS.find(([, known]) => known === option) ?? [];
    if (member === undefined) {
      throw new UsageError(`--without must be one of ${Object.values(OPTION_OF).join(', ')}`);
    }
    if (input.text(option) !== undefined) {
      throw new UsageError(`give --${option} or --without ${option}, not both`);
    }
    return member;
  });
}

/** For people to read: a line for each thing that is known. */
export function profileLines(profile: Profile = {}): readonly string[] {
  const { display_name, emails = [], groups = [], locale, picture } = profile;
  const lines = [
    ['display name', display_name],
    ...emails.map(({ address, verified }) => [
      'e-mail',
      `${address}${verified ? ' (verified)' : ''}`,
    ]),
    ...groups.map((group) => ['group', group]),
    ['locale', locale],
    ['picture', picture],
  ];
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
}
