import { ALGORITHMS } from '#shared/jose/algorithms.ts';

export interface ResourceDescription {
  /** The resource identifier, which is the identity of the space. */
  readonly url: string;
  readonly name: string;
  readonly issuer: string;
  /** Names of the schemes, such as `Bearer`. */
  readonly schemes: readonly string[];
  /** The scopes that all methods need together. */
  readonly scopes: readonly string[];
}

/** Returns the URL of a resource's metadata: the well-known path goes between host and path (RFC 9728 section 3.1). */
export function metadataUrl(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  const path = pathname === '/' ? '' : pathname;
  return `${origin}/.well-known/oauth-protected-resource${path}${search}`;
}

/** Returns protected resource metadata (RFC 9728 section 2), without parameters that have no value (section 3.2). */
export function metadataDocument(resource: ResourceDescription): Readonly<Record<string, unknown>> {
  const { url, name, issuer, schemes, scopes } = resource;
  const bearer = schemes.includes('Bearer');
  return {
    resource: url,
    resource_name: name,
    authorization_servers: [issuer],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    ...(bearer && { bearer_methods_supported: ['header'] }),
    ...(schemes.includes('DPoP') && {
      dpop_signing_alg_values_supported: [...ALGORITHMS.keys()],
      dpop_bound_access_tokens_required: !bearer,
    }),
  };
}
