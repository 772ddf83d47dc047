import type { PeopleList, PersonRecord } from './people.ts';

/** Returns the text that names a list in an index. */
export const listText = (list: PeopleList): string =>
  'group' in list ? `group:${list.group}` : `state:${list.state}`;

/** Returns the texts of all lists that a person is in. */
export const listsOf = ({ disabled, admin, profile }: PersonRecord): ReadonlySet<string> =>
  new Set([
    listText({ state: disabled === true ? 'disabled' : 'active' }),
    ...(admin === true ? [listText({ state: 'admin' })] : []),
    ...(profile?.groups ?? []).map((group) => listText({ group })),
  ]);
