import { isApiKeyLike } from '#shared/people/api-key.ts';
import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Drop } from '../forwarding/fields.ts';
import type { Space } from '../space/spaces.ts';
import type { OwnNames } from './own-names.ts';

/** Written by us, where they are. */
const OURS = /^(?:x-auth-.+|x-request-id|destination|if|expect)$/;
/** Credentials that were for us. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'dpop']);
/** Schemes whose credentials an application may see, where the operator says so. */
const TOKENS = new Set(['Bearer', 'DPoP']);

const NONE: ReadonlySet<string> = new Set();

/**
 * Which fields of a request, in its header or trailer section, an application does not get from a client: credentials
 * for this server, keys that it has given out for whatever space, what tells who was let in, and what applications believe of their proxy, unless a trusted proxy has
 * sent it (`pass`). `scheme`: by which the client got in; undefined: by none.
 */
export function createRemoval(
  { apiKeyField }: Space,
  { secrets, pass, authorization }: UpstreamConfig,
  { identityFields, keyFields }: OwnNames,
  proxies: TrustedProxies,
) {
  const own = [...secrets, apiKeyField ?? []].flat().map((name) => name.toLowerCase());
  const always = new Set([...own, ...identityFields]);
  const passed = pass.map((name) => name.toLowerCase());

  /** A proxy that writes a field leaves one line of it; it may leave other spellings as the client sent them. */
  function passedFrom({ rawHeaders, socket }: AnyRequest): ReadonlySet<string> {
    if (passed.length === 0 || !proxies.has(socket.remoteAddress ?? '')) return NONE;
    const sent = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    return new Set(passed.filter((name) => sent.filter((one) => one === name).length === 1));
  }

  return (request: AnyRequest, scheme: string | undefined): Drop => {
    const believed = passedFrom(request);
    const isPassed = scheme === undefined || (authorization === 'pass' && TOKENS.has(scheme));
    const credentials = isPassed ? NONE : CREDENTIALS;
    return ({ canonical, plain, vouched, overriding }, value) =>
      ((vouched || overriding) && !(plain && believed.has(canonical))) ||
      OURS.test(canonical) ||
      always.has(canonical) ||
      credentials.has(canonical) ||
      (keyFields.has(canonical) && isApiKeyLike(value));
  };
}
