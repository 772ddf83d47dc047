import { type People, type PersonRecord } from '#shared/stores/people/people.ts';
import { personNamed } from '#shared/people/people.ts';
import type { Page } from '../page.ts';

/** Whose keys are listed, and which page of them. */
interface Asked {
  /** Undefined: those of all people. */
  readonly name?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A key of a person. */
interface Owned<Key> {
  readonly person: PersonRecord;
  readonly key: Key;
}

/**
 * Returns a page of keys, by the names of their people and by age. It looks at as many people as it may have rows, so that
 * it may have fewer rows than that, or none, though there is a next one. `next` is the name of the last person, and the
 * id of their last key if they have more.
 */
export async function keysOfPeople<Key extends { readonly id: string }>(
  people: Pick<People, 'getByName' | 'page'>,
  { name, after = '', limit }: Asked,
  keysOf: (person: PersonRecord) => Promise<readonly Key[]>,
): Promise<Page<Owned<Key>>> {
  const [last = '', lastKey] = after.split(' ');
  const found: Owned<Key>[] = [];

  /** Takes the keys that the page has room for; returns where the next page begins, if it is full. */
  async function take(person: PersonRecord): Promise<string | undefined> {
    const keys = await keysOf(person);
    const seen = person.name === last ? keys.findIndex(({ id }) => id === lastKey) + 1 : 0;
    const rest = keys.slice(seen).map((key) => ({ person, key }));
    const taken = rest.slice(0, limit - found.length);
    found.push(...taken);
    return taken.length < rest.length ? `${person.name} ${found.at(-1)?.key.id}` : undefined;
  }

  if (name !== undefined) {
    return { items: found, next: await take(await personNamed(people, name)) };
  }
  const interrupted = lastKey === undefined ? undefined : await people.getByName(last);
  const others = await people.page({ limit, after: last });
  for (const person of interrupted ? [interrupted, ...others] : others) {
    const next = await take(person);
    if (next !== undefined) return { items: found, next };
  }
  return { items: found, next: others.length === limit ? others.at(-1)?.name : undefined };
}
