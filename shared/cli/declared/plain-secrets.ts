import type { Mistake } from '#shared/base/mistake.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import { isApiKeyLike } from '#shared/people/api-key.ts';

const OF_PEOPLE =
  'lets somebody in, and no file of apply has that: remove it, and give them a link (user recover NAME)';
const OF_CLIENTS =
  'is a secret, which no file of apply has: write secret_hash (SHA-256 in base64url) or secret_file';
const OF_PUBLIC_KEYS =
  'is a private key, which no file of apply has: write the public key that belongs to it';
const OF_KEYS = 'is a secret, which no file of apply has: write secret_hash or key_file';

/** Members with secrets, by the part of the file, each with advice for the user. */
const REMEDIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  people: {
    password: OF_PEOPLE,
    password_hash: OF_PEOPLE,
    verifiers: OF_PEOPLE,
    passkeys: OF_PEOPLE,
    second_factor: OF_PEOPLE,
  },
  clients: { client_secret: OF_CLIENTS, secret: OF_CLIENTS },
  api_keys: { key: OF_KEYS, secret: OF_KEYS, api_key: OF_KEYS },
  public_keys: { private_key: OF_PUBLIC_KEYS },
};

/** Parts of `directory export` with credentials, which a file for `apply` may not have. */
const PARTS = ['passkeys', 'second_factors'];

/** Whether a text is a secret in any member. */
const isSecretText = (text: string) => isApiKeyLike(text) || text.includes('PRIVATE KEY-----');

/** Returns a mistake for each plain secret in a file. The messages never contain the secret. */
export function plainSecrets(file: unknown): readonly Mistake[] {
  if (!isObject(file)) return [];
  const mistakes: Mistake[] = PARTS.filter((part) => Object.hasOwn(file, part)).map((part) => ({
    path: part,
    message: 'lets people in: leave it to directory import, and remove it here',
  }));
  for (const [part, remedies] of Object.entries(REMEDIES)) {
    const entries: readonly unknown[] = Array.isArray(file[part]) ? file[part] : [];
    for (const [index, entry] of entries.entries()) {
      if (!isObject(entry)) continue;
      for (const [member, value] of Object.entries(entry)) {
        const path = `${part}.${index}.${member}`;
        const remedy = Object.hasOwn(remedies, member) ? remedies[member] : undefined;
        if (remedy !== undefined) mistakes.push({ path, message: remedy });
        else if (isSecretText(typeof value === 'string' ? value : JSON.stringify(value))) {
          mistakes.push({ path, message: part === 'public_keys' ? OF_PUBLIC_KEYS : OF_KEYS });
        }
      }
    }
  }
  return mistakes;
}
