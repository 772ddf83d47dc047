import { metadataDocument } from '#shared/auth/protected-resource.ts';
import type { TokenSpace } from '#shared/config/token-spaces.ts';
import type { Answer } from '#shared/http/answer.ts';
import { spaceScopes } from '../resources.ts';

/** The protected resource metadata of an endpoint (RFC 9728 section 2). `issuer`: who issues its access tokens. */
export function resourceMetadata(space: TokenSpace, issuer: string): Answer {
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
