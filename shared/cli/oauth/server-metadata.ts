import { discoveryRequest, type AuthorizationServer as Metadata } from 'oauth4webapi';
import { parseScope } from '#shared/jose/scope.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import type { Send } from '#shared/client/send.ts';
import { jsonObject, parseSafeUrl } from './http.ts';
import { throughLibrary } from './library.ts';

/** The metadata of an authorization server that a client uses. */
export interface AuthorizationServer {
  readonly metadata: Metadata;
  /**
   * Returns the URL of an endpoint, for example `token_endpoint`. Throws `Failure` if the metadata have no such URL, or
   * it is not safe for secrets and tokens.
   */
  endpoint(name: `${string}_endpoint`): string;
}

/** Names the scopes of a request that the metadata do not list, which they need not do (RFC 8414 section 2). */
export function noteUnlisted(
  { metadata: { issuer, scopes_supported: listed } }: AuthorizationServer,
  scope: string | undefined,
  shell: Pick<Shell, 'note'>,
): void {
  if (!Array.isArray(listed)) return;
  for (const one of parseScope(scope).difference(new Set(listed))) {
    shell.note(`${issuer} does not list the scope ${one}: the token may come without it.`);
  }
}

/**
 * RFC 8414 section 3: gets the metadata of exactly this issuer. Throws `Failure` if there are none, or they name
 * another issuer. Issuers are compared as texts (section 3.3), while the library compares them as URLs.
 */
export async function findServer(send: Send, issuer: string): Promise<AuthorizationServer> {
  const { reply, url } = await throughLibrary(send, (options) =>
    discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...options }),
  );
  if (reply.status !== 200) throw new Failure(`${url} answers ${reply.status}`);
  const metadata = jsonObject(reply, url);
  if (metadata['issuer'] !== issuer) {
    throw new Failure(
      `${url} is of another issuer (RFC 8414 section 3.3): ${JSON.stringify(metadata['issuer'])}, not ${issuer}`,
    );
  }
  return {
    metadata: { ...metadata, issuer },
    endpoint(name) {
      const endpoint = metadata[name];
      if (typeof endpoint !== 'string' || parseSafeUrl(endpoint) === undefined) {
        throw new Failure(`${url} names no ${name.replaceAll('_', ' ')} that may be used`);
      }
      return endpoint;
    },
  };
}
