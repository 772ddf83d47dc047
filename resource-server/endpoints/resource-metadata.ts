import { type Answer, notFound } from '#shared/http/answer.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Target } from '#shared/http/target.ts';
import { metadataDocument } from '#shared/auth/tokens/protected-resource.ts';
import type { Space, Spaces } from '../space/spaces.ts';

const PREFIX = ['.well-known', 'oauth-protected-resource'] as const;

export function isMetadata({ segments }: Target): boolean {
  return segments[0] === PREFIX[0] && segments[1] === PREFIX[1];
}

/**
 * Metadata of the space whose path follows the well-known path (RFC 9728 section 3.1), with or without the final slash.
 * Without a path it describes the only space, where clients look last (MCP 2026-07-28, authorization server discovery).
 * Anyone may read it, including scripts of any origin. Throws 404 if no such space accepts access tokens.
 */
export function resourceMetadata(
  { issuer }: Pick<Config, 'issuer'>,
  spaces: Pick<Spaces, 'find' | 'seen'>,
  origin: string,
  { segments }: Target,
): Answer {
  const path = segments.slice(PREFIX.length);
  const found = spaces.find(origin, path);
  const space =
    found?.segments.length === path.length ? found : path.length === 0 && only(spaces, origin);
  if (!space || !takesTokens(space)) throw notFound();
  const document = metadataDocument({
    url: space.url,
    name: space.realm,
    issuer,
    schemes: space.schemes.map(({ name }) => name),
    scopes: space.allScopes,
  });
  return {
    status: 200,
    fields: { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=300' },
    body: JSON.stringify(document),
  };
}

const takesTokens = ({ schemes }: Space) =>
  schemes.some(({ name }) => name === 'Bearer' || name === 'DPoP');

/** Returns the only space of an origin that accepts access tokens. Hidden spaces are neither revealed nor counted. */
function only({ seen }: Pick<Spaces, 'seen'>, origin: string): Space | undefined {
  const [first, second] = seen.filter(
    (space) => space.origin === origin && space.hide === undefined && takesTokens(space),
  );
  return second === undefined ? first : undefined;
}
