import { Failure } from '../arguments/command.ts';
import { type Send } from '#shared/client/send.ts';
import { jsonObject, parseSafeUrl } from './http.ts';

/** What a client knows of an authorization server. */
export interface AuthorizationServer {
  readonly issuer: string;
  /**
   * URL of an endpoint, for example `token_endpoint`. Throws `Failure` when the metadata names none that
   * secrets and tokens may be sent to.
   */
  endpoint(name: `${string}_endpoint`): string;
}

/**
 * RFC 8414 section 3: the metadata of exactly this issuer. Throws `Failure` when they cannot be had or
 * are of another (section 3.3).
 */
export async function findServer(send: Send, issuer: string): Promise<AuthorizationServer> {
  const url = serverMetadataUrl(issuer);
  const answer = await send({ method: 'GET', url });
  if (answer.status !== 200) throw new Failure(`${url} answers ${answer.status}`);
  const metadata = jsonObject(answer, url);
  if (metadata['issuer'] !== issuer) {
    throw new Failure(
      `${url} is of another issuer (RFC 8414 section 3.3): ${JSON.stringify(metadata['issuer'])}, not ${issuer}`,
    );
  }
  return {
    issuer,
    endpoint(name) {
      const endpoint = metadata[name];
      if (typeof endpoint !== 'string' || parseSafeUrl(endpoint) === undefined) {
        throw new Failure(`${url} names no ${name.replaceAll('_', ' ')} that may be used`);
      }
      return endpoint;
    },
  };
}

/** RFC 8414 section 3.1: the well-known path goes between the host and the path of the issuer. */
function serverMetadataUrl(issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`;
}
