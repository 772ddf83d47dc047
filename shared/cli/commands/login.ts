import { loadConfig } from '#shared/config/load.ts';
import { CLI } from '#shared/base/invocation.ts';
import { type Command, Failure, type Input, type Shell, UsageError } from '../arguments/command.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { isDocumentUrl } from '#shared/client-documents/document-url.ts';
import { signInByCode } from '../oauth/code-login.ts';
import { parseSafeUrl, sendUnhurried } from '../oauth/http.ts';
import type { Login } from '../oauth/login.ts';
import { loginPath, readLogin, removeLogin, writeLogin } from '../oauth/login-file.ts';
import { type ResourceAt, resourceAt } from '../oauth/resource-at.ts';
import { revokeLogin } from '../oauth/revoke-login.ts';
import { wholeNumber } from '../arguments/whole-number.ts';
import { DEVICE_CLIENT, signIn } from '../oauth/sign-in.ts';
import { isPlainWord, WHY_LEFT_OUT } from '../oauth/step-up.ts';
import { lockPrivate } from '../files/private-file.ts';

export const login: Command = {
  name: 'login',
  summary: 'log in by approving a code in a browser, here or on another device',
  operands: ['[URL]'],
  options: {
    issuer: { value: 'URL', help: "the authorization server; default: the configuration's" },
    client: {
      value: 'CLIENT',
      help: `a public client of the device flow, or a document's https address; default: ${DEVICE_CLIENT}`,
    },
    scope: {
      value: '"A B"',
      help: "openid, profile and these; default: all the client's default scopes",
    },
    resource: {
      value: 'URL',
      help: 'the resource that the token is for; default: the server chooses',
    },
    'acr-values': {
      value: '"A B"',
      help: 'the ways to sign in that the resource accepts; you need one of them (RFC 9470)',
    },
    'max-age': {
      value: 'SECONDS',
      help: 'sign in again if the last sign-in is longer ago; 0: in any case',
    },
  },
  details: [
    'The command uses the device flow (RFC 8628) and binds the token to a new key (DPoP, RFC 9449).',
    'Tokens and key are kept in ~/.config/countersign/login.json, which only its owner can read. An earlier login',
    'ends. With URL instead of --issuer and --resource, the metadata of URL name both (RFC 9728). If --client is',
    'the https address of a Client ID Metadata Document, you log in as that client. You open a link on this machine, and',
    'the command gets an authorization code (RFC 8252). If a resource needs --acr-values or --max-age, `countersign',
    'request` prints these options. `countersign request` uses the login, `countersign logout` ends the login.',
  ],
  run: async (input, shell) => {
    const path = loginPath(shell.env);
    if (path === undefined) throw new Failure('there is no place for the login: set HOME');
    await readLogin(path);
    const granted = await approve(input, shell);
    const earlier = await lockPrivate(path, shell, async () => {
      const replaced = await readLogin(path);
      await writeLogin(path, granted, shell.random);
      return replaced;
    });
    if (earlier !== undefined) await endEarlier(earlier, shell);

    const { issuer, client_id, scope, left_out, resource, expires_at } = granted;
    return {
      json: { issuer, client_id, scope, left_out, resource, expires_at, file: path },
      lines: [
        `Logged in at ${issuer}. Kept in ${path}`,
        ...(left_out === undefined ? [] : [`The token lacks ${left_out}. ${WHY_LEFT_OUT}`]),
        `  ${CLI} whoami`,
        ...forUse(granted, input.operands.length > 0).map((use) => `  ${CLI} ${use}`),
      ],
    };
  },
};

/**
 * Returns the command that uses a login, if there is an obvious one. A push service has nothing for GET. Other URLs are
 * unclear: an MCP server, for example, answers GET with 400.
 */
function forUse({ scope, resource }: Login, byUrl: boolean): readonly string[] {
  if (resource === undefined || !isPlainWord(resource)) return [];
  if (parseScope(scope).has('push')) return [`push ${resource}`];
  return byUrl ? [] : [`request GET ${resource}`];
}

const MOST_SECONDS = 999_999_999;

/** Shows the code or the link, and waits for the person's decision. */
async function approve(input: Input, shell: Shell): Promise<Login> {
  const found = await ofUrl(input);
  const issuer = found?.issuer ?? input.text('issuer') ?? (await loadConfig(shell.env)).issuer;
  const resource = found?.resource ?? input.text('resource');
  for (const url of [issuer, resource ?? issuer]) {
    if (parseSafeUrl(url) === undefined) {
      throw new UsageError(
        `${url} must be https, or http on this machine, without user and fragment`,
      );
    }
  }
  const client_id = input.text('client') ?? DEVICE_CLIENT;
  const asked = input.text('scope');
  const scope = asked && [...new Set(`openid profile ${asked}`.match(/[^ ]+/g))].join(' ');
  const onTerminal = shell.terminal && !input.flag('json');
  const acr_values = input.text('acr-values');
  const max_age = wholeNumber(input, 'max-age', 0, MOST_SECONDS)?.toString();
  const request = { issuer, client_id, scope, resource, acr_values, max_age };
  if (isDocumentUrl(client_id)) {
    // Other authorization servers may not support the scope `openid`.
    return signInByCode(sendUnhurried, { ...request, scope: asked ?? found?.scope }, shell);
  }
  if (/^https?:/.test(client_id)) throw new UsageError(`--client ${client_id} is no document`);
  return signIn(sendUnhurried, request, shell, onTerminal);
}

/** Resolves to the issuer and the resource of a bare URL. */
async function ofUrl(input: Input): Promise<ResourceAt | undefined> {
  const [url] = input.operands;
  if (url === undefined) return undefined;
  for (const option of ['issuer', 'resource']) {
    if (input.flag(option)) throw new UsageError(`URL says what --${option} is: leave one out`);
  }
  if (parseSafeUrl(url) === undefined) {
    throw new UsageError(
      `${url} must be https, or http on this machine, without user and fragment`,
    );
  }
  return resourceAt(sendUnhurried, url);
}

async function endEarlier(earlier: Login, shell: Shell): Promise<void> {
  await revokeLogin(sendUnhurried, earlier).catch((error: Error) =>
    shell.note(`The earlier login at ${earlier.issuer} is not ended: ${error.message}`),
  );
}

const NOBODY = { json: null, lines: ['Nobody is logged in.'] };

export const logout: Command = {
  name: 'logout',
  summary: 'end the login: revoke its tokens and delete its file',
  details: [
    'If the authorization server does not answer, the file is deleted all the same, and the exit code is 1.',
  ],
  run: async (_, shell) => {
    const path = loginPath(shell.env);
    if (path === undefined || (await readLogin(path)) === undefined) return NOBODY;
    return lockPrivate(path, shell, async () => {
      const ended = await readLogin(path);
      if (ended === undefined) return NOBODY;
      const { issuer } = ended;
      const error = await revokeLogin(sendUnhurried, ended).then(
        () => undefined,
        ({ message }: Error) => message,
      );
      await removeLogin(path);
      return {
        json: { issuer, revoked: error === undefined, ...(error !== undefined && { error }) },
        lines:
          error === undefined
            ? [`Logged out of ${issuer}.`]
            : [
                `The login is deleted here, but not ended at ${issuer}: ${error}.`,
                'End it on your account page there.',
              ],
        failed: error !== undefined,
      };
    });
  },
};
