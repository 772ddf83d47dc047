import { generateKeyPair, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { Clock } from '#shared/base/clock.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { ClientKeys, HobaKey } from './exchange.ts';
import { PERSON } from './person.ts';

/** The application that owns the key for Concealed. It is registered nowhere. */
const APPLICATION = '(playground)';

const newEd25519 = () => generateKeyPairSync('ed25519');
const newP256 = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const newRsa = () => promisify(generateKeyPair)('rsa', { modulusLength: 2048 });

/** Returns the id of a key (RFC 7486 section 9.4, RFC 9729 section 4.1), and its stored form. */
function spkiOf(publicKey: KeyObject): { readonly id: string; readonly spki: string } {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return { id: hash('sha256', spki, 'base64url'), spki: spki.toString('base64url') };
}

/** Makes a value at its first use, and again after a failure. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

/**
 * The keys of the playground's clients, which exist only in this process, and stores with no other keys. `origin`: the
 * origin for which HOBA's key is valid.
 */
export function playgroundKeys(
  stores: Stores,
  origin: string,
  clock: Clock,
): { readonly keys: ClientKeys; readonly stores: Stores } {
  const known = new Map<string, PublicKeyRecord>();
  const name = '(playground)';
  const hobaKey = async (register: boolean): Promise<HobaKey> => {
    const { privateKey, publicKey } = await newRsa();
    const { id, spki } = spkiOf(publicKey);
    const owner = { kind: 'person', id: PERSON.id } as const;
    const record = { id, spki, owner, name, origin, created_at: clock.now() };
    if (register) known.set(id, { ...record, scheme: 'HOBA' });
    return { kid: id, key: privateKey };
  };
  const own = newEd25519();
  const p256 = newP256();
  const { id, spki } = spkiOf(own.publicKey);
  const owner = { kind: 'application', id: APPLICATION } as const;
  known.set(id, { id, spki, owner, name, scheme: 'Concealed', created_at: clock.now() });
  const publicKeys: Stores['publicKeys'] = {
    ...stores.publicKeys,
    get: async (asked) => known.get(asked),
    touch: async () => {},
  };
  return {
    keys: {
      hoba: once(() => hobaKey(true)),
      unknownHoba: once(() => hobaKey(false)),
      ed25519: () => own.privateKey,
      unknownEd25519: () => newEd25519().privateKey,
      p256: () => p256,
      unknownP256: newP256,
    },
    stores: { ...stores, publicKeys },
  };
}
