import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import type { Name } from '../forwarding/names.ts';
import type { Space } from '../spaces.ts';

/** By these some frameworks carry out another method, or at another path, than anybody here has looked at. */
const OVERRIDES = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
]);
/** Written by us, where they are. */
const OURS = /^(?:x-auth-.+|x-request-id|destination|if|expect)$/;
/** Credentials that were for us. */
const CREDENTIALS = new Set(['authorization', 'dpop']);
/** Schemes whose credentials an application may see, where the operator says so. */
const TOKENS = new Set(['Bearer', 'DPoP']);

/**
 * Which fields of a request, in its header or trailer section, an application does not get from a client. `scheme`:
 * by which the client got in; undefined: by none.
 */
export function createRemoval(space: Space, config: UpstreamConfig) {
  const secrets = new Set(
    [...config.secrets, space.apiKeyField ?? []].flat().map((name) => name.toLowerCase()),
  );
  const removed = ({ canonical, vouched }: Name) =>
    vouched || OURS.test(canonical) || OVERRIDES.has(canonical) || secrets.has(canonical);
  const removedWithCredentials = (name: Name) => removed(name) || CREDENTIALS.has(name.canonical);

  return (scheme: string | undefined): ((name: Name) => boolean) =>
    scheme === undefined || (config.authorization === 'pass' && TOKENS.has(scheme))
      ? removed
      : removedWithCredentials;
}
