import { type People, type PersonRecord } from '#shared/stores/people/people.ts';
import { personNamed } from '#shared/people/people.ts';
import type { Page } from '../page.ts';

/** The person whose keys are listed, and the page. */
interface Asked {
  /** Undefined for the keys of all people. */
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
 * Returns a page of keys, by the names of their people and by age. It reads as many people as the page may have rows,
 * so a page may have fewer rows, or none, although another page follows. `next` is the name of the last person, with
 * the id of the last key if the person has more.
 */
export async function keysOfPeople<Key extends { readonly id: string }>(
  people: Pick<People, 'getByName' | 'page'>,
  { name, after = '', limit }: Asked,
  keysOf: (person: PersonRecord) => Promise<readonly Key[]>,
): Promise<Page<Owned<Key>>> {
  const [last = '', lastKey] = after.split(' ');
  const found: Owned<Key>[] = [];

  /** Adds the keys for which the page has room; returns the start of the next page if the page is full. */
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
