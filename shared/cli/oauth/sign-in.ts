import { CLI } from '#shared/base/invocation.ts';
import { Failure, type Option, type Shell } from '../arguments/command.ts';
import { plainScreen, terminalScreen } from './login-screen.ts';
import { authorizeDevice, pollForToken } from './device-login.ts';
import { createProver } from './dpop.ts';
import type { Send } from '#shared/client/send.ts';
import { type Login, newLogin } from './login.ts';
import { OAuthFailure } from './oauth-failure.ts';
import { findServer, noteUnlisted } from './server-metadata.ts';

/** Public client that the first start makes in development; production refuses it. */
export const DEVICE_CLIENT = 'demo-device';

export const CLIENT_OPTION: Readonly<Record<string, Option>> = {
  client: {
    value: 'CLIENT',
    help: `a public client of the device flow; default: ${DEVICE_CLIENT}`,
  },
};

export interface SignInRequest {
  readonly issuer: string;
  readonly client_id: string;
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
  /** How the person has to sign in, and how recently (OpenID Connect Core 1.0 section 3.1.2.1). */
  readonly acr_values?: string | undefined;
  readonly max_age?: string | undefined;
}

/**
 * Shows the code of a device login (RFC 8628) and waits until the person has decided; the tokens are bound
 * to a key that is made for them. `onTerminal`: a person reads standard output. Throws `Failure`.
 */
export async function signIn(
  send: Send,
  { issuer, client_id, scope, resource, acr_values, max_age }: SignInRequest,
  shell: Shell,
  onTerminal: boolean,
): Promise<Login> {
  const { clock, random } = shell;
  const server = await findServer(send, issuer);
  noteUnlisted(server, scope, shell);
  const prover = await createProver(clock, random);
  const device = { client: client_id, resource };
  const asked = { ...device, scope, acr_values, max_age };
  const authorization = await authorizeDevice(send, server, asked, clock).catch(
    (error: unknown) => {
      throw isUnknown(error, client_id) ? new Failure(...REGISTER) : error;
    },
  );
  using screen = onTerminal ? terminalScreen(shell) : plainScreen(shell);
  screen.show(authorization);
  const answer = await pollForToken(send, server, device, authorization, prover, shell, screen);
  const wanted = { issuer, client_id, scope, resource };
  return newLogin(answer, { asked: wanted, privateJwk: prover.privateJwk, clock });
}

const isUnknown = (error: unknown, client: string) =>
  client === DEVICE_CLIENT && error instanceof OAuthFailure && error.error === 'invalid_client';

const REGISTER = [
  `${DEVICE_CLIENT} is not known there: it is for development. Whoever runs the server registers a client,`,
  `  ${CLI} client add --name "Command line" --public --grant device_code --grant refresh_token --scope "openid profile SCOPES"`,
  'and its client_id goes into --client',
];
