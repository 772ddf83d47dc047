import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { DeclaredPerson } from './file-schema.ts';

/** A client as a file declares it. */
export type WantedClient = Omit<ClientRecord, 'created_at'> & { readonly created_at?: number };

/** An API key as a file declares it. */
export type WantedKey = Omit<ApiKeyRecord, 'created_at'> & { readonly created_at?: number };

/** A public key as a file declares it; its owner may be a person by name. */
export type WantedPublicKey = Omit<PublicKeyRecord, 'created_at' | 'owner'> & {
  readonly created_at?: number;
  readonly owner: PublicKeyRecord['owner'] | { readonly kind: 'person'; readonly name: string };
};

/** The content of a file, with the secrets of the files that it names hashed. */
export interface Wanted {
  readonly people: readonly DeclaredPerson[];
  readonly clients: readonly WantedClient[];
  /** The addresses of the documents that describe other clients. */
  readonly documents: readonly string[];
  readonly keys: readonly WantedKey[];
  readonly publicKeys: readonly WantedPublicKey[];
}
