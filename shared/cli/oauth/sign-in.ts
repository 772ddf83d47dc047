import type { Option, Shell } from '../command.ts';
import { plainScreen, terminalScreen } from '../login-screen.ts';
import { authorizeDevice, pollForToken } from './device-login.ts';
import { createProver } from './dpop.ts';
import { formPoster } from './form-post.ts';
import type { Send } from './http.ts';
import { audienceOf, type Login, loginTokens } from './login.ts';
import { findServer } from './server-metadata.ts';

/** Public client that the first start makes. */
export const DEVICE_CLIENT = 'demo-device';

export const CLIENT_OPTION: Readonly<Record<string, Option>> = {
  client: {
    value: 'CLIENT',
    help: `a public client of the device flow; default: ${DEVICE_CLIENT}`,
  },
};

export interface SignIn {
  readonly issuer: string;
  readonly client_id: string;
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
}

/**
 * Shows the code of a device login (RFC 8628) and waits until the person has decided; the tokens are bound
 * to a key that is made for them. `onTerminal`: a person reads standard output. Throws `Failure`.
 */
export async function signIn(
  send: Send,
  { issuer, client_id, scope, resource }: SignIn,
  shell: Shell,
  onTerminal: boolean,
): Promise<Login> {
  const { clock, random } = shell;
  const server = await findServer(send, issuer);
  const device = server.endpoint('device_authorization_endpoint');
  const token = server.endpoint('token_endpoint');
  const prover = await createProver(clock, random);
  const authorization = await authorizeDevice(
    formPoster(send),
    device,
    { client_id, scope, resource },
    clock,
  );
  using screen = onTerminal ? terminalScreen(shell) : plainScreen(shell);
  screen.show(authorization);
  const form = { client_id, resource };
  const post = formPoster(send, prover);
  const answer = await pollForToken(post, token, form, authorization, shell, screen);
  const audience = audienceOf(answer.access_token) ?? resource;
  return {
    issuer,
    client_id,
    ...(audience !== undefined && { resource: audience }),
    ...loginTokens(answer, { ...(scope && { scope }) }, clock),
    private_jwk: prover.privateJwk,
  };
}
