import { metadataUrl } from '#shared/auth/tokens/protected-resource.ts';
import { type Challenge, parseChallenges } from '#shared/http/auth/challenge.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { Failure } from '../arguments/command.ts';
import { type Reply, type Send } from '#shared/client/send.ts';
import { jsonObject, parseSafeUrl } from './http.ts';
import type { TokenType } from './token-grant.ts';

/** The metadata of a protected resource that a client needs to get a token for it (RFC 9728 section 2). */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  /** The scope in the challenge (RFC 6750 section 3). */
  readonly scope?: string | undefined;
  /** The type of token that the resource accepts: bound to a key, unless the metadata exclude that. */
  readonly tokenType: TokenType;
}

/**
 * Finds the metadata of the resource that answered `url` with 401: at the URL in its challenge, or else at the
 * well-known URL. They are valid only if `resource` has its metadata at that URL (section 3.3), and `url` is within
 * `resource`. Throws `Failure` with the reason.
 */
export async function findMetadata(
  sendMessage: Send,
  url: string,
  unauthorized: Reply,
): Promise<ResourceMetadata> {
  const challenges = parseChallenges(unauthorized.fields['www-authenticate'] ?? '');
  const asked = challengeParams(challenges ?? []);
  const place = asked['resource_metadata'] ?? metadataUrl(url);
  const safe = parseSafeUrl(place);
  if (safe?.origin !== new URL(url).origin) {
    throw new Failure(`the metadata of ${url} would be at another origin: ${place}`);
  }
  const answer = await sendMessage({ method: 'GET', url: place });
  if (answer.status !== 200) {
    throw new Failure(`${place} answers ${answer.status}: give the URL of a resource (RFC 9728)`);
  }
  const metadata = jsonObject(answer, place);
  const { resource, authorization_servers: servers } = metadata;
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
    tokenType: challenges && takesBearerAlone(metadata, challenges) ? 'bearer' : 'dpop',
  };
}

/** True when `url` is the resource or below it: same origin, and its path goes on where the resource's ends. */
export function isWithin(url: string, resource: string): boolean {
  const inner = new URL(url);
  const outer = new URL(resource);
  const folder = outer.pathname.replace(/\/?$/, '/');
  return inner.origin === outer.origin && `${inner.pathname}/`.startsWith(folder);
}

/**
 * True if both metadata (RFC 9728 section 2) and challenge (RFC 9449 section 7.1) ask only for Bearer. An attacker who
 * controls one of them cannot make a client send a token that others could use in place of one bound to a key.
 */
function takesBearerAlone(
  metadata: Readonly<Record<string, unknown>>,
  challenges: readonly Challenge[],
): boolean {
  const methods = metadata['bearer_methods_supported'];
  return (
    Array.isArray(methods) &&
    methods.includes('header') &&
    !Object.keys(metadata).some((name) => name.startsWith('dpop_')) &&
    !challenges.some(isOf('dpop'))
  );
}

/** Parameters of the DPoP challenge, then of any that names metadata, then of the Bearer challenge. */
function challengeParams(challenges: readonly Challenge[]): AuthParams {
  const naming = challenges.find(({ params }) => params?.['resource_metadata'] !== undefined);
  const [dpop, bearer] = [challenges.find(isOf('dpop')), challenges.find(isOf('bearer'))];
  return { ...bearer?.params, ...naming?.params, ...dpop?.params };
}

const isOf =
  (name: string) =>
  ({ scheme }: Challenge) =>
    scheme.toLowerCase() === name;
