import { generateKeyPairSync } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Input, type Option, UsageError } from '../arguments/command.ts';
import { fileContent } from '../arguments/bounded-file.ts';
import { writeNewFile } from '../files/new-file.ts';
import type { Sourced } from '../stores/of-operation.ts';
import { isVisibleName } from '#shared/people/names/visible-name.ts';

/** The options for the source of a public key, and for its name. */
export const PUBLIC_KEY_OPTIONS = {
  'public-key': { value: 'FILE', help: 'the public key, in PEM, DER or as a JWK' },
  out: {
    value: 'FILE',
    help: 'make a key pair (Ed25519) instead, and write the private key to this new file, in PEM',
  },
  name: { value: 'DEVICE', help: 'the name of the key for people; default: the name of the file' },
} satisfies Readonly<Record<string, Option>>;

/** A public key: from a file that an option names, or of a new key pair. */
interface KeyFile {
  readonly file: string;
  readonly content: Buffer;
  /** The name of the key for people. */
  readonly name: string;
  /** Removes the file of a new private key. */
  undo(): Promise<void>;
}

/** Reads the key that the options name, or creates a key pair. Throws `UsageError` and `Failure`. */
async function keyFileFrom(input: Input): Promise<KeyFile> {
  const [given, out] = [input.text('public-key'), input.text('out')];
  const file = given ?? out;
  if (file === undefined || (given !== undefined && out !== undefined)) {
    throw new UsageError('give --public-key FILE, or --out FILE for a key pair to be made');
  }
  const name = visibleName('--name', input.text('name') ?? basename(file));
  const content = out === undefined ? await fileContent(file) : await makePair(file);
  const undo = async () => (out === undefined ? undefined : rm(out));
  return { file, content, name, undo };
}

/** Reads the members `public_key` and `key_name`, as `keyFileFrom` does. */
export async function publicKeyFrom(input: Input): Promise<Sourced> {
  const { file, content, name, undo } = await keyFileFrom(input);
  return {
    given: { public_key: textOf(content), key_name: name },
    from: { public_key: file },
    undo,
  };
}

/** Returns a key in PEM or as a JWK unchanged, and converts a key in DER to PEM (RFC 7468 section 13). */
function textOf(content: Buffer): string {
  const text = content.toString();
  if (/^\s*\{|-----BEGIN/.test(text)) return text;
  return `-----BEGIN PUBLIC KEY-----\n${content.toString('base64')}\n-----END PUBLIC KEY-----\n`;
}

/** Writes a new private key to a file, and returns its public key. */
async function makePair(file: string): Promise<Buffer> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  });
  await writeNewFile(file, [privateKey]);
  return publicKey;
}

/** Returns the name. Throws `UsageError` if people could not read it. */
function visibleName(option: string, name: string): string {
  if (isVisibleName(name)) return name;
  throw new UsageError(`${option} must be 1 to 100 characters, none of them invisible`);
}
