import { jsonOf, type Send } from '#shared/client/send.ts';
import { Failure } from '../arguments/command.ts';
import { parseSafeUrl } from './http.ts';
import { demandDpop } from './login-access.ts';
import { findMetadata } from './resource-metadata.ts';

/** The resource and the issuer that a URL's 401 answer leads to. */
export interface ResourceAt {
  readonly issuer: string;
  readonly resource: string;
  /** The scopes that its challenge names. */
  readonly scope?: string | undefined;
}

/** Finds the resource of a URL and its first authorization server (RFC 9728 section 5). Throws `Failure`. */
export async function resourceAt(send: Send, url: string): Promise<ResourceAt> {
  const reply = await send({ method: 'GET', url });
  const metadata = await findMetadata(send, url, reply).catch(async (error: unknown) => {
    const at = await issuerAt(send, url);
    if (at === undefined) throw error;
    throw new Failure(
      `${url} is an authorization server, not a resource: give the URL of a resource, or --issuer ${at}`,
    );
  });
  demandDpop(metadata, 'use a client that knows no keys');
  const { resource, scope, authorizationServers } = metadata;
  const issuer = authorizationServers.find((one) => parseSafeUrl(one) !== undefined);
  if (issuer === undefined) throw new Failure(`${resource} names no authorization server`);
  return { issuer, resource, scope };
}

/** Resolves to the identifier of the authorization server at a URL, if there is one (RFC 8414 section 3.3). */
async function issuerAt(send: Send, url: string): Promise<string | undefined> {
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/$/, '');
  const place = `${origin}/.well-known/oauth-authorization-server${path}`;
  const { issuer } = Object(jsonOf(await send({ method: 'GET', url: place }))) as {
    readonly issuer?: unknown;
  };
  return issuer === origin + path ? issuer : undefined;
}
