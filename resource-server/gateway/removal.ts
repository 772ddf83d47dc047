import { isApiKeyLike } from '#shared/people/api-key.ts';
import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Drop } from '../forwarding/fields.ts';
import type { Space } from '../space/spaces.ts';
import type { OwnNames } from './own-names.ts';

/** Fields that the gateway writes itself. */
const OURS = /^(?:x-auth-.+|x-request-id|traceparent|tracestate|destination|if|expect)$/;
/** Credentials for this server. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'dpop']);
/** Schemes whose credentials an application may get, if the operator configures it. */
const TOKENS = new Set(['Bearer', 'DPoP']);

const NONE: ReadonlySet<string> = new Set();

/**
 * THE rule of the request fields (headers) and trailers that are stripped: an application never receives them from a
 * client, so no client can spoof them or leak its credentials.
 *
 * 1. Hop-by-hop fields, and those that Connection names: `onwardLines` in forwarding/fields.ts.
 * 2. Fields that applications trust from their proxy, unless a trusted proxy sent them (`pass`):
 * http/trusted-fields.ts.
 * 3. Fields that this server writes itself, including the identity fields (`OURS`, `identityFields`). The trace of a
 * trusted proxy is written again, and any other trace is dropped: a front gateway restarts traces (W3C Trace Context
 * section 4.3). An application without a trace begins its own, by its own sampling.
 * 4. Credentials for this server (`CREDENTIALS`), and fields that the space configures as `secrets`.
 * 5. API keys of this server, in any field (own-names.ts), and in the query: `withoutKeys` (gateway.ts).
 * 6. Cookies of this server: application-lines.ts.
 *
 * `scheme`: the scheme that admitted the client. Undefined: none.
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

  /** A proxy that writes a field leaves a single line of it. It may leave other spellings as the client sent them. */
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
