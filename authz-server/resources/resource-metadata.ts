import { metadataDocument, metadataUrl } from '#shared/auth/tokens/protected-resource.ts';
import type { TokenSpace } from '#shared/config/token-spaces.ts';
import type { Answer } from '#shared/http/answer.ts';
import { EVERYBODY } from '#shared/server/endpoints/cors.ts';
import { type Endpoint, READ } from '#shared/server/endpoints/endpoint.ts';
import { validated } from '#shared/server/endpoints/validated.ts';
import { spaceScopes } from './resource-indicators.ts';

/** Returns the path of a space's metadata and its endpoint row. `issuer` issues the access tokens. */
export function metadataEndpoint(space: TokenSpace, issuer: string): readonly [string, Endpoint] {
  return [
    new URL(metadataUrl(space.url)).pathname,
    {
      methods: READ,
      program: true,
      cors: EVERYBODY,
      answer: (request) => validated(request, resourceMetadata(space, issuer)),
    },
  ];
}

/** Returns the protected resource metadata of a space (RFC 9728 section 2). */
function resourceMetadata(space: TokenSpace, issuer: string): Answer {
  const document = metadataDocument({
    url: space.url,
    name: space.realm,
    issuer,
    schemes: ['DPoP', 'Bearer'],
    scopes: [...spaceScopes(space)],
  });
  return {
    status: 200,
    fields: { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=300' },
    body: JSON.stringify(document),
  };
}
