import { createHash } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { AuthorizationResponseError, validateAuthResponse } from 'oauth4webapi';
import { randomId } from '#shared/base/random.ts';
import type { Send } from '#shared/client/send.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { createProver } from './dpop.ts';
import { describedRedirect } from './described-client.ts';
import { type Login, newLogin } from './login.ts';
import { type LoopbackAnswer, listenForAnswer } from './loopback-answer.ts';
import type { SignInRequest } from './sign-in.ts';
import { type AuthorizationServer, findServer, noteUnlisted } from './server-metadata.ts';
import { given, requestGrant } from './token-grant.ts';

/** Milliseconds within which the person must decide. */
const PATIENCE = 600_000;
/** Milliseconds between two checks for the answer. */
const OFTEN = 200;

/**
 * Logs in as a client with a Client ID Metadata Document, by the code flow with PKCE (RFC 7636). The code arrives at
 * loopback (RFC 8252 section 7.3), must be of this issuer (RFC 9207), and is bound to a key (RFC 9449 section 10). The
 * link is printed; no browser is opened. Throws `Failure`.
 */
export async function signInByCode(
  send: Send,
  { issuer, client_id, scope, resource, acr_values, max_age }: SignInRequest,
  shell: Shell,
): Promise<Login> {
  const { clock, random } = shell;
  const server = await findServer(send, issuer);
  const endpoint = server.endpoint('authorization_endpoint');
  demandPkce(server, issuer);
  noteUnlisted(server, scope, shell);
  const redirect = await describedRedirect(send, client_id);
  const prover = await createProver(clock, random);
  const { d: _, ...publicJwk } = prover.privateJwk;
  const state = randomId(random);
  const code_verifier = random(32).toString('base64url');
  await using listening = await listenForAnswer(redirect, state);
  const redirect_uri = listening.redirectUri;
  const link = new URL(endpoint);
  const asked = {
    response_type: 'code',
    client_id,
    redirect_uri,
    scope,
    resource,
    acr_values,
    max_age,
    state,
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
    dpop_jkt: await calculateJwkThumbprint(publicJwk),
  };
  for (const [name, value] of given(asked)) link.searchParams.set(name, value);
  shell.note(`Open   ${link.href}`);
  shell.note('The link opens on this machine only: the answer comes back to it.');
  shell.note('Waiting for approval, 10:00 at most');
  const code = codeIn(server, { client_id }, await answerOf(listening, shell), state);
  const form = { code, redirect_uri, code_verifier, resource };
  const grant = { type: 'authorization_code', client: client_id, form, prover };
  const answer = await requestGrant(send, server, grant);
  const wanted = { issuer, client_id, scope, resource };
  return newLogin(answer, { asked: wanted, privateJwk: prover.privateJwk, clock });
}

/**
 * Throws `Failure` if the server does not support PKCE: an attacker could then use the code (RFC 9700 section 2.1.1).
 */
function demandPkce({ metadata }: AuthorizationServer, issuer: string): void {
  if (metadata.code_challenge_methods_supported?.includes('S256')) return;
  throw new Failure(`${issuer} does not say that it takes PKCE with S256 (RFC 7636)`);
}

async function answerOf(listening: LoopbackAnswer, shell: Shell): Promise<URLSearchParams> {
  const end = shell.clock.now() + PATIENCE;
  for (;;) {
    const answer = listening.received();
    if (answer !== undefined) return answer;
    if (shell.clock.now() >= end) {
      throw new Failure('Nobody has decided within ten minutes: run the command again.');
    }
    await shell.wait(OFTEN);
  }
}

/** Returns the code in an answer of this server (RFC 9207 section 2.4). Throws `Failure`. */
function codeIn(
  { metadata }: AuthorizationServer,
  client: { readonly client_id: string },
  answer: URLSearchParams,
  state: string,
): string {
  try {
    const code = validateAuthResponse(metadata, client, answer, state).get('code');
    if (code !== null) return code;
  } catch (error) {
    if (error instanceof AuthorizationResponseError) {
      const { error: name, error_description: description } = error;
      throw new Failure(
        name === 'access_denied'
          ? 'The request was denied.'
          : `${metadata.issuer} refuses: ${[name, description].filter(Boolean).join(': ')}`,
      );
    }
    throw new Failure(
      `the answer is not one of ${metadata.issuer} (RFC 9207): ${(error as Error).message}`,
    );
  }
  throw new Failure(`the answer of ${metadata.issuer} has no code`);
}
