import type { Told } from '#shared/operations/operation.ts';
import type { profileShown } from '#shared/operations/people/profile-members.ts';
import type * as z from 'zod';

/** Returns the output about a profile for people: a line for each member that has a value. */
export function profileLines(profile: Told<z.ZodObject<typeof profileShown>>): readonly string[] {
  const { display_name, emails = [], groups = [], locale, picture, attributes = [] } = profile;
  const lines = [
    ['display name', display_name],
    ...emails.map(({ address, verified }) => [
      'e-mail',
      `${address}${verified ? ' (verified)' : ''}`,
    ]),
    ...groups.map((group) => ['group', group]),
    ['locale', locale],
    ['picture', picture],
    ...attributes.map(({ name, value }) => ['attribute', `${name}=${value}`]),
  ];
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
}
