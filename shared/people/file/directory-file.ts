import * as z from 'zod';
import { issueWords } from '#shared/base/issue-words.ts';
import { realmName } from '#shared/base/members.ts';
import { jsonFault } from '#shared/base/json-fault.ts';
import { parseStrictJson, StrictJsonError } from '#shared/base/strict-json.ts';
import { isScopeToken } from '#shared/jose/scope.ts';
import type { NewRecord } from '../people.ts';
import type { KeptKind } from '../verifier-kind.ts';
import type { DirectoryContent } from './directory-content.ts';
import { faultsOfWhole } from './faults-of-whole.ts';
import { formerPerson } from './former-people.ts';
import { passkey } from './passkey-schema.ts';
import { checked, id, personSchema, time } from './person-schema.ts';
import { publicKey, visibleName } from './public-key-schema.ts';
import { secondFactor } from './second-factor-schema.ts';

/** The version that `formatDirectoryFile` writes. */
export const VERSION = 6;

/** The last version without passkeys and second factors, in which everybody has a password. */
const PASSKEYLESS_VERSION = 5;

/** The last version without profiles. */
export const PROFILELESS_VERSION = 4;

/** The last version without public keys. */
const KEYLESS_VERSION = 3;

/** Versions whose people are converted (former-people.ts). */
const FORMER_VERSIONS = [1, 2];

const READ_VERSIONS = [
  ...FORMER_VERSIONS,
  KEYLESS_VERSION,
  PROFILELESS_VERSION,
  PASSKEYLESS_VERSION,
  VERSION,
];

/** Whether a text is the hash of a secret (SHA-256). */
export function isSecretHash(text: string): boolean {
  const decoded = Buffer.from(text, 'base64url');
  return decoded.length === 32 && decoded.toString('base64url') === text;
}

/** An API key as `formatDirectoryFile` writes it. */
export const apiKey = z.strictObject({
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

/** Adds empty parts in place of those that an older file lacks. */
const completed = <File extends object>(file: File) => ({
  public_keys: [],
  passkeys: [],
  second_factors: [],
  ...file,
});

const schemaOf = (kinds: readonly KeptKind[]) => {
  const person = personSchema(kinds);
  const withPassword = person.refine(({ password_hash }) => password_hash !== undefined, {
    error: 'is missing',
    path: ['password_hash'],
  });
  return z
    .discriminatedUnion(
      'countersign_directory',
      [
        versioned([VERSION], person).extend({
          public_keys: z.array(publicKey),
          passkeys: z.array(passkey),
          second_factors: z.array(secondFactor),
        }),
        versioned([PROFILELESS_VERSION, PASSKEYLESS_VERSION], withPassword)
          .extend({ public_keys: z.array(publicKey) })
          .transform(completed),
        versioned([KEYLESS_VERSION], withPassword).transform(completed),
        versioned(FORMER_VERSIONS, formerPerson.pipe(withPassword)).transform(completed),
      ],
      {
        error: `must be of version ${READ_VERSIONS.join(', ')}, which this program reads`,
      },
    )
    .superRefine((file, context) => {
      for (const fault of faultsOfWhole(file)) context.addIssue({ code: 'custom', ...fault });
    });
};

/** Thrown for an invalid file; each line of the message names a place in the file, never its value. */
export class DirectoryFileError extends Error {
  override readonly name = 'DirectoryFileError';
}

/** Most mistakes that one message lists. */
const MISTAKES = 20;

/**
 * Parses a file with verifiers of `kinds`. Throws `DirectoryFileError` unless it is as `formatDirectoryFile` writes it.
 */
export function parseDirectoryFile(file: Uint8Array, kinds: readonly KeptKind[]): DirectoryContent {
  const { data, error } = schemaOf(kinds).safeParse(parseJson(file), { error: issueWords });
  if (data !== undefined) return data;
  const lines = error.issues.map(({ path, message }) => `${path.join('.') || 'all'}: ${message}`);
  throw new DirectoryFileError(lines.slice(0, MISTAKES).join('\n'));
}

function parseJson(file: Uint8Array): unknown {
  try {
    return parseStrictJson(file);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const { path, message } = error;
    if (path.length === 0) {
      const place = jsonFault(Buffer.from(file).toString()) ?? 'all';
      throw new DirectoryFileError(`${place}: is not JSON in UTF-8`);
    }
    throw new DirectoryFileError(`${path.join('.')}: ${message}`);
  }
}
