import { metadataUrl } from '#shared/auth/protected-resource.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { Failure } from '../command.ts';
import { type Reply, type Send } from '#shared/client/send.ts';
import { jsonObject, parseSafeUrl } from './http.ts';

/** What a client has to know of a protected resource (RFC 9728 section 2) to get a token for it. */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  /** What the challenge asked for (RFC 6750 section 3). */
  readonly scope?: string | undefined;
}

/**
 * The metadata of the resource that answered `url` with 401: where its challenge says, else at the
 * well-known place of the URL itself. It counts only if it is where its own `resource` has to be
 * described (section 3.3) and `url` lies within that resource. Throws `Failure` with the reason.
 */
export async function findMetadata(
  sendMessage: Send,
  url: string,
  unauthorized: Reply,
): Promise<ResourceMetadata> {
  const asked = challengeParams(unauthorized);
  const place = asked['resource_metadata'] ?? metadataUrl(url);
  const safe = parseSafeUrl(place);
  if (safe?.origin !== new URL(url).origin) {
    throw new Failure(`the metadata of ${url} would be at another origin: ${place}`);
  }
  const answer = await sendMessage({ method: 'GET', url: place });
  if (answer.status !== 200) throw new Failure(`${place} answers ${answer.status}`);
  const { resource, authorization_servers: servers } = jsonObject(answer, place);
  if (
    typeof resource !== 'string' ||
    !URL.canParse(resource) ||
    metadataUrl(resource) !== safe.href
  ) {
    throw new Failure(`${place} describes another resource (RFC 9728 section 3.3)`);
  }
  if (!isWithin(url, resource)) throw new Failure(`${url} is not within the resource ${resource}`);
  return {
    resource,
    authorizationServers: Array.isArray(servers)
      ? servers.filter((one) => typeof one === 'string')
      : [],
    scope: asked['scope'],
  };
}

/** True when `url` is the resource or below it: same origin, and its path goes on where the resource's ends. */
export function isWithin(url: string, resource: string): boolean {
  const inner = new URL(url);
  const outer = new URL(resource);
  const folder = outer.pathname.replace(/\/?$/, '/');
  return inner.origin === outer.origin && `${inner.pathname}/`.startsWith(folder);
}

/** Parameters of the DPoP challenge, else of any that names metadata. */
function challengeParams({ fields }: Reply) {
  const challenges = parseChallenges(fields['www-authenticate'] ?? '') ?? [];
  const chosen =
    challenges.find(({ scheme }) => scheme.toLowerCase() === 'dpop') ??
    challenges.find(({ params }) => params?.['resource_metadata'] !== undefined);
  return chosen?.params ?? {};
}
