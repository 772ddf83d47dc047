import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { DeclaredPerson } from './file-schema.ts';

/** A client as a file declares it. */
export type WantedClient = Omit<ClientRecord, 'created_at'> & { readonly created_at?: number };

/** An API key as a file declares it. */
export type WantedKey = Omit<ApiKeyRecord, 'created_at'> & { readonly created_at?: number };

/** The content of a file, with the secrets of the files that it names hashed. */
export interface Wanted {
  readonly people: readonly DeclaredPerson[];
  readonly clients: readonly WantedClient[];
  readonly keys: readonly WantedKey[];
}
