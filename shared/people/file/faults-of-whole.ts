import { MOST_PASSKEYS } from '#shared/stores/credentials/passkeys.ts';
import { aliasesOf } from '../names/aliases.ts';
import type { DirectoryContent } from './directory-content.ts';

/** A fault, and the member of the file that has it. */
interface Fault {
  readonly path: (string | number)[];
  readonly message: string;
}

/**
 * Returns the faults of a file whose parts are valid by themselves: repeated items, too many items, or items without
 * their person.
 */
export function faultsOfWhole(file: DirectoryContent): Fault[] {
  const { people, api_keys, public_keys, passkeys, second_factors } = file;
  const isKnown = knownIn(file);
  return [
    ...twice(people, 'people', 'id', 'person'),
    ...twice(people, 'people', 'name', 'name'),
    ...repeated(
      people.flatMap((one, index) =>
        aliasesOf(one).map((alias) => [`alias ${alias}`, ['people', index]] as const),
      ),
    ),
    ...twice(api_keys, 'api_keys', 'id', 'key'),
    ...twice(public_keys, 'public_keys', 'id', 'key'),
    ...twice(passkeys, 'passkeys', 'id', 'passkey'),
    ...twice(second_factors, 'second_factors', 'accountId', 'second factor of'),
    ...public_keys.flatMap(({ owner }, index) =>
      owner.kind === 'application' || isKnown(owner.id)
        ? []
        : [{ path: ['public_keys', index, 'owner'], message: 'is nobody of the file' }],
    ),
    ...Object.entries({ passkeys, second_factors }).flatMap(([part, items]) =>
      items.flatMap(({ accountId }, index) =>
        isKnown(accountId)
          ? []
          : [{ path: [part, index, 'accountId'], message: 'is nobody of the file' }],
      ),
    ),
    ...tooMany(passkeys),
  ];
}

function knownIn({ people }: Pick<DirectoryContent, 'people'>): (id: string) => boolean {
  const ids = new Set(people.map(({ id }) => id));
  return (id) => ids.has(id);
}

/** Returns a fault for each passkey over the limit of its person. */
function tooMany(passkeys: DirectoryContent['passkeys']): Fault[] {
  const counts = new Map<string, number>();
  return passkeys.flatMap(({ accountId }, index) => {
    const count = (counts.get(accountId) ?? 0) + 1;
    counts.set(accountId, count);
    return count <= MOST_PASSKEYS
      ? []
      : [
          {
            path: ['passkeys', index],
            message: `is one of more than ${MOST_PASSKEYS} of a person`,
          },
        ];
  });
}

/** Returns a fault for each item whose member an earlier item has, too. */
const twice = <Member extends string>(
  items: readonly Readonly<Record<Member, string>>[],
  part: string,
  member: Member,
  what: string,
): Fault[] =>
  repeated(items.map((item, index) => [`${what} ${item[member]}`, [part, index, member]] as const));

function repeated(
  entries: readonly (readonly [what: string, path: readonly (string | number)[]])[],
): Fault[] {
  const seen = new Set<string>();
  return entries
    .filter(([what]) => seen.size === seen.add(what).size)
    .map(([what, path]) => ({ path: [...path], message: `has the ${what} again` }));
}
