import { tokenSpaces } from '#shared/config/token-spaces.ts';
import type { Config } from '#shared/config/schema.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { ClientDocument } from './document.ts';

/** Scopes about the person that every such client may request. */
const PERSONAL = ['openid', 'profile', 'email'];

interface Found {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Seconds. */
  readonly fresh: number;
  readonly was: ClientRecord | undefined;
  /** Present if an operator registers the client now. */
  readonly registered?: true;
}

/**
 * Returns a client as its document describes it, with the time of the last change of its redirect URIs, keys or name:
 * people are asked again after that (draft section 6.3). If the client has given up its keys, its earlier refresh
 * tokens are valid only with a key.
 */
export function recordOf(
  clientId: string,
  document: ClientDocument,
  { now, fresh, was, registered = was?.document?.registered }: Found,
): ClientRecord {
  const described = {
    client_id: clientId,
    client_name: document.name,
    grant_types: ['authorization_code', ...(document.refreshes ? ['refresh_token'] : [])],
    token_endpoint_auth_method: document.method,
    redirect_uris: document.redirectUris,
    application_type: document.native ? 'native' : 'web',
    ...(document.jwks && { jwks: document.jwks }),
    ...(document.startUrl !== undefined && { start_url: document.startUrl }),
    ...(document.logoutUrl !== undefined && { backchannel_logout_uri: document.logoutUrl }),
  } as const;
  const gaveKeysUp =
    document.method === 'none' && was?.token_endpoint_auth_method === 'private_key_jwt';
  const publicSince = gaveKeysUp ? now : was?.document?.public_since;
  const isAsBefore = was !== undefined && textOf(described) === textOf(was);
  return {
    ...described,
    scope: '',
    document: {
      fetched: now,
      until: now + fresh * 1000,
      changed: (isAsBefore ? was.document?.changed : undefined) ?? now,
      ...(publicSince !== undefined && { public_since: publicSince }),
      ...(registered && { registered }),
    },
    created_at: was?.created_at ?? now,
  };
}

const textOf = ({
  client_name,
  redirect_uris,
  jwks,
  token_endpoint_auth_method,
}: Pick<
  ClientRecord,
  'client_name' | 'redirect_uris' | 'jwks' | 'token_endpoint_auth_method'
>): string => JSON.stringify([client_name, redirect_uris, jwks, token_endpoint_auth_method]);

/** Returns the spaces at which such clients may request scopes. */
export const openToDocuments = (config: Config) =>
  tokenSpaces(config).filter(({ documentClients = [] }) => documentClients.length > 0);

/**
 * Returns the client with the scopes that the present configuration allows such clients, whatever it was when the
 * client was stored.
 */
export function withRights(config: Config, client: ClientRecord): ClientRecord {
  const open = openToDocuments(config);
  const scopes = new Set(open.flatMap(({ documentClients = [] }) => documentClients));
  const lasting = client.grant_types.includes('refresh_token') ? ['offline_access'] : [];
  return {
    ...client,
    scope: [...scopes, ...PERSONAL, ...lasting].join(' '),
    default_scope: [...scopes].join(' '),
    resources: open.map(({ url }) => url),
  };
}
