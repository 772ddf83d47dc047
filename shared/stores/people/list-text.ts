import type { PeopleList } from './people.ts';

/** Returns the text that names a list in an index. */
export const listText = (list: PeopleList): string =>
  'group' in list ? `group:${list.group}` : `state:${list.state}`;
