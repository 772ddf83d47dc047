import { sameText } from '#shared/base/constant-time.ts';
import type { Random } from '#shared/base/random.ts';
import { realmNeeds } from '#shared/auth/schemes/realm-needs.ts';
import type { SchemeParts } from '#shared/auth/schemes/parts/scheme-entry.ts';
import type { SpaceConfig } from '#shared/config/schema.ts';
import { deriveVerifiers } from '#shared/people/derive-verifiers.ts';
import type { Person } from '#shared/people/directory.ts';

/** The password is public. It only opens the playground's own spaces. */
export const PASSWORD = 'let-me-play';

/** No record has this id, not even one of imported people, so the person owns nothing else. */
export const PERSON: Person = { id: '(playground)', name: 'playground' };

/** The directory of the playground: one person, who is not in the store and can enter no other space. */
export function playgroundPeople(
  spaces: readonly SpaceConfig[],
  random: Random,
): Pick<SchemeParts, 'directory' | 'verifiers'> {
  const secret = { name: PERSON.name, password: PASSWORD };
  let derived: ReturnType<typeof deriveVerifiers> | undefined;
  return {
    directory: {
      find: async (id) => (id === PERSON.id ? PERSON : undefined),
      async authenticate(name, password) {
        const right = sameText(password, PASSWORD);
        return right && name === PERSON.name ? { ...PERSON, generation: 0 } : undefined;
      },
    },
    verifiers: {
      async find(kind, realm, who) {
        derived ??= deriveVerifiers(realmNeeds({ spaces }), secret, random);
        const row = (await derived).find(
          (one) =>
            one.kind === kind &&
            one.realm === realm &&
            ('name' in who ? who.name === PERSON.name : who.handle === one.handle),
        );
        return row && { person: PERSON, value: row.value };
      },
      kerberos: async () => undefined,
    },
  };
}
