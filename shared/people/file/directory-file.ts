import { z } from 'zod';
import { realmName } from '#shared/base/members.ts';
import { isScopeToken } from '#shared/jose/scope.ts';
import type { ApiKeyRecord } from '#shared/stores/api-keys.ts';
import type { DigestHash } from '#shared/http/auth/digest-algorithms.ts';
import type { DigestRow, ScramHash } from '#shared/stores/people.ts';
import { aliasesOf } from '../names/aliases.ts';
import { userhashOf } from '../digest-hash.ts';
import { isKerberosPrincipal } from '../names/kerberos-principal.ts';
import { isPasswordHash } from '../password.ts';
import type { NewRecord } from '../people.ts';
import { usernameCaseMapped } from '../names/precis.ts';
import { SCRAM_HASHES, SCRAM_SALT_BYTES } from '../scram-keys.ts';
import { isVisibleName } from '../names/visible-name.ts';

/** Everybody and every API key of a directory, with all that lets them in but the passwords. */
export interface DirectoryFile {
  readonly people: readonly NewRecord[];
  readonly api_keys: readonly ApiKeyRecord[];
}

/** Of what `formatDirectory` writes. */
export const VERSION = 2;

/** Had SCRAM's keys in each realm. */
const FORMER_VERSION = 1;

const hexadecimal = (bytes: number) =>
  z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`), `must be ${bytes} bytes in hexadecimal`);

const bytes = (encoding: 'base64' | 'base64url', length: number) =>
  z.string().refine(
    (text) => {
      const decoded = Buffer.from(text, encoding);
      return decoded.length === length && decoded.toString(encoding) === text;
    },
    { error: `must be ${length} bytes in ${encoding}` },
  );

const checked = (passes: (text: string) => boolean, what: string) =>
  z.string().refine(passes, { error: `must be ${what}` });

const id = z.string().regex(/^[\w-]{1,64}$/, 'must be an identifier');
const time = z.int().min(0);

const keysOf = (hash: ScramHash) =>
  z
    .strictObject({
      salt: bytes('base64', SCRAM_SALT_BYTES),
      iterations: z.int().min(4096).max(1_000_000),
      stored_key: bytes('base64', SCRAM_HASHES[hash].size),
      server_key: bytes('base64', SCRAM_HASHES[hash].size),
    })
    .exactOptional();

const scram = z.strictObject({ 'SHA-1': keysOf('SHA-1'), 'SHA-256': keysOf('SHA-256') });

const verifiers = z.strictObject({
  digest: z
    .strictObject({
      MD5: hexadecimal(16).exactOptional(),
      'SHA-256': hexadecimal(32).exactOptional(),
      'SHA-512-256': hexadecimal(32).exactOptional(),
    })
    .exactOptional(),
  scram: scram.exactOptional(),
});

const writtenPerson = z.strictObject({
  id,
  name: checked((name) => usernameCaseMapped(name) === name, 'a name in its normal form'),
  password_hash: checked(isPasswordHash, 'an argon2id hash as this program makes it'),
  scram: scram.exactOptional(),
  verifiers: z.record(realmName, verifiers).exactOptional(),
  kerberos: z
    .array(checked(isKerberosPrincipal, 'a principal with its realm, such as alice@EXAMPLE.COM'))
    .exactOptional(),
  disabled: z.boolean().exactOptional(),
  demo: z.boolean().exactOptional(),
  created_at: time,
});

type Verifiers = Readonly<Record<string, z.infer<typeof verifiers>>>;

const person = writtenPerson.transform(({ verifiers: byRealm = {}, ...written }) => ({
  // Whichever realm SCRAM's keys are of, they are of the same password.
  scram: Object.assign({}, ...Object.values(byRealm).map((kept) => kept.scram)),
  ...written,
  digests: rowsOf(written.name, byRealm),
}));

const rowsOf = (name: string, byRealm: Verifiers): DigestRow[] =>
  Object.entries(byRealm).flatMap(([realm, { digest = {} }]) =>
    Object.entries(digest).map(([of, ha1]) => {
      const hash = of as DigestHash;
      return { realm, hash, ha1, userhash: userhashOf(hash, name, realm) };
    }),
  );

const apiKey = z.strictObject({
  id,
  application: checked(isVisibleName, '1 to 100 characters, none of them invisible'),
  realm: realmName,
  secret_hash: bytes('base64url', 32),
  scopes: z.array(checked(isScopeToken, 'a scope-token (RFC 6749 section 3.3)')),
  created_at: time,
  expires_at: time.exactOptional(),
  used_at: time.exactOptional(),
  demo: z.boolean().exactOptional(),
});

const schema = z
  .strictObject({
    countersign_directory: z.literal(
      [FORMER_VERSION, VERSION],
      `must be ${FORMER_VERSION} or ${VERSION}, which this program reads`,
    ),
    people: z.array(person),
    api_keys: z.array(apiKey),
  })
  .superRefine(({ people, api_keys }, context) => {
    const twice = repeated([
      ...people.map(({ id: of }, index) => [`people.${index}.id`, `person ${of}`]),
      ...people.map(({ name }, index) => [`people.${index}.name`, `name ${name}`]),
      ...people.flatMap((one, index) =>
        aliasesOf(one).map((alias) => [`people.${index}`, `alias ${alias}`]),
      ),
      ...api_keys.map(({ id: of }, index) => [`api_keys.${index}.id`, `key ${of}`]),
    ]);
    for (const [path = '', what] of twice) {
      context.addIssue({ code: 'custom', path: path.split('.'), message: `has the ${what} again` });
    }
  });

/** The entries whose last member an earlier one has. */
function repeated(entries: readonly (readonly string[])[]): (readonly string[])[] {
  const seen = new Set<string | undefined>();
  return entries.filter((entry) => seen.size === seen.add(entry.at(-1)).size);
}

/** What is wrong with a file; each line of the message names a place in it, never what stands there. */
export class DirectoryFileError extends Error {
  override readonly name = 'DirectoryFileError';
}

/** As many mistakes as a person wants to read at a time. */
const MISTAKES = 20;

/** Throws `DirectoryFileError` when anything in it is not as `formatDirectory` writes it. */
export function parseDirectoryFile(file: Uint8Array): DirectoryFile {
  const { data, error } = schema.safeParse(parseJson(file));
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
