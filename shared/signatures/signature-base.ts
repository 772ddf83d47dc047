import type { Params } from '#shared/http/structured-fields.ts';
import { refuse } from '#shared/refusals/signatures.ts';
import {
  componentsOf,
  type Identifier,
  identifierText,
  identityOf,
  signatureParams,
} from './component.ts';
import { BadSignature, type SignedMessage } from './message.ts';

/**
 * Returns the octets that are signed (RFC 9421 section 2.5), all of them ASCII. Throws `BadSignature` if a component
 * is repeated, is `@signature-params`, or has no value in the message.
 */
export function signatureBase(
  identifiers: readonly Identifier[],
  params: Params,
  message: SignedMessage,
): string {
  const seen = new Set<string>();
  const valueOf = componentsOf(message);
  const lines = identifiers.map((identifier) => {
    const identity = identityOf(identifier);
    if (seen.has(identity))
      throw new BadSignature(refuse('component-twice', { component: identity }));
    seen.add(identity);
    return `${identifierText(identifier)}: ${valueOf(identifier)}`;
  });
  return [...lines, `"@signature-params": ${signatureParams(identifiers, params)}`].join('\n');
}
