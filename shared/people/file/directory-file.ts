import { z } from 'zod';
import { realmName } from '#shared/base/members.ts';
import { isScopeToken } from '#shared/jose/scope.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { aliasesOf } from '../names/aliases.ts';
import type { NewRecord } from '../people.ts';
import type { KeptKind } from '../verifier-kind.ts';
import { formerPerson } from './former-people.ts';
import { checked, id, personSchema, time } from './person-schema.ts';
import { publicKey, visibleName } from './public-key-schema.ts';

/** All people and keys of a directory, with all credentials but the passwords. */
export interface DirectoryFile {
  /** The version of the format. */
  readonly countersign_directory: number;
  readonly people: readonly NewRecord[];
  readonly api_keys: readonly ApiKeyRecord[];
  readonly public_keys: readonly PublicKeyRecord[];
}

/** The version that `formatDirectoryFile` writes. */
export const VERSION = 5;

/** The last version without profiles. */
export const PROFILELESS_VERSION = 4;

/** The last version without public keys. */
const KEYLESS_VERSION = 3;

/** Versions whose people are converted (former-people.ts). */
const FORMER_VERSIONS = [1, 2];

function isSecretHash(text: string): boolean {
  const decoded = Buffer.from(text, 'base64url');
  return decoded.length === 32 && decoded.toString('base64url') === text;
}

const apiKey = z.strictObject({
  id,
  application: visibleName,
  realm: realmName,
  secret_hash: checked(isSecretHash, '32 bytes in base64url'),
  scopes: z.array(checked(isScopeToken, 'a scope-token (RFC 6749 section 3.3)')),
  created_at: time,
  expires_at: time.exactOptional(),
  used_at: time.exactOptional(),
  demo: z.boolean().exactOptional(),
});

const versioned = <Person extends z.ZodType<NewRecord>>(
  versions: readonly number[],
  person: Person,
) =>
  z.strictObject({
    countersign_directory: z.literal(versions),
    people: z.array(person),
    api_keys: z.array(apiKey),
  });

/** Adds the public keys, which older files lack. */
const withoutPublicKeys = <File extends object>(file: File) => ({ ...file, public_keys: [] });

const schemaOf = (kinds: readonly KeptKind[]) => {
  const person = personSchema(kinds);
  return z
    .discriminatedUnion(
      'countersign_directory',
      [
        versioned([PROFILELESS_VERSION, VERSION], person).extend({
          public_keys: z.array(publicKey),
        }),
        versioned([KEYLESS_VERSION], person).transform(withoutPublicKeys),
        versioned(FORMER_VERSIONS, formerPerson.pipe(person)).transform(withoutPublicKeys),
      ],
      {
        error: `must be of version ${[...FORMER_VERSIONS, KEYLESS_VERSION, PROFILELESS_VERSION, VERSION].join(', ')}, which this program reads`,
      },
    )
    .superRefine(({ people, api_keys, public_keys }, context) => {
      const twice = repeated([
        ...people.map(({ id: of }, index) => [`people.${index}.id`, `person ${of}`]),
        ...people.map(({ name }, index) => [`people.${index}.name`, `name ${name}`]),
        ...people.flatMap((one, index) =>
          aliasesOf(one).map((alias) => [`people.${index}`, `alias ${alias}`]),
        ),
        ...api_keys.map(({ id: of }, index) => [`api_keys.${index}.id`, `key ${of}`]),
        ...public_keys.map(({ id: of }, index) => [`public_keys.${index}.id`, `key ${of}`]),
      ]);
      const ids = new Set(people.map(({ id: of }) => of));
      for (const [index, { owner }] of public_keys.entries()) {
        if (owner.kind === 'application' || ids.has(owner.id)) continue;
        const path = ['public_keys', index, 'owner'];
        context.addIssue({ code: 'custom', path, message: 'is nobody of the file' });
      }
      for (const [path = '', what] of twice) {
        context.addIssue({
          code: 'custom',
          path: path.split('.'),
          message: `has the ${what} again`,
        });
      }
    });
};

/** Returns the entries whose last member an earlier entry has, too. */
function repeated(entries: readonly (readonly string[])[]): (readonly string[])[] {
  const seen = new Set<string | undefined>();
  return entries.filter((entry) => seen.size === seen.add(entry.at(-1)).size);
}

/** Thrown for an invalid file; each line of the message names a place in the file, never its value. */
export class DirectoryFileError extends Error {
  override readonly name = 'DirectoryFileError';
}

/** Most mistakes that one message lists. */
const MISTAKES = 20;

/**
 * Parses a file with verifiers of `kinds`. Throws `DirectoryFileError` unless it is as `formatDirectoryFile` writes it.
 */
export function parseDirectoryFile(file: Uint8Array, kinds: readonly KeptKind[]): DirectoryFile {
  const { data, error } = schemaOf(kinds).safeParse(parseJson(file));
  if (data !== undefined) return data;
  const lines = error.issues.map(({ path, message }) => `${path.join('.') || 'all'}: ${message}`);
  throw new DirectoryFileError(lines.slice(0, MISTAKES).join('\n'));
}

function parseJson(file: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(file));
  } catch {
    throw new DirectoryFileError('all: is not JSON in UTF-8');
  }
}
