import { CLI } from '#shared/base/invocation.ts';
import { Failure, type Shell, UsageError } from '../arguments/command.ts';
import { currentLogin } from './current-login.ts';
import { loadProver } from './dpop.ts';
import type { Send } from '#shared/client/send.ts';
import type { GetAccess } from './protected-request.ts';
import type { ResourceMetadata } from './resource-metadata.ts';

/**
 * Returns the token of the login. It is sent only to the resource for which it was issued, and only if that resource
 * accepts tokens of its issuer (RFC 9728 section 3.3).
 */
export function loginAccess(send: Send, shell: Shell): GetAccess {
  return async (metadata) => {
    const { resource, authorizationServers } = metadata;
    demandDpop(metadata, 'name a --client');
    const login = await currentLogin(send, shell);
    if (login === undefined) {
      throw new UsageError(`the resource asks for a token: run ${CLI} login, or name a --client`);
    }
    if (login.resource !== resource || !authorizationServers.includes(login.issuer)) {
      throw new Failure(
        `the login at ${login.issuer} is for ${login.resource ?? 'no resource'}, not for ${resource}: run ${CLI} login --resource ${resource}, or name a --client`,
      );
    }
    const prover = await loadProver(login.private_jwk, shell.clock, shell.random);
    return { accessToken: login.access_token, prover, resource };
  };
}

/**
 * Throws `Failure` if the resource accepts no tokens that are bound to a key. The tokens of a login are bound, and
 * never sent without a proof. `remedy` says what to do.
 */
export function demandDpop({ resource, tokenType }: ResourceMetadata, remedy: string): void {
  if (tokenType === 'dpop') return;
  throw new Failure(
    `${resource} takes tokens by Bearer alone, and that of a login is bound to a key: ${remedy}`,
  );
}
