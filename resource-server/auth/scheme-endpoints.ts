import type {
  SchemeEndpoint,
  SchemeEntry,
  SchemeParts,
} from '#shared/auth/schemes/parts/scheme-entry.ts';
import { HttpError } from '#shared/http/answer.ts';
import { authRequest, type Recipient } from '#shared/server/endpoints/auth-request.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { Endpoint } from '#shared/server/endpoints/endpoint.ts';
import type { Space } from '../space/spaces.ts';

/** Endpoints by origin and path. */
export type EndpointsOfSchemes = ReadonlyMap<string, ReadonlyMap<string, Endpoint>>;

/** The longest content in bytes. */
const LONGEST = 65_536;

/** Returns the endpoints of the schemes that spaces of an origin use. They need no credentials. */
export async function endpointsOfSchemes(
  entries: readonly SchemeEntry[],
  parts: SchemeParts,
  spaces: readonly Space[],
  recipient: Recipient,
): Promise<EndpointsOfSchemes> {
  const found = new Map<string, Map<string, Endpoint>>();
  for (const { name, endpoints, overTls } of entries) {
    const having = spaces.filter(
      ({ origin, schemes }) =>
        schemes.some((scheme) => scheme.name === name) && (!overTls || origin.startsWith('https:')),
    );
    if (endpoints === undefined || having.length === 0) continue;
    const opened = Object.entries(await endpoints(parts, having));
    for (const { origin } of having) {
      const there = found.get(origin) ?? new Map<string, Endpoint>();
      found.set(origin, there);
      for (const [path, one] of opened) there.set(path, endpointOf(one, origin, recipient));
    }
  }
  return found;
}

function endpointOf(
  { methods, answer }: SchemeEndpoint,
  origin: string,
  recipient: Recipient,
): Endpoint {
  return {
    methods,
    async answer(request) {
      const { method = '', url: target = '' } = request;
      const content = await wholeContent(request, LONGEST, tooLong);
      return answer(authRequest(request, { method, target, origin }, recipient), content);
    },
  };
}

const tooLong = () => new HttpError(413, `The content has at most ${LONGEST} bytes.`);
