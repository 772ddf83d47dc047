import * as z from 'zod';
import { ALL_REALMS } from '#shared/stores/people/people.ts';
import { verifierRow } from '../derive-verifiers.ts';
import { isKerberosPrincipal } from '../names/kerberos-principal.ts';
import { usernameCaseMapped } from '../names/precis.ts';
import { isPasswordHash } from '../password.ts';
import { MANAGED, SOURCE_NAME, SUBJECT } from '../identities.ts';
import { profileSchema } from '../profile-schema.ts';
import type { KeptKind } from '../verifier-kind.ts';

export const checked = (passes: (text: string) => boolean, what: string) =>
  z.string().refine(passes, { error: `must be ${what}` });

export const id = z.string().regex(/^[\w-]{1,64}$/, 'must be an identifier');
export const time = z.int().min(0);

/** Returns the schema of at most so many octets, in base64url without padding or bits after the last octet. */
export const octets = (most: number) =>
  z.string().refine(
    (text) => {
      const decoded = Buffer.from(text, 'base64url');
      const isCanonical = decoded.toString('base64url') === text;
      return isCanonical && decoded.length > 0 && decoded.length <= most;
    },
    { error: `must be 1 to ${most.toLocaleString('en')} octets in base64url` },
  );

/** The realm of a row, which may have more than the name of a realm (`keptRealm`). */
const rowRealm = z
  .string()
  .regex(/^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,320}$/, 'must be printable ASCII characters');

/**
 * Returns the schema of a verifier. It yields a function that makes the row for a name, which determines the handle.
 */
const verifierOf = (kind: KeptKind) =>
  z
    .strictObject({
      kind: z.literal(kind.kind),
      realm: kind.everywhere ? z.literal(ALL_REALMS) : rowRealm,
      value: checked((text) => kind.isValue(text), `the value of a verifier of ${kind.title}`),
    })
    .transform(({ realm, value }) => {
      return (name: string) => verifierRow(kind, { name, realm }, value);
    });

const identity = {
  source: z.string().regex(SOURCE_NAME, 'must be the name of a source'),
  subject: z.string().regex(SUBJECT, 'must be 1 to 255 printable ASCII characters'),
};

/** The members of a person that are no credentials. */
export const personMembers = {
  id,
  name: checked(
    (name) => usernameCaseMapped(name) === name,
    'a name in its normal form: 1 to 64 letters, digits and . _ @ + -, in lower case',
  ),
  kerberos: z
    .array(checked(isKerberosPrincipal, 'a principal with its realm, such as alice@EXAMPLE.COM'))
    .exactOptional(),
  profile: profileSchema.exactOptional(),
  origin: z.strictObject({ ...identity, managed: z.array(z.enum(MANAGED)) }).exactOptional(),
  linked: z.array(z.strictObject({ ...identity, created_at: time })).exactOptional(),
  disabled: z.boolean().exactOptional(),
  admin: z.boolean().exactOptional(),
  demo: z.boolean().exactOptional(),
  created_at: time,
};

/** Returns the schema of a person as `formatDirectoryFile` writes them, with verifiers of these kinds. */
export const personSchema = (kinds: readonly KeptKind[]) =>
  z
    .strictObject({
      ...personMembers,
      profile_changed_at: time.exactOptional(),
      password_hash: checked(
        isPasswordHash,
        'an argon2id hash as this program makes it',
      ).exactOptional(),
      verifiers: z.array(
        z.discriminatedUnion('kind', kinds.map(verifierOf) as [ReturnType<typeof verifierOf>]),
      ),
    })
    .transform(({ verifiers, ...person }) => ({
      ...person,
      verifiers: verifiers.map((rowOf) => rowOf(person.name)),
    }))
    .refine(
      ({ verifiers }) =>
        new Set(verifiers.map(({ kind, realm }) => JSON.stringify([kind, realm]))).size ===
        verifiers.length,
      { error: 'must have one of each kind and realm', path: ['verifiers'] },
    )
    .refine(
      ({ password_hash, verifiers }) => password_hash !== undefined || verifiers.length === 0,
      { error: 'must be empty for somebody without password_hash', path: ['verifiers'] },
    );
