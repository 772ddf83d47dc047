import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import type { Name } from '../forwarding/names.ts';
import type { Space } from '../spaces.ts';

/** Written by us, where they are. */
const OURS = /^(?:x-auth-.+|x-request-id|destination|if|expect)$/;
/** Credentials that were for us. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'dpop']);
/** Schemes whose credentials an application may see, where the operator says so. */
const TOKENS = new Set(['Bearer', 'DPoP']);

const NONE: ReadonlySet<string> = new Set();

export interface RemovalParts {
  /** In lower case, the fields by which some application of the server is told who was let in. */
  readonly identityNames: ReadonlySet<string>;
  readonly proxies: TrustedProxies;
}

/**
 * Which fields of a request, in its header or trailer section, an application does not get from a client: credentials
 * for this server, what tells who was let in, and what applications believe of their proxy, unless a trusted proxy has
 * sent it (`pass`). `scheme`: by which the client got in; undefined: by none.
 */
export function createRemoval(
  { apiKeyField }: Space,
  { secrets, pass, authorization }: UpstreamConfig,
  { identityNames, proxies }: RemovalParts,
) {
  const own = [...secrets, apiKeyField ?? []].flat().map((name) => name.toLowerCase());
  const always = new Set([...own, ...identityNames]);
  const passed = pass.map((name) => name.toLowerCase());

  /** A proxy that writes a field leaves one line of it; it may leave other spellings as the client sent them. */
  function passedFrom({ rawHeaders, socket }: AnyRequest): ReadonlySet<string> {
    if (passed.length === 0 || !proxies.has(socket.remoteAddress ?? '')) return NONE;
    const sent = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    return new Set(passed.filter((name) => sent.filter((one) => one === name).length === 1));
  }

  return (request: AnyRequest, scheme: string | undefined): ((name: Name) => boolean) => {
    const believed = passedFrom(request);
    const isPassed = scheme === undefined || (authorization === 'pass' && TOKENS.has(scheme));
    const credentials = isPassed ? NONE : CREDENTIALS;
    return ({ canonical, plain, vouched, overriding }) =>
      ((vouched || overriding) && !(plain && believed.has(canonical))) ||
      OURS.test(canonical) ||
      always.has(canonical) ||
      credentials.has(canonical);
  };
}
