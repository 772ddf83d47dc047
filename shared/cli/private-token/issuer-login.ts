import { decodeJwt } from 'jose';
import type { Config } from '#shared/config/schema.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { REQUEST_SCOPE } from '#shared/config/token-spaces.ts';
import { CLI } from '#shared/base/invocation.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { currentLogin } from '../oauth/current-login.ts';
import { loadProver } from '../oauth/dpop.ts';
import { sendUnhurried } from '../oauth/http.ts';
import type { Login } from '../oauth/login.ts';
import { demandDpop } from '../oauth/login-access.ts';
import { loginPath, readLogin } from '../oauth/login-file.ts';
import type { GetAccess } from '../oauth/protected-request.ts';
import type { ResourceMetadata } from '../oauth/resource-metadata.ts';
import { revokeLogin } from '../oauth/revoke-login.ts';
import { signIn } from '../oauth/sign-in.ts';

/** The client that gets tokens, and the means that it needs. */
export interface Holder {
  readonly config: Config;
  /** The client id for a new login. */
  readonly client: string;
  readonly shell: Shell;
  /** A person reads standard output. */
  readonly onTerminal: boolean;
  /** Present if the command must not wait for a person. The text says what to do if a sign-in is needed. */
  readonly unattended?: string;
}

/** The login for requests to an issuer. Disposing of it ends a login that was made only for this. */
export interface IssuerLogin extends AsyncDisposable {
  readonly getAccess: GetAccess;
  /** Undefined until the issuer has asked for one. */
  readonly login: Login | undefined;
}

/**
 * Uses the stored login if it is for the issuer's request URL. Otherwise the person approves a new login, which stays
 * in memory. A site names the issuer, and the issuer names an authorization server. Only the configured authorization
 * server is accepted, since any site could otherwise lead the person to its own sign-in page.
 */
export function issuerLogin({
  config: { issuer },
  client,
  shell,
  onTerminal,
  unattended,
}: Holder): IssuerLogin {
  let login: Login | undefined;
  let approved: Login | undefined;

  async function approve({ resource, authorizationServers }: ResourceMetadata): Promise<Login> {
    if (!authorizationServers.includes(issuer)) {
      const others = authorizationServers.join(' or ') || 'no authorization server';
      throw new Failure(
        `${resource} takes logins at ${others}, not at ${issuer}. If you trust it: ${CLI} login --issuer URL --scope ${REQUEST_SCOPE} --resource ${resource}`,
      );
    }
    if (unattended !== undefined) throw new Failure(unattended);
    approved = await signIn(
      sendUnhurried,
      { issuer, client_id: client, scope: REQUEST_SCOPE, resource },
      shell,
      onTerminal,
    );
    if (approved.resource === resource) return approved;
    throw new Failure(`the token of ${issuer} is for ${approved.resource}, not for ${resource}`);
  }

  return {
    get login() {
      return login;
    },
    getAccess: async (metadata) => {
      demandDpop(metadata, 'no tokens are got there');
      login = (await keptLogin(metadata, shell)) ?? (await approve(metadata));
      const prover = await loadProver(login.private_jwk, shell.clock, shell.random);
      return { accessToken: login.access_token, prover, resource: metadata.resource };
    },
    [Symbol.asyncDispose]: async () => {
      if (approved === undefined) return;
      await revokeLogin(sendUnhurried, approved).catch((error: Error) =>
        shell.note(`The login at ${issuer} is not ended: ${error.message}`),
      );
    },
  };
}

async function keptLogin(
  { resource, authorizationServers }: ResourceMetadata,
  shell: Shell,
): Promise<Login | undefined> {
  const path = loginPath(shell.env);
  const kept = path === undefined ? undefined : await readLogin(path);
  const fits =
    kept?.resource === resource &&
    authorizationServers.includes(kept.issuer) &&
    parseScope(kept.scope).has(REQUEST_SCOPE);
  return fits ? currentLogin(sendUnhurried, shell) : undefined;
}

/** `sub` of the login's token (RFC 9068 section 2.2), as the issuer sees it; undefined when it is no JWT. */
export function personOf({ access_token }: Login): string | undefined {
  try {
    return decodeJwt(access_token).sub;
  } catch {
    return undefined;
  }
}
