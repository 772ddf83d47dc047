import type { Config } from '#shared/config/schema.ts';
import { checkOrigin } from '#shared/operations/people/user-key-add.ts';
import { InputError } from '#shared/operations/operation.ts';
import { PublicKeyError, readPublicKey } from '#shared/people/public-key.ts';
import type { DeclaredPublicKey } from './file-schema.ts';
import type { WantedPublicKey } from './wanted.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

/**
 * Returns a public key that a file declares. Throws `InputError`, whose message never contains the key, as it may be a
 * private key.
 */
export function publicKeyFrom(declared: DeclaredPublicKey, config: Config): WantedPublicKey {
  const { id, spki, public_key, owner, used_at: _, ...members } = declared;
  const { scheme, origin } = members;
  if ((spki === undefined) === (public_key === undefined)) {
    throw new InputError([], saidOfFile('key-form'));
  }
  checkOrigin(scheme, origin, config);
  const [member, content] =
    public_key === undefined
      ? ['spki', Buffer.from(spki ?? '', 'base64url')]
      : ['public_key', Buffer.from(public_key)];
  const kept = keptOf(member, content, scheme);
  if (id !== undefined && id !== kept.id) {
    throw new InputError(['id'], saidOfFile('fingerprint', { id: kept.id }));
  }
  return { ...members, ...kept, owner: ownerFrom(owner) };
}

function keptOf(member: string, content: Buffer, scheme: DeclaredPublicKey['scheme']) {
  try {
    return readPublicKey(content, scheme);
  } catch (error) {
    if (!(error instanceof PublicKeyError)) throw error;
    throw new InputError([member], error.words);
  }
}

function ownerFrom(owner: DeclaredPublicKey['owner']): WantedPublicKey['owner'] {
  if (owner.kind === 'application') return owner;
  const { kind, id, name } = owner;
  if (id !== undefined && name === undefined) return { kind, id };
  if (name !== undefined && id === undefined) return { kind, name };
  throw new InputError(['owner'], saidOfFile('owner-form'));
}
