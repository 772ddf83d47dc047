import type { Send } from '#shared/client/send.ts';
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
  const metadata = await findMetadata(send, url, await send({ method: 'GET', url }));
  demandDpop(metadata, 'use a client that knows no keys');
  const { resource, scope, authorizationServers } = metadata;
  const issuer = authorizationServers.find((one) => parseSafeUrl(one) !== undefined);
  if (issuer === undefined) throw new Failure(`${resource} names no authorization server`);
  return { issuer, resource, scope };
}
