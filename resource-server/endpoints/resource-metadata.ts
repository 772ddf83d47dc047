import { type Answer, notFound } from '#shared/http/answer.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Target } from '#shared/http/target.ts';
import { metadataDocument } from '#shared/auth/tokens/protected-resource.ts';
import type { Spaces } from '../space/spaces.ts';

const PREFIX = ['.well-known', 'oauth-protected-resource'] as const;

export function isMetadata({ segments }: Target): boolean {
  return segments[0] === PREFIX[0] && segments[1] === PREFIX[1];
}

/**
 * Metadata of the space whose path follows the well-known one (RFC 9728 section 3.1), with its last
 * slash or without. Anyone may read it, scripts of any origin too. Throws 404 when there is no such space
 * that takes access tokens.
 */
export function resourceMetadata(
  { issuer }: Pick<Config, 'issuer'>,
  spaces: Spaces,
  origin: string,
  { segments }: Target,
): Answer {
  const path = segments.slice(PREFIX.length);
  const space = spaces.find(origin, path);
  if (space === undefined || space.segments.length !== path.length) throw notFound();
  const schemes = space.schemes.map(({ name }) => name);
  if (!schemes.includes('Bearer') && !schemes.includes('DPoP')) throw notFound();
  const document = metadataDocument({
    url: space.url,
    name: space.realm,
    issuer,
    schemes,
    scopes: space.allScopes,
  });
  return {
    status: 200,
    fields: { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=300' },
    body: JSON.stringify(document),
  };
}
