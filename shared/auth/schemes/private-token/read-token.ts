import { decodeBase64url } from '#shared/private-token/base64url.ts';
import { parseToken, type Token } from '#shared/private-token/token.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';

/**
 * Reads the parameter `token` of the credentials (RFC 9577 section 2.2.1). Returns the reason if it is not a token of
 * an accepted type.
 */
export function readToken(text: string | undefined, types: readonly TokenType[]): Token | Refusal {
  const bytes = text === undefined ? undefined : decodeBase64url(text);
  if (bytes === undefined) return refuse('private-token-form');
  const token = parseToken(bytes);
  return token !== undefined && types.includes(token.type) ? token : refuse('private-token-type');
}
