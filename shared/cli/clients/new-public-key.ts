import { generateKeyPairSync } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { KEY_REFUSALS } from '#shared/operations/key-refusals.ts';
import type { KeyOutcome } from '#shared/people/key-purposes.ts';
import { PublicKeyError, readPublicKey } from '#shared/people/public-key.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { Failure, type Input, type Option, type Shell, UsageError } from '../arguments/command.ts';
import { fileContent } from '../arguments/read-file.ts';
import { writeNewFile } from '../files/new-file.ts';
import { visibleName } from '../arguments/visible-name.ts';

/** Where a public key comes from, and its name for people. */
export const PUBLIC_KEY_OPTIONS = {
  'public-key': { value: 'FILE', help: 'the public key, in PEM, DER or as a JWK' },
  out: {
    value: 'FILE',
    help: 'make a key pair (Ed25519) instead, and write the private key to this new file, in PEM',
  },
  name: { value: 'DEVICE', help: 'the name of the key for people; default: the name of the file' },
} satisfies Readonly<Record<string, Option>>;

/** The public key in a file that an option names, or of a pair that was made. */
interface KeyFile {
  readonly file: string;
  readonly content: Buffer;
  /** The name of the key for people. */
  readonly name: string;
  /** Removes the private key that was made. */
  undo(): Promise<void>;
}

/** Reads the key that the options name, or makes it. Throws `UsageError` and `Failure`. */
export async function keyFileFrom(input: Input): Promise<KeyFile> {
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

/** Adds the key that the options name or have made. `add` puts it into the store; it is called once all is checked. */
export async function addKeyFrom(
  input: Input,
  { clock }: Pick<Shell, 'clock'>,
  members: Pick<PublicKeyRecord, 'owner' | 'scheme' | 'origin'>,
  add: (key: PublicKeyRecord) => Promise<KeyOutcome>,
): Promise<PublicKeyRecord> {
  const { file, content, name, undo } = await keyFileFrom(input);
  try {
    const key = { ...readKey(file, content, members), ...members, name, created_at: clock.now() };
    const outcome = await add(key);
    if (outcome !== 'added') throw new Failure(`the key ${key.id} ${KEY_REFUSALS[outcome]}`);
    return key;
  } catch (error) {
    await undo();
    throw error;
  }
}

/** Returns the public half. */
async function makePair(file: string): Promise<Buffer> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  });
  await writeNewFile(file, [privateKey]);
  return publicKey;
}

function readKey(file: string, content: Buffer, { scheme }: Pick<PublicKeyRecord, 'scheme'>) {
  try {
    return readPublicKey(content, scheme);
  } catch (error) {
    if (error instanceof PublicKeyError) throw new Failure(`${file} ${error.message}`);
    throw error;
  }
}
