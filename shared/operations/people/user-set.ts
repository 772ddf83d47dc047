import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { changeProfile } from '#shared/people/change-profile.ts';
import { keepManaged } from '#shared/people/identities.ts';
import { createRegistrationLinks } from '#shared/people/registration.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { InputError, operation } from '../operation.ts';
import { SPELLINGS } from '../texts.ts';
import { personName } from './person-name.ts';
import { profileMembers, profileShown } from './profile-members.ts';
import { said } from '#shared/refusals/operations.ts';

/** Returns the event of a change of settings; undefined if nothing changes. */
function changeOf(was: PersonRecord, now: PersonRecord) {
  const isOfProfile = !isDeepStrictEqual(was.profile, now.profile);
  const isOfAdmin = (was.admin ?? false) !== (now.admin ?? false);
  if (!isOfProfile && !isOfAdmin) return undefined;
  const right = now.admin ? 'admin given' : 'admin taken';
  const what = [...(isOfProfile ? ['profile'] : []), ...(isOfAdmin ? [right] : [])].join(', ');
  return { kind: 'person.changed', what } as const;
}

/** The options that can be cleared, each with the member of its input. */
const MEMBERS = {
  'display-name': 'display_name',
  email: 'emails',
  group: 'groups',
  locale: 'locale',
  picture: 'picture',
  attribute: 'attributes',
  admin: 'admin',
} as const;

const names = Object.keys(MEMBERS) as (keyof typeof MEMBERS)[];

export const setUser = operation({
  name: 'user set',
  summary: 'change the profile of a person; a lost group ends access to clients for that group',
  effect: 'changes',
  input: z.strictObject({
    name: personName,
    ...profileMembers,
    admin: z
      .boolean()
      .exactOptional()
      .describe('the person may administer this server, at /admin and over HTTP'),
    without: z
      .array(z.enum(names))
      .default([])
      .describe(`clear that option: ${names.join(', ')}`)
      .register(SPELLINGS, { value: 'OPTION' }),
  }),
  operands: ['name'],
  output: z.strictObject({
    id: z.string(),
    name: z.string(),
    ...profileShown,
    admin: z.literal(true).exactOptional(),
  }),
  check(input) {
    const { name: _, admin, without, ...given } = input;
    const twice = without.find((option) => ({ ...given, admin })[MEMBERS[option]] !== undefined);
    if (twice !== undefined) {
      throw new InputError([MEMBERS[twice]], said('given-to-clear'));
    }
    if (Object.keys(given).length + without.length === 0 && admin === undefined) {
      throw new InputError([], said('no-setting'));
    }
  },
  async run({ name: asked, admin, without, ...given }, house) {
    const gone = new Set<string>(without.map((option) => MEMBERS[option]));
    const kept = <T extends object>(members: T) =>
      Object.fromEntries(Object.entries(members).filter(([member]) => !gone.has(member))) as T;
    const edit = keepManaged(({ profile: former = {}, ...person }: PersonRecord) => {
      const profile = kept({ ...former, ...given });
      return {
        ...kept({ ...person, ...(admin !== undefined && { admin }) }),
        ...(Object.keys(profile).length > 0 && { profile }),
      };
    });
    const changed = await changeProfile(house, asked, edit, changeOf);
    if (changed.admin) await createRegistrationLinks(house).endFirst();
    const { id, name, profile } = changed;
    return { id, name, ...profile, ...(changed.admin && { admin: true as const }) };
  },
});
