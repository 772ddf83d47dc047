import * as z from 'zod';
import { issueWords } from '#shared/base/issue-words.ts';
import { realmName } from '#shared/base/members.ts';
import { jsonFault } from '#shared/base/json-fault.ts';
import { parseStrictJson, StrictJsonError } from '#shared/base/strict-json.ts';
import { isScopeToken } from '#shared/jose/scope.ts';
import type { KeptKind } from '../verifier-kind.ts';
import type { DirectoryContent } from './directory-content.ts';
import { faultsOfWhole } from './faults-of-whole.ts';
import { checked, id, octets, personSchema, time } from './person-schema.ts';
import { publicKey, visibleName } from './public-key-schema.ts';
import { LONGEST_PASSKEY_ID } from '#shared/stores/credentials/passkeys.ts';

/** The version of the format, which `formatDirectoryFile` writes. */
export const VERSION = 1;

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

/**
 * Files of builds before version 1 had version numbers of their own. The last of these, 6, has the same form as
 * version 1.
 */
const version = z.literal(VERSION, {
  error: `must be ${VERSION}; in a file of a build before version 1, write ${VERSION} in place of 6`,
});

const schemaOf = (kinds: readonly KeptKind[]) =>
  z
    .strictObject({
      countersign_directory: version,
      people: z.array(personSchema(kinds)),
      api_keys: z.array(apiKey),
      public_keys: z.array(publicKey),
      passkeys: z.array(passkey),
      second_factors: z.array(secondFactor),
    })
    .superRefine((file, context) => {
      for (const fault of faultsOfWhole(file)) context.addIssue({ code: 'custom', ...fault });
    });

/** Thrown for an invalid file. Each line of the message names a place in the file, never its value. */
export class DirectoryFileError extends Error {
  override readonly name = 'DirectoryFileError';
}

/** Most mistakes that one message lists. */
const MISTAKES = 20;

/**
 * Parses a file with verifiers of `kinds`. Throws `DirectoryFileError` unless the file has the form that
 * `formatDirectoryFile` writes.
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

/** Most octets of a public key: an RSA key of 8,192 bits has about a thousand. */
const LONGEST_KEY = 2_048;

/** The highest counter of a signature, which has 32 bits (WebAuthn section 6.1). */
const MOST_COUNTER = 2 ** 32 - 1;

/** A passkey as `formatDirectoryFile` writes it. */
const passkey = z.strictObject({
  id: octets(LONGEST_PASSKEY_ID),
  accountId: id,
  publicKey: octets(LONGEST_KEY),
  rpId: z.string().regex(/^[a-z0-9.-]{1,253}$/, 'must be a domain in lower case'),
  counter: z.int().min(0).max(MOST_COUNTER),
  backupEligible: z.boolean(),
  backedUp: z.boolean(),
  name: visibleName,
  created_at: time,
  used_at: time.exactOptional(),
  refused_at: time.exactOptional(),
});

/** Most octets of a sealed secret. */
const LONGEST_SEALED = 256;

/** Octets of a MAC with SHA-256. */
const MAC = 32;

const MOST_CODES = 10;

/** A second factor as `formatDirectoryFile` writes it. */
const secondFactor = z.strictObject({
  accountId: id,
  id,
  sealed: octets(LONGEST_SEALED),
  step: z.int().min(0),
  recovery: z.array(octets(MAC)).max(MOST_CODES),
  created_at: time,
  used_at: time.exactOptional(),
});
