import type { Config } from '#shared/config/schema.ts';
import { CLI } from '#shared/base/invocation.ts';
import { type Command, Failure, type Input, type Shell, UsageError } from '../arguments/command.ts';
import { findClient } from '#shared/operations/clients/find-client.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { createProver } from '../oauth/dpop.ts';
import { sendConcealed } from '../oauth/send-concealed.ts';
import { sendUnhurried } from '../oauth/http.ts';
import { methodAndUrl } from '../oauth/method-and-url.ts';
import { loginPath, readLogin } from '../oauth/login-file.ts';
import { loginAccess } from '../oauth/login-access.ts';
import { type GetAccess, sendProtected } from '../oauth/protected-request.ts';
import { requestToken } from '../oauth/token-request.ts';
import { readData } from '../arguments/read-data.ts';
import { parseField } from '../arguments/request-field.ts';
import { type StepUp, stepUpCommand, stepUpOf, WHY_LEFT_OUT } from '../oauth/step-up.ts';
import { signedMessage } from '../signatures/signed-message.ts';
import { readSecret, SECRET_OPTIONS } from '../arguments/secret.ts';
import { withStores } from '../stores/with-stores.ts';

export const request: Command = {
  name: 'request',
  store: 'opens',
  summary: 'send an HTTP request; get the token that the resource asks for, or sign with a key',
  operands: ['METHOD', 'URL'],
  options: {
    client: {
      value: 'CLIENT',
      help: 'the client that gets the token; default: COUNTERSIGN_CLIENT_ID, or else the login',
    },
    ...SECRET_OPTIONS,
    concealed: {
      value: 'KEYFILE',
      help: 'sign with this private key in PEM (Concealed, RFC 9729) instead of a token',
    },
    sign: {
      value: 'JWKFILE',
      help: 'sign the message (RFC 9421) with this private JWK, which has kid and alg, instead of a token',
    },
    tag: { value: 'TAG', help: 'the tag of the signature of --sign; GNAP needs the tag gnap' },
    scope: {
      value: '"A B"',
      help: 'the scope of the token; default: the scope that the resource asks for',
    },
    data: { value: 'DATA', help: 'the body: text, @FILE, or - for standard input' },
    header: { value: '"NAME: VALUE"', multiple: true, help: 'one more header field' },
  },
  details: [
    'The command finds the resource by its metadata (RFC 9728). Without --client it sends the token of `countersign',
    'login`. With --client it gets a token for the client, bound to a key made for this request (DPoP). If the resource',
    "accepts only Bearer, the client's token is unbound, and the token of the login is not sent.",
    'The token goes only to its own audience, and never across a redirect to another origin.',
    'With --sign the signature covers the method, the URL, the digest of the body and each field of --header, which may',
    'then be Authorization.',
    'If the resource asks for a stronger or newer sign-in (RFC 9470), or for more scopes (RFC 6750), the command prints a',
    '`countersign login` that provides these.',
    'The body of the answer goes to standard output, its status to standard error.',
  ],
  run: async (input, shell) => {
    const { method, url } = methodAndUrl(input.operands);
    const signer = input.text('sign');
    const left = signer === undefined ? undefined : 'authorization';
    const fields = Object.fromEntries(input.texts('header').map((text) => parseField(text, left)));
    const data = await readData(input.text('data'), shell);
    const message = { method, url, fields, ...(data !== undefined && { body: data }) };

    const keyFile = input.text('concealed');
    const client = input.text('client') ?? shell.env['COUNTERSIGN_CLIENT_ID'];
    const withoutToken = keyFile ?? signer;
    if (withoutToken !== undefined && (input.flag('client') || (keyFile && signer))) {
      throw new UsageError('--concealed, --sign and --client go without one another');
    }
    if (input.flag('tag') && signer === undefined) throw new UsageError('--tag goes with --sign');
    const access = client ? clientAccess(client, input, shell) : personAccess(input, shell);
    async function exchange() {
      if (keyFile !== undefined) return sendConcealed(message, keyFile);
      if (signer === undefined) return sendProtected(sendUnhurried, message, access);
      return sendUnhurried(await signedMessage(message, signer, input.text('tag'), shell.clock));
    }
    const answer = await exchange();
    shell.note(`HTTP ${answer.status}`);
    const asked = withoutToken === undefined ? stepUpOf(answer) : undefined;
    if (asked) shell.note(client ? asked.ofClient : await howToLogIn(asked, shell));
    else if (answer.status === 401 && !client && withoutToken === undefined) {
      shell.note(`The token was refused: run ${CLI} login again.`);
    }
    return {
      json: { status: answer.status, fields: answer.fields, body: answer.body.toString() },
      lines: [],
      content: answer.body,
      failed: answer.status >= 400,
    };
  },
};

/** Tells the person who is logged in which login the resource asks for. */
async function howToLogIn({ params, ofPerson }: StepUp, shell: Shell): Promise<string> {
  const login = await readLogin(loginPath(shell.env) ?? '');
  const command = login && stepUpCommand(params, login);
  if (command === undefined)
    return `${ofPerson} Its words are not safe to copy: --json shows them.`;
  const again = [...parseScope(params['scope']).intersection(parseScope(login?.left_out))];
  if (again.length === 0) return `${ofPerson} Run: ${command}`;
  const asked = `This login has asked for ${again.join(' ')} already and did not get it.`;
  return `${ofPerson} ${asked} ${WHY_LEFT_OUT} To try again: ${command}`;
}

/**
 * Uses the login of a person, and refuses options that only clients use. The scopes are those that the person approved.
 */
function personAccess(input: Input, shell: Shell): GetAccess {
  const stray = ['scope', ...Object.keys(SECRET_OPTIONS)].find((option) => input.flag(option));
  if (stray !== undefined) throw new UsageError(`--${stray} goes with a --client`);
  return loginAccess(sendUnhurried, shell);
}

/**
 * Gets tokens as a client. It sends the client's secret only to our own authorization server, whichever server a
 * resource names.
 */
function clientAccess(id: string, input: Input, shell: Shell): GetAccess {
  return async ({ resource, authorizationServers, scope, tokenType }) => {
    const secret = await readSecret(input, shell);
    return withStores(shell, async ({ clients }, { issuer }: Config) => {
      if (!authorizationServers.includes(issuer)) {
        throw new Failure(`${resource} does not accept tokens of ${issuer}`);
      }
      const client = await findClient(clients, id);
      const prover =
        tokenType === 'dpop' ? await createProver(shell.clock, shell.random) : undefined;
      const asked = input.text('scope') ?? scope;
      const token = await requestToken(sendUnhurried, {
        issuer,
        client,
        secret,
        scope: asked,
        resource,
        prover,
      });
      return { accessToken: token.access_token, prover, resource };
    });
  };
}
